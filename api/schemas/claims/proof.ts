import { z } from 'zod'
import { rowLimits } from '../../../config/limits.ts'
import { claimEventOf, proofOf, proofSchema } from '../../../trust/proof/proof.ts'
import { address, claimMethod, count, fid, hash, nextCursor, time } from '../scalars.ts'

const schema = z.literal(proofSchema)
const source = z.enum(['chain', 'offchain'])

export const claimProof = proofOf({ schema, method: claimMethod, source, fid, address, hash, time }).meta({
  id: 'ClaimProof',
})

export const claimHistoryList = z
  .strictObject({
    fid,
    count,
    history: z.array(claimEventOf({ fid, method: claimMethod, time })).max(rowLimits.events.maximum),
    next_cursor: nextCursor,
  })
  .meta({ id: 'ClaimHistory' })
