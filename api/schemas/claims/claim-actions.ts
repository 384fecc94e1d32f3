import { z } from 'zod'
import { claimMethod, fid } from '../scalars.ts'
import { claimRequest } from './claim.ts'

/** Body of POST /api/claim/withdraw. */
export const withdrawalRequest = claimRequest.meta({
  id: 'WithdrawalRequest',
  description:
    'As a claim, with the words of a withdrawal: the text of its challenge; payload {…, action: "withdraw"}, also as a ' +
    'JSON Farcaster Signature of type custody or auth; a manifest with withdrawn: true.',
})

/** Body of POST /api/claim/unlist and /api/claim/relist. */
export const ownerRequest = z.union([claimRequest.options[0], claimRequest.options[1]]).meta({
  id: 'OwnerRequest',
  description:
    'As a claim, by the custody address: the text of the challenge, or a JSON Farcaster Signature of type custody.',
})

export const withdrawalAnswer = z
  .strictObject({
    ok: z.literal(true),
    fid,
    withdrawn: z.array(z.strictObject({ method: claimMethod, nonce: z.string() })),
    claimed: z.boolean().meta({ description: 'Whether a claim of the FID stands now.' }),
  })
  .meta({ id: 'WithdrawalAnswer' })

export const listingAnswer = z
  .strictObject({ ok: z.literal(true), fid, unlisted: z.boolean() })
  .meta({ id: 'ListingAnswer' })
