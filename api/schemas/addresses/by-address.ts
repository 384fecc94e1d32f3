import { z } from 'zod'
import { profileLimits } from '../../../config/limits.ts'
import { address, chainName, count, fid, nextCursor, time, tokenId } from '../scalars.ts'

const agentOfAddress = z
  .strictObject({
    kind: z.literal('agent'),
    fid,
    handle: z.string().nullable(),
    display_name: z.string().nullable(),
    claimed: z.boolean(),
  })
  .meta({ id: 'AgentOfAddress' })

const addressOnly = z
  .strictObject({
    kind: z.literal('address-only'),
    address,
    registrations: z
      .array(z.strictObject({ chain: chainName, erc8004_id: tokenId, block_number: count, deployed_at: time }))
      .max(profileLimits.registrationsOfAddress),
    registrations_total: count.meta({ description: 'How many the address holds now; `cursor` leads to all of them.' }),
    next_cursor: nextCursor,
  })
  .meta({ id: 'AddressOnly', description: 'An address that no account verifies, and the registrations it holds.' })

export const addressSubjectAnswer = z
  .discriminatedUnion('kind', [agentOfAddress, addressOnly])
  .meta({ id: 'AddressSubject' })
