import { createHash } from 'node:crypto'
import { bytesToHex, type Hex } from 'viem'
import type { SealedClaimEvent } from '../claim-event.ts'
import { type ClaimAction, claimMessage, type Terms } from '../claim-text.ts'
import { readHubMessage, type SignedMessage } from '../hub-message.ts'
import { claimDigest, walletStandardOf } from '../verification-claim.ts'
import { type AddressProof, type ClaimProof, type KeyPlace, type Statement, sealProof } from './proof.ts'
import type { ProvableClaim } from './provable.ts'

/** Names and addresses of the service that publishes a proof, and the registries that it asks. */
export interface ProofTerms extends Terms {
  readonly registries: RegistryPlaces
}

/** Chain and addresses of the network's registries. */
interface RegistryPlaces {
  readonly chainId: number
  readonly keyRegistry: string
  readonly idRegistry: string
}

/** The public proof of a claim: what was signed, the evidence for it, and the claim's later events. */
export function publishedProof(
  claim: ProvableClaim,
  { events, log }: { readonly events: readonly SealedClaimEvent[]; readonly log: ClaimProof['log'] },
  { registries: places, ...terms }: ProofTerms,
): ClaimProof {
  const { fid } = claim
  const custody = custodyOf(claim, places)
  const address_proofs = claim.addresses.map((one) => addressProof(fid, one))
  const messages = address_proofs.flatMap(({ message }) => message?.hash ?? [])
  const end = events.findLast(({ kind, method, nonce }) => {
    return kind === 'ended' && method === claim.method && nonce === claim.nonce
  })
  return sealProof({
    schema: 'claim-proof/1',
    service: terms.serviceName,
    base_url: terms.baseUrl,
    site_url: terms.siteUrl,
    fid,
    method: claim.method,
    nonce: claim.nonce,
    state: claim.state,
    claimed_at: claim.claimed_at,
    checked_at: claim.checked_at,
    ended: end
      ? { at: end.at, reason: String(claim.end_reason), evidence: end.evidence, statement: withdrawalOf(claim, terms) }
      : null,
    statement: statementOf(claim, terms),
    address_proofs,
    keys: keysOf(claim, places, { end, custody }),
    custody,
    sources: claim.hubs.map((hub) => hubWord(hub, messages)),
    history: events,
    log,
  })
}

function withdrawalOf({ fid, withdrawal }: ProvableClaim, terms: Terms): Statement | null {
  if (!withdrawal) return null
  const { accepted_at, ...said } = withdrawal
  const none = { host_link: null, host_link_evidence: null }
  return statementOf({ fid, ...said, ...none, claimed_at: accepted_at }, terms, 'withdraw')
}

type Said = Pick<
  ProvableClaim,
  'fid' | 'method' | 'signer' | 'proof' | 'host_link' | 'host_link_evidence' | 'claimed_at'
>

function statementOf(said: Said, terms: Terms, action: ClaimAction = 'claim'): Statement {
  const { fid, method, signer, proof, host_link, host_link_evidence, claimed_at } = said
  if (method === 'eip191') {
    const { nonce, timestamp, chain_id, signature } = proof as Record<'nonce' | 'timestamp' | 'signature', string> & {
      chain_id: number
    }
    const address = signer as Hex
    const text = claimMessage(terms, { fid, address, chainId: chain_id, nonce, timestamp }, action)
    return { kind: 'eip191', text, address, chain_id, nonce, timestamp, signature }
  }
  if (method === 'jfs') {
    const { jfs } = proof as { jfs: string | { header: string; payload: string; signature: string } }
    const [header = '', payload = '', signature = ''] =
      typeof jfs === 'string' ? jfs.split('.') : [jfs.header, jfs.payload, jfs.signature]
    return { kind: 'jfs', header, payload, signature }
  }
  const { manifest, body: fetched } = proof as { manifest: unknown; body?: string }
  const body = fetched ?? JSON.stringify(manifest)
  return {
    kind: 'well-known',
    url: `https://${signer}/.well-known/${terms.serviceName}.json`,
    body,
    sha256: createHash('sha256').update(body).digest('hex'),
    fetched_at: claimed_at,
    host_link: host_link === null ? null : { kind: host_link, evidence: host_link_evidence },
  }
}

function addressProof(fid: number, given: ProvableClaim['addresses'][number]): AddressProof {
  const { address, verdict, first_seen_at, before_custody, wallet } = given
  const message = readHubMessage(given.message)
  const body = message?.data.body
  const common = { address, verdict: verdict ?? 'stated', first_seen_at, before_custody }
  if (!message || body?.kind !== 'verification_add')
    return { ...common, message: null, verification: null, wallet: null }
  return {
    ...common,
    message: envelopeOf(message),
    verification: {
      type: body.verificationType,
      chain_id: body.chainId,
      block_hash: bytesToHex(body.blockHash),
      claim_signature: bytesToHex(body.claimSignature),
      digest: claimDigest(fid, body, message.data.network),
    },
    wallet: wallet && {
      chain_id: body.chainId,
      ...wallet,
      standard: walletStandardOf(bytesToHex(body.claimSignature)),
    },
  }
}

