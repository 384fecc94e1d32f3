/** Finds what is wrong with a value: the path of the first part that is not as it should be; undefined: nothing. */
type Shape = (value: unknown, path: string) => string | undefined

const where =
  (holds: (value: unknown) => boolean): Shape =>
  (value, path) =>
    holds(value) ? undefined : path

const matching = (form: RegExp) => where((value) => typeof value === 'string' && form.test(value))
const word = where((value) => typeof value === 'string')
const flag = where((value) => typeof value === 'boolean')
const count = where((value) => Number.isSafeInteger(value) && (value as number) >= 0)
const bytes = matching(/^0x([0-9a-f]{2})*$/)
const address = matching(/^0x[0-9a-f]{40}$/)
const hash = matching(/^0x[0-9a-f]{64}$/)
const digest = matching(/^[0-9a-f]{64}$/)
const time = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const url = where((value) => typeof value === 'string' && URL.canParse(value))
const given = where((value) => value !== undefined)

const oneOf = (...values: readonly unknown[]) => where((value) => values.includes(value))

const orNull =
  (shape: Shape): Shape =>
  (value, path) =>
    value === null ? undefined : shape(value, path)

const listOf =
  (shape: Shape): Shape =>
  (value, path) => {
    if (!Array.isArray(value)) return path
    for (const [index, part] of value.entries()) {
      const problem = shape(part, `${path}[${index}]`)
      if (problem !== undefined) return problem
    }
    return undefined
  }

/** An object with these fields, all of them and no others. */
function object(fields: Readonly<Record<string, Shape>>): Shape {
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return path
    const under = (name: string) => (path === '' ? name : `${path}.${name}`)
    const strange = Object.keys(value).find((name) => !Object.hasOwn(fields, name))
    if (strange !== undefined) return under(strange)
    for (const [name, shape] of Object.entries(fields)) {
      const problem = shape((value as Record<string, unknown>)[name], under(name))
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

const statements: Readonly<Record<string, Shape>> = {
  eip191: object({
    kind: word,
    text: word,
    address,
    chain_id: count,
    nonce: word,
    timestamp: word,
    signature: matching(/^0x([0-9a-fA-F]{2})+$/),
  }),
  jfs: object({ kind: word, header: word, payload: word, signature: word }),
  'well-known': object({
    kind: word,
    url,
    body: word,
    sha256: digest,
    fetched_at: time,
    host_link: orNull(object({ kind: word, evidence: given })),
  }),
}

const statement: Shape = (value, path) => {
  const kind = (value as { kind?: unknown } | null)?.kind
  const shape = typeof kind === 'string' && Object.hasOwn(statements, kind) ? statements[kind] : undefined
  return shape ? shape(value, path) : `${path}.kind`
}

const message = object({ data_bytes: bytes, hash: bytes, signature: bytes, signer: bytes })

const chainLog = object({
  chain_id: count,
  contract: address,
  block_number: count,
  block_hash: hash,
  tx_hash: hash,
  log_index: count,
})

const keyAdd = object({
  message,
  timestamp: count,
  key_type: count,
  scopes: listOf(count),
  ttl: count,
  nonce: count,
  deadline: count,
  metadata: bytes,
  metadata_type: count,
  custody_signature: bytes,
  signed_by: address,
})

const keyRemove = object({
  message,
  timestamp: count,
  signature: bytes,
  signature_type: count,
  nonce: count,
  deadline: count,
  signed_by: orNull(address),
})

const addressProof = object({
  address,
  verdict: oneOf('proven', 'signed', 'stated'),
  message: orNull(message),
  verification: orNull(
    object({ type: count, chain_id: count, block_hash: hash, claim_signature: bytes, digest: hash }),
  ),
  first_seen_at: time,
  before_custody: flag,
  wallet: orNull(
    object({
      chain_id: count,
      block_number: count,
      block_hash: hash,
      code_sha256: orNull(hash),
      standard: oneOf('1271', '6492'),
      answer: word,
    }),
  ),
})

const proof = object({
  schema: word,
  service: word,
  base_url: url,
  site_url: url,
  fid: count,
  method: word,
  nonce: word,
  state: oneOf('live', 'suspended', 'ended'),
  claimed_at: time,
  checked_at: time,
  ended: orNull(object({ at: time, reason: word, evidence: given, statement: orNull(statement) })),
  statement,
  address_proofs: listOf(addressProof),
  keys: listOf(
    object({
      key: matching(/^0x[0-9a-f]{64}$/),
      source: word,
      state: orNull(count),
      add: orNull(chainLog),
      remove: orNull(chainLog),
      request_fid: orNull(count),
      key_add: orNull(keyAdd),
      key_remove: orNull(keyRemove),
    }),
  ),
  custody: orNull(
    object({
      address,
      chain_id: count,
      contract: address,
      since: orNull(object({ block_number: count, tx_hash: hash, log_index: count, kind: word })),
      read_at: orNull(object({ block_number: count, block_hash: hash })),
    }),
  ),
  sources: listOf(
    object({
      operator: word,
      witness: flag,
      asked_at: time,
      standing: word,
      has: listOf(bytes),
      lacks: listOf(bytes),
    }),
  ),
  history: listOf(
    object({
      seq: count,
      fid: count,
      method: word,
      nonce: word,
      kind: oneOf('claimed', 'suspended', 'resumed', 'ended'),
      at: time,
      evidence: given,
      previous: orNull(digest),
      sha256: digest,
    }),
  ),
  log: orNull(
    object({
      key: word,
      checkpoint: word,
      entries: listOf(object({ seq: count, index: count, hashes: listOf(digest) })),
    }),
  ),
  sha256: digest,
})

/** Path of the first part of a file that a proof has otherwise, or not at all; undefined: it has the shape of a proof. */
export function misshapen(value: unknown): string | undefined {
  const problem = proof(value, '')
  return problem === '' ? 'it is no object' : problem
}
