import { z } from 'zod'
import { type Json, jsonSha256 } from '../canonical-json.ts'
import { proofEvents } from '../claim-event.ts'

export const proofSchema = 'claim-proof/1'

/** Values of a proof that its checks and the API's documentation describe each in their own way. */
interface ProofValues {
  readonly schema: z.ZodType<string>
  readonly method: z.ZodType<string>
  readonly source: z.ZodType<string>
  readonly fid: z.ZodType<number>
  readonly address: z.ZodType<string>
  readonly hash: z.ZodType<string>
  readonly time: z.ZodType<string>
}

const word = z.string()
const count = z.int().nonnegative()
const sha256 = word.regex(/^[0-9a-f]{64}$/)
const bytes = word.regex(/^0x([0-9a-f]{2})*$/).describe('0x hex.')
const key = word.regex(/^0x[0-9a-f]{64}$/)
/** JSON that is looked at nowhere here: it may be nested without an end. */
const evidence = z.unknown().refine((value) => value !== undefined) as z.ZodType<Json>

/**
 * Form of everything a stranger needs to check a claim without asking us: what was signed, by whom, and the evidence for
 * each signer.
 */
export function proofOf(values: ProofValues) {
  const { address, hash, method, schema, fid, time } = values
  const statement = statementOf(values)
  const change = z.strictObject({ block_number: count, tx_hash: hash, log_index: count, kind: word })
  return z.strictObject({
    schema,
    service: word,
    base_url: z.url(),
    site_url: z.url(),
    fid,
    method,
    nonce: word.describe('Of the claim, which FID, method and nonce identify.'),
    state: z.enum(['live', 'suspended', 'ended']),
    claimed_at: time,
    checked_at: time,
    ended: z
      .strictObject({
        at: time,
        reason: word,
        evidence: evidence.describe('As in the event of the end.'),
        statement: statement
          .nullable()
          .describe(
            'What was signed or published to withdraw the claim. null: it ended otherwise, or is not public yet.',
          ),
      })
      .nullable(),
    statement,
    address_proofs: z.array(addressProofOf(values)),
    keys: z.array(keyOf(values)),
    custody: z
      .strictObject({
        address,
        chain_id: count,
        contract: address,
        since: change.nullable().describe('Last change of custody. null: none since the FID was registered.'),
        read_at: z
          .strictObject({ block_number: count, block_hash: hash })
          .nullable()
          .describe('Block at which the registry confirmed the address. null: not asked since the last change.'),
      })
      .nullable(),
    sources: z.array(hubOf(values)).describe('Hubs that were asked: the one the directory follows, and witnesses.'),
    history: z
      .array(claimEventOf(values))
      .describe(
        `What became of the FID’s claims, each event with the hash of the one before: the newest ${proofEvents}, and ` +
          'before them the first and the last of this claim if they are older. All: /api/agent/{fid}/proof/history.',
      ),
    log: log
      .nullable()
      .describe('The claim in the transparency log (docs/log.md). null: the service has signed no log.'),
    sha256: sha256.describe('Of all the other fields, as canonical JSON (RFC 8785).'),
  })
}

/** What the claimant signed or published. */
function statementOf({ address, time }: ProofValues) {
  const link = z.strictObject({ kind: word, evidence })
  return z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('eip191'),
      text: word,
      address,
      chain_id: count,
      nonce: word,
      timestamp: word,
      signature: word.regex(/^0x([0-9a-fA-F]{2})+$/),
    }),
    z.strictObject({ kind: z.literal('jfs'), header: word, payload: word, signature: word }),
    z.strictObject({
      kind: z.literal('well-known'),
      url: z.url(),
      body: word,
      sha256,
      fetched_at: time,
      host_link: link.nullable().describe('What linked the host to the FID. null: nothing had to.'),
    }),
  ])
}

const message = z.strictObject({ data_bytes: bytes, hash: bytes, signature: bytes, signer: bytes })

function addressProofOf({ address, hash, time }: ProofValues) {
  const wallet = z.strictObject({
    chain_id: count,
    block_number: count,
    block_hash: hash,
    code_sha256: hash.nullable().describe('Of the wallet’s code at that block. null: it was not deployed yet.'),
    standard: z.enum(['1271', '6492']).describe('ERC-1271, or ERC-6492 for a wallet that was not deployed yet.'),
    answer: word,
  })
  return z.strictObject({
    address,
    verdict: z.enum(['proven', 'signed', 'stated']),
    message: message.nullable().describe('null: the hub’s message could not be read as one that can be checked.'),
    verification: z
      .strictObject({ type: count, chain_id: count, block_hash: hash, claim_signature: bytes, digest: hash })
      .nullable(),
    first_seen_at: time,
    before_custody: z.boolean().describe('Signed before the FID’s last transfer, so not by its owner of today.'),
    wallet: wallet
      .nullable()
      .describe('Answer of a contract wallet, at which block of its chain. null: a key signed, or it was not asked.'),
  })
}