/** The FID's keys; a jfs claim's key is added if missing, as it was active when the claim was accepted. */
function keysOf(
  { fid, method, signer, keys }: ProvableClaim,
  { chainId, keyRegistry }: RegistryPlaces,
  { end, custody }: { readonly end: SealedClaimEvent | undefined; readonly custody: ClaimProof['custody'] },
): KeyPlace[] {
  const registry = { chain_id: chainId, contract: keyRegistry }
  const placed = <Log extends object>(log: Log | null | undefined) => (log ? { ...registry, ...log } : null)
  const none = { add: null, remove: null, request_fid: null, key_add: null, key_remove: null }
  const endedBy = end?.evidence as
    | { detail?: { key?: string; log?: ProvableClaim['keys'][number]['removed_log'] } }
    | undefined
  const places = keys.map((known): KeyPlace => {
    const { key, source, removed_log } = known
    if (source === 'offchain') {
      const key_add = keyAddOf(known, fid)
      const removers = [null, key_add?.signed_by, custody?.address]
      const key_remove = removers.includes(known.key_remove_signer) ? keyRemoveOf(known, fid) : null
      return { ...none, key, source, state: null, key_add, key_remove }
    }
    const { request_fid = null, ...added } = known.added ?? {}
    const add = placed(known.added && (added as Omit<typeof known.added, 'request_fid'>))
    const hasEnded = endedBy?.detail?.key === key
    const remove = placed(removed_log ?? (hasEnded ? endedBy.detail?.log : null))
    const state = known.removed || hasEnded ? states.removed : states.added
    return { ...none, key, source, state, add, remove, request_fid }
  })
  if (method !== 'jfs' || places.some(({ key }) => key === signer)) return places
  const unasked: KeyPlace = { ...none, key: signer, source: 'chain', state: states.added }
  return [...places, unasked].sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** States of a key as the KeyRegistry numbers them. */
const states = { added: 1, removed: 2 } as const

function keyAddOf({ key_add, key_add_signer }: ProvableClaim['keys'][number], fid: number): KeyPlace['key_add'] {
  const read = readHubMessage(key_add)
  if (read?.data.body.kind !== 'key_add' || read.data.fid !== fid || key_add_signer === null) return null
  const { body } = read.data
  return {
    message: envelopeOf(read),
    timestamp: read.data.timestamp,
    key_type: body.keyType,
    scopes: body.scopes,
    ttl: body.ttl,
    nonce: body.nonce,
    deadline: body.deadline,
    metadata: bytesToHex(body.metadata),
    metadata_type: body.metadataType,
    custody_signature: bytesToHex(body.custodySignature),
    signed_by: key_add_signer,
  }
}

function keyRemoveOf(
  { key_remove, key_remove_signer }: ProvableClaim['keys'][number],
  fid: number,
): KeyPlace['key_remove'] {
  const read = readHubMessage(key_remove)
  if (read?.data.body.kind !== 'key_remove' || read.data.fid !== fid) return null
  const { body } = read.data
  return {
    message: envelopeOf(read),
    timestamp: read.data.timestamp,
    signature: bytesToHex(body.signature),
    signature_type: body.signatureType,
    nonce: body.nonce,
    deadline: body.deadline,
    signed_by: key_remove_signer,
  }
}

function envelopeOf({ dataBytes, hash, signature, signer }: SignedMessage) {
  return {
    data_bytes: bytesToHex(dataBytes),
    hash: bytesToHex(hash),
    signature: bytesToHex(signature),
    signer: bytesToHex(signer),
  }
}

function hubWord(
  { url, witness, checked_at, doubt, has, lacks }: ProvableClaim['hubs'][number],
  messages: readonly string[],
): ClaimProof['sources'][number] {
  const isLacking = (hash: string) => lacks.includes(hash)
  return {
    operator: new URL(url).host,
    witness,
    asked_at: checked_at,
    standing: doubt ?? 'believed',
    // The followed hub gave every stored message, so it has all but those it was later found to lack.
    has: messages.filter((hash) => (witness ? has.includes(hash) : !isLacking(hash))),
    lacks: messages.filter(isLacking),
  }
}

function custodyOf(
  { custody, custody_read: read }: ProvableClaim,
  { chainId, idRegistry }: RegistryPlaces,
): ClaimProof['custody'] {
  const isRead = read && (!custody || read.block_number >= custody.block_number)
  const address = custody?.address ?? read?.address
  if (address === undefined) return null
  const since = custody && {
    block_number: custody.block_number,
    tx_hash: custody.tx_hash,
    log_index: custody.log_index,
    kind: custody.kind,
  }
  const read_at = isRead ? { block_number: read.block_number, block_hash: read.block_hash } : null
  return { address, chain_id: chainId, contract: idRegistry, since, read_at }
}
