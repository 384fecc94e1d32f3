import { z } from 'zod'
import { grouped, readingLimits } from '../../../config/limits.ts'
import { address, chainName, count, dollars, fid, handleAssurance, nextCursor, time, tokenId } from '../scalars.ts'

const span = {
  from: time.nullable().meta({ description: 'When it began; null: not known.' }),
  to: time.nullable().meta({ description: 'When it ended; null: it holds.' }),
}

export const moment = {
  as_of: time.nullable().meta({ description: 'Null: none was asked for, or one that could not be read.' }),
  known_through: z
    .array(z.strictObject({ chain: chainName, block_timestamp: time }))
    .meta({ description: 'Time of the newest block of each chain that is indexed.' }),
}

const chains = z
  .array(
    z.strictObject({
      chain: chainName,
      registrations: z
        .array(z.strictObject({ erc8004_id: tokenId, held_by: address, ...span }))
        .nullable()
        .meta({ description: 'Null: nothing is known of the chain at that time, which is not the same as nobody.' }),
    }),
  )
  .meta({ description: 'Every chain.' })

const truncated = z.boolean().meta({
  description: `An address received more than ${grouped(readingLimits.receivedRegistrations)} registrations; the first are looked at.`,
})

export const agentStateAnswer = z
  .strictObject({ fid, ...moment, addresses: z.array(z.strictObject({ address, ...span })), chains, truncated })
  .meta({ id: 'AgentState' })

export const addressOwnersAnswer = z
  .strictObject({
    address,
    ...moment,
    owners: z
      .array(z.strictObject({ fid, handle: z.string().nullable(), handle_assurance: handleAssurance, ...span }))
      .meta({ description: 'Accounts that verified the address, agents or not.' }),
    chains,
    truncated,
  })
  .meta({ id: 'AddressOwners' })

const briefAgent = z
  .strictObject({
    fid,
    handle: z.string().nullable(),
    display_name: z.string().nullable(),
    claimed: z.boolean(),
    handle_assurance: handleAssurance,
  })
  .meta({ id: 'BriefAgent' })
const paid = z.strictObject({ count, amount_usdc: dollars })

export const portfolioAnswer = z
  .strictObject({
    address,
    registrations_total: count.meta({ description: 'How many it holds now; `cursor` leads to all of them.' }),
    registrations: z
      .array(z.strictObject({ chain: chainName, erc8004_id: tokenId, acquired_at: time }))
      .max(readingLimits.portfolioRegistrations)
      .meta({ description: 'Registrations that the address holds now.' }),
    agents: z
      .array(briefAgent)
      .max(readingLimits.portfolioAgents)
      .meta({ description: 'Agents that verify the address.' }),
    other_agents: z
      .array(briefAgent)
      .max(readingLimits.portfolioAgents)
      .meta({ description: 'Agents that share with one of `agents` an address that holds a registration.' }),
    settlements_in: paid.meta({ description: 'Received by the address.' }),
    settlements_out: paid.meta({ description: 'Signed by the address.' }),
    next_cursor: nextCursor,
  })
  .meta({ id: 'Portfolio' })
