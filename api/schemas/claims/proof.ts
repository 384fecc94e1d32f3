import { z } from 'zod'
import { rowLimits } from '../../../config/limits.ts'
import { proofEvents } from '../../../trust/claim-event.ts'
import { address, claimMethod, count, fid, hash, nextCursor, time } from '../scalars.ts'

const bytes = z
  .string()
  .regex(/^0x([0-9a-f]{2})*$/)
  .meta({ description: '0x hex.' })
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const word = z.string()
const anything = z.unknown()

const statement = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('eip191'),
    text: word,
    address,
    chain_id: count,
    nonce: word,
    timestamp: word,
    signature: word,
  }),
  z.strictObject({ kind: z.literal('jfs'), header: word, payload: word, signature: word }),
  z.strictObject({
    kind: z.literal('well-known'),
    url: z.url(),
    body: word,
    sha256,
    fetched_at: time,
    host_link: z.strictObject({ kind: word, evidence: anything }).nullable(),
  }),
])

const envelope = z.strictObject({ data_bytes: bytes, hash: bytes, signature: bytes, signer: bytes })

const addressProof = z.strictObject({
  address,
  verdict: z.enum(['proven', 'signed', 'stated']),
  message: envelope.nullable(),
  verification: z
    .strictObject({ type: count, chain_id: count, block_hash: hash, claim_signature: bytes, digest: hash })
    .nullable(),
  first_seen_at: time,
  before_custody: z.boolean(),
  wallet: z
    .strictObject({
      chain_id: count,
      block_number: count,
      block_hash: hash,
      code_sha256: hash.nullable(),
      standard: z.enum(['1271', '6492']),
      answer: word,
    })
    .nullable(),
})

const chainLog = z.strictObject({
  chain_id: count,
  contract: address,
  block_number: count,
  block_hash: hash,
  tx_hash: hash,
  log_index: count,
})

const keyPlace = z.strictObject({
  key: bytes,
  source: z.enum(['chain', 'offchain']),
  state: count.nullable(),
  add: chainLog.nullable(),
  remove: chainLog.nullable(),
  request_fid: count.nullable(),
  key_add: z
    .strictObject({
      message: envelope,
      timestamp: count,
      key_type: count,
      scopes: z.array(count),
      ttl: count,
      nonce: count,
      deadline: count,
      metadata: bytes,
      metadata_type: count,
      custody_signature: bytes,
      signed_by: address,
    })
    .nullable(),
  key_remove: z
    .strictObject({
      message: envelope,
      timestamp: count,
      signature: bytes,
      signature_type: count,
      nonce: count,
      deadline: count,
      signed_by: address.nullable(),
    })
    .nullable(),
})

const claimEvent = z.strictObject({
  seq: count,
  fid,
  method: claimMethod,
  nonce: word,
  kind: z.enum(['claimed', 'suspended', 'resumed', 'ended']),
  at: time,
  evidence: anything,
  previous: sha256.nullable(),
  sha256,
})

export const claimProof = z
  .strictObject({
    schema: z.literal('claim-proof/1'),
    service: word,
    base_url: z.url(),
    site_url: z.url(),
    fid,
    method: claimMethod,
    nonce: word,
    state: z.enum(['live', 'suspended', 'ended']),
    claimed_at: time,
    checked_at: time,
    ended: z.strictObject({ at: time, reason: word, evidence: anything, statement: statement.nullable() }).nullable(),
    statement,
    address_proofs: z.array(addressProof),
    keys: z.array(keyPlace),
    custody: z
      .strictObject({
        address,
        chain_id: count,
        contract: address,
        since: z.strictObject({ block_number: count, tx_hash: hash, log_index: count, kind: word }).nullable(),
        read_at: z.strictObject({ block_number: count, block_hash: hash }).nullable(),
      })
      .nullable(),
    sources: z.array(
      z.strictObject({
        operator: word,
        witness: z.boolean(),
        asked_at: time,
        standing: word,
        has: z.array(bytes),
        lacks: z.array(bytes),
      }),
    ),
    history: z.array(claimEvent).meta({
      description:
        `What became of the FID’s claims, each event with the hash of the one before: the newest ${proofEvents}, and ` +
        'before them the first and the last of this claim if they are older. All: /api/agent/{fid}/proof/history.',
    }),
    log: z
      .strictObject({
        key: word.meta({
          description: 'Whose signature it is: name, id and public key, as C2SP signed-note writes them.',
        }),
        checkpoint: word.meta({ description: 'Number of entries and root of the tree, signed: C2SP tlog-checkpoint.' }),
        entries: z
          .array(
            z.strictObject({
              seq: count.meta({ description: 'Of the event that the entry is of.' }),
              index: count.meta({ description: 'Number of the entry in the log, from 0.' }),
              hashes: z.array(sha256).meta({ description: 'Inclusion proof by RFC 9162, section 2.1.3.' }),
            }),
          )
          .meta({ description: 'Of the claim’s first and last event, as far as the signed tree has them.' }),
      })
      .nullable()
      .meta({ description: 'The claim in the transparency log (docs/log.md). null: the service has signed no log.' }),
    sha256: sha256.meta({ description: 'Of all the other fields, as canonical JSON (RFC 8785).' }),
  })
  .meta({ id: 'ClaimProof' })

export const claimHistoryList = z
  .strictObject({
    fid,
    count,
    history: z.array(claimEvent).max(rowLimits.events.maximum),
    next_cursor: nextCursor,
  })
  .meta({ id: 'ClaimHistory' })