/** What makes a key the FID’s, and what ended that. */
function keyOf({ address, hash, source }: ProofValues) {
  const chainLog = z.strictObject({
    chain_id: count,
    contract: address,
    block_number: count,
    block_hash: hash,
    tx_hash: hash,
    log_index: count,
  })
  const added = z.strictObject({
    message,
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
  const removed = z.strictObject({
    message,
    timestamp: count,
    signature: bytes,
    signature_type: count.describe('Who signed the removal. 1: the custody address; 2: the key itself.'),
    nonce: count,
    deadline: count,
    signed_by: address.nullable().describe('null: the key itself did.'),
  })
  return z.strictObject({
    key,
    source: source.describe('chain: the KeyRegistry; offchain: a message that the custody address signed.'),
    state: count.nullable().describe('In the KeyRegistry, 1 added or 2 removed. null: an off-chain key.'),
    add: chainLog.nullable().describe('Log that added the key. null: none, or not found.'),
    remove: chainLog.nullable().describe('Log that removed the key. null: none, or not found.'),
    request_fid: count.nullable().describe('FID of the app that requested the key. null: not known.'),
    key_add: added
      .nullable()
      .describe('Message that added the key off the chain, its fields, and the address that signed for it.'),
    key_remove: removed
      .nullable()
      .describe('Message that removed the key; what it signed before still counts. null: none did.'),
  })
}

function hubOf({ time }: ProofValues) {
  const messages = z.array(bytes)
  return z.strictObject({
    operator: word,
    witness: z.boolean(),
    asked_at: time,
    standing: word.describe('`believed`, or why the hub’s answers did not count at that time.'),
    has: messages.describe('Hashes of the addresses’ messages that the hub has.'),
    lacks: messages.describe('Hashes of those that it lacks; in neither list: it was not asked about it.'),
  })
}

/** One thing that happened to a claim. */
export function claimEventOf({ fid, method, time }: Pick<ProofValues, 'fid' | 'method' | 'time'>) {
  return z.strictObject({
    seq: count,
    fid,
    method,
    nonce: word,
    kind: z.enum(['claimed', 'suspended', 'resumed', 'ended']),
    at: time,
    evidence,
    previous: sha256.nullable(),
    sha256,
  })
}

/** Entries of a transparency log, as far as they are in the tree of a checkpoint: docs/log.md. */
const log = z.strictObject({
  key: word.describe('Whose signature it is: name, id and public key, as C2SP signed-note writes them.'),
  checkpoint: word.describe('Number of entries and root of the tree, signed: C2SP tlog-checkpoint.'),
  entries: z
    .array(
      z.strictObject({
        seq: count.describe('Of the event that the entry is of.'),
        index: count.describe('Number of the entry in the log, from 0.'),
        hashes: z.array(sha256).describe('Inclusion proof by RFC 9162, section 2.1.3.'),
      }),
    )
    .describe('Of the claim’s first and last event, as far as the signed tree has them.'),
})

/** What a file must be for its checks: which schema, method and source it names is a check of its own. */
const proof = proofOf({
  schema: word,
  method: word,
  source: word,
  fid: z.int().positive(),
  address: word.regex(/^0x[0-9a-f]{40}$/),
  hash: key,
  time: z.iso.datetime({ precision: 3 }),
})

/** As it is read: nothing changes a proof. */
type Fixed<T> = [Json] extends [T] ? T : T extends object ? { readonly [Name in keyof T]: Fixed<T[Name]> } : T

export type ClaimProof = Fixed<z.output<typeof proof>>
export type ClaimLog = NonNullable<ClaimProof['log']>
export type Statement = ClaimProof['statement']
export type AddressProof = ClaimProof['address_proofs'][number]
export type KeyPlace = ClaimProof['keys'][number]

export function sealProof(given: Omit<ClaimProof, 'sha256'>): ClaimProof {
  return { ...given, sha256: jsonSha256(given as unknown as Json) }
}

/** Path of the first part of a file that a proof has otherwise, or not at all; undefined: it has the form of a proof. */
export function misshapen(value: unknown): string | undefined {
  const issue = proof.safeParse(value).error?.issues[0]
  if (!issue) return undefined
  const strange = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const parts = [...issue.path, ...strange].map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
  return parts.join('').replace(/^\./, '') || 'it is no object'
}
