import { z } from 'zod'
import { claimActions } from '../../../trust/claim-text.ts'
import { nonceForm } from '../../claim/proof-method.ts'
import { address, agentStatus, chainId, claimMethod, fid, time } from '../scalars.ts'

const nonce = z.string().regex(nonceForm).meta({ description: 'Chosen by the claimant; good for one accepted claim.' })
const timestamp = z.string().meta({ description: 'ISO 8601 with a zone; signed exactly as it stands here.' })
const claimedFid = fid.optional().meta({ description: 'May stand in the header X-FID instead.' })

/** Body of POST /api/claim for openapi.json alone; api/claim/ parses what is really sent. */
export const claimRequest = z
  .union([
    z.object({
      method: z.literal('eip191'),
      fid: claimedFid,
      address: z.string(),
      nonce,
      timestamp,
      chain_id: chainId.optional(),
      signature: z.string().meta({ description: '0x hex, over the text of the challenge.' }),
    }),
    z.object({
      method: z.literal('jfs'),
      fid: claimedFid,
      jfs: z.union([z.string(), z.object({ header: z.string(), payload: z.string(), signature: z.string() })]).meta({
        description:
          'JSON Farcaster Signature of an app key; payload {aud: address of this service, action: "claim", fid, nonce, timestamp}.',
      }),
    }),
    z.object({ method: z.literal('well-known'), fid: claimedFid, host: z.string(), nonce }),
  ])
  .meta({ id: 'ClaimRequest' })

export const claimAnswer = z
  .strictObject({
    ok: z.literal(true),
    fid,
    method: claimMethod,
    claimed: z.boolean(),
    claimed_at: time.nullable().meta({ description: 'Of the first accepted claim.' }),
    nonce,
    verified_addresses: z.array(address).meta({ description: 'The verified set when the claim was judged.' }),
    agent_status: agentStatus,
    profile_url: z.url(),
    dry_run: z.literal(true).optional().meta({ description: 'Every check passed and nothing was stored.' }),
  })
  .meta({ id: 'ClaimAnswer' })

const eip191Challenge = {
  fid,
  address,
  chain_id: chainId,
  nonce,
  timestamp: time,
  text: z.string().meta({ description: 'To be signed with the address (EIP-191).' }),
}
const wanted = {
  fid,
  action: z.enum(claimActions),
  nonce,
  timestamp: time,
  expires_at: time.meta({ description: 'Until when the timestamp is taken.' }),
}
const open = z.record(z.string(), z.unknown())

/** The challenge of a request that names neither method nor action: a text to sign (EIP-191). */
export const textChallenge = z.strictObject(eip191Challenge)

export const challengeAnswer = z
  .union([
    textChallenge,
    z.strictObject({ ...eip191Challenge, ...wanted, method: z.literal('eip191') }),
    z.strictObject({
      ...wanted,
      method: z.literal('jfs'),
      payload: open.meta({ description: 'Payload of the JSON Farcaster Signature to make.' }),
    }),
    z.strictObject({
      ...wanted,
      method: z.literal('well-known'),
      host: z.string(),
      url: z.url(),
      manifest: open.meta({ description: 'To be published at `url`.' }),
    }),
  ])
  .meta({ id: 'ClaimChallenge' })
