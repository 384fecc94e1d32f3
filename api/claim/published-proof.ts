import { createHash } from 'node:crypto'
import { bytesToHex, type Hex } from 'viem'
import { socialChain } from '../../chains.config.ts'
import type { ProvableClaim, ProvingMessage, StoredClaimEvent } from '../../db/queries/read/claim-proof.ts'
import type { SealedClaimEvent } from '../../trust/claim-event.ts'
import { claimMessage, type Terms } from '../../trust/claim-text.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import {
  type AddressProof,
  type ClaimProof,
  type KeyPlace,
  type Statement,
  sealProof,
} from '../../trust/proof/proof.ts'
import { claimDigest } from '../../trust/verification-claim.ts'

/** Everything that a stranger needs to check a claim: what was signed, what stands behind it, what became of it. */
export function publishedProof(
  fid: number,
  claim: ProvableClaim,
  history: readonly StoredClaimEvent[],
  terms: Terms,
): ClaimProof {
  const events = history as readonly SealedClaimEvent[]
  const address_proofs = claim.addresses.map((one) => addressProof(fid, one))
  const has = address_proofs.flatMap(({ message }) => message?.hash ?? [])
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
    ended: end ? { at: end.at, reason: String(claim.end_reason), evidence: end.evidence } : null,
    statement: statementOf(fid, claim, terms),
    address_proofs,
    keys: keysOf(claim),
    custody: custodyOf(claim),
    sources: claim.hubs.map(({ url, checked_at }) => ({ operator: new URL(url).host, asked_at: checked_at, has })),
    history: events,
  })
}

function statementOf(
  fid: number,
  { method, signer, proof, host_link, claimed_at }: ProvableClaim,
  terms: Terms,
): Statement {
  if (method === 'eip191') {
    const { nonce, timestamp, chain_id, signature } = proof as Record<'nonce' | 'timestamp' | 'signature', string> & {
      chain_id: number
    }
    const address = signer as Hex
    const text = claimMessage(terms, { fid, address, chainId: chain_id, nonce, timestamp })
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
    host_link,
  }
}

function addressProof(fid: number, given: ProvingMessage): AddressProof {
  const { address, verdict, first_seen_at, before_custody } = given
  const message = readHubMessage(given.message)
  const body = message?.data.body
  const common = { address, verdict: verdict ?? 'stated', first_seen_at, before_custody }
  if (!message || body?.kind !== 'verification_add') return { ...common, message: null, verification: null }
  return {
    ...common,
    message: {
      data_bytes: bytesToHex(message.dataBytes),
      hash: bytesToHex(message.hash),
      signature: bytesToHex(message.signature),
      signer: bytesToHex(message.signer),
    },
    verification: {
      type: body.verificationType,
      chain_id: body.chainId,
      block_hash: bytesToHex(body.blockHash),
      claim_signature: bytesToHex(body.claimSignature),
      digest: claimDigest(fid, body, message.data.network),
    },
  }
}

/** Keys that the KeyRegistry said are the FID's: that of a token was active when it was taken. */
function keysOf({ method, signer, addresses }: ProvableClaim): KeyPlace[] {
  const signers = addresses.flatMap(({ message, key_on_chain }) => {
    const read = key_on_chain ? readHubMessage(message) : undefined
    return read ? [bytesToHex(read.signer)] : []
  })
  const keys = [...new Set(method === 'jfs' ? [signer, ...signers] : signers)].sort()
  const { id: chain_id, social } = socialChain()
  return keys.map((key) => ({ key, state: 1, chain_id, contract: social.keyRegistry, block_number: null }))
}

function custodyOf({ custody }: ProvableClaim): ClaimProof['custody'] {
  if (!custody) return null
  const { address, block_number, tx_hash, log_index, kind } = custody
  const { id: chain_id, social } = socialChain()
  const since = { block_number, tx_hash, log_index, kind }
  return { address, chain_id, contract: social.idRegistry, since, block_number: null }
}
