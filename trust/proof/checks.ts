import { bytesToHex } from 'viem'
import { canonicalJson, type Json, jsonSha256 } from '../canonical-json.ts'
import { isProofHistory } from '../claim-event.ts'
import { checkEnvelope, type Envelope } from '../envelope.ts'
import { keyAddSigner, keyRemoveSigner } from '../key-message.ts'
import {
  decodeVerification,
  encodeMessageData,
  mainnet,
  messageTypes,
  networkEpoch,
  type VerificationAdd,
} from '../message-data.ts'
import { checkKeyClaim, claimDigest, walletStandardOf } from '../verification-claim.ts'
import { bytesOf, type CheckLine, line } from './line.ts'
import { checkLog } from './log.ts'
import { type AddressProof, type ClaimProof, type KeyPlace, misshapen, proofSchema } from './proof.ts'
import { checkStatement, endLines, statementDigest } from './statements.ts'

/**
 * Every check of a proof that works offline: digests, signatures, and that all parts name one FID and one service.
 * A malformed part counts as `failed`; it never throws. What the service alone says is `unknown`. `logKey`: the key of
 * the service's transparency log, if the reader knows it.
 */
export async function checkOffline(proof: ClaimProof, logKey?: string): Promise<CheckLine[]> {
  const misshapenAt = misshapen(proof)
  if (misshapenAt !== undefined) return [{ name: 'the proof has its parts', outcome: 'failed', detail: misshapenAt }]
  const lines = [
    line('the schema is known', () => proof.schema === proofSchema),
    line('the checksum is of this proof', () => {
      const { sha256, ...rest } = proof
      return sha256 === jsonSha256(rest as unknown as Json)
    }),
    line('the history is whole', () => isProofHistory(proof, proof.history)),
    line('the state is what the history ends with', () => stateOf(proof) === proof.state),
    line('the claim is in the history', () => isInHistory(proof)),
    line('the end is that of the history', () => isEndOf(proof)),
    hubsLine(proof),
    line('nothing is dated before what it follows', () => isInOrder(proof)),
    ...endLines(proof),
    ...checkLog(proof, logKey),
  ]
  const addresses = proof.address_proofs.map((one) => checkAddress(proof, one))
  const keys = proof.keys.filter(({ source }) => source === 'offchain').map((key) => checkKeyAdd(proof.fid, key))
  const strange = proof.keys
    .filter(({ source }) => source !== 'chain' && source !== 'offchain')
    .map(({ key }) => ({ name: `${key}: its source is the chain or a message`, outcome: 'failed' as const }))
  const standing = proof.keys.filter(({ source }) => source === 'offchain').map(stillStands)
  const removals = proof.keys.filter(({ key_remove }) => key_remove).map((key) => checkKeyRemove(proof.fid, key))
  const parts = [...lines, ...strange, ...keys, ...standing, ...removals]
  return [...(await Promise.all(parts)), ...(await Promise.all(addresses)).flat(), ...(await checkStatement(proof))]
}

/** Checks the message that added a key off the chain, and the address's signature in it. */
async function checkKeyAdd(fid: number, { key, key_add: given }: KeyPlace): Promise<CheckLine> {
  const name = `${key}: an address signed that it is a key of the FID`
  if (!given) return { name, outcome: 'unknown', detail: 'there is the service’s word alone' }
  return line(name, async () => {
    const body = {
      kind: 'key_add' as const,
      key: bytesOf(key),
      keyType: given.key_type,
      custodySignature: bytesOf(given.custody_signature),
      deadline: given.deadline,
      nonce: given.nonce,
      metadata: bytesOf(given.metadata),
      metadataType: given.metadata_type,
      scopes: given.scopes,
      ttl: given.ttl,
    }
    const type = messageTypes.MESSAGE_TYPE_KEY_ADD
    const said = encodeMessageData({ type, fid, timestamp: given.timestamp, network: mainnet, body })
    if (bytesToHex(said) !== given.message.data_bytes) return false
    return checkEnvelope(envelopeOf(given.message)) === 'held' && (await keyAddSigner(fid, body)) === given.signed_by
  })
}

/** A key off the chain can be removed by a message that a proof leaves out, and be used with an older date afterwards. */
function stillStands({ key, key_remove }: KeyPlace): CheckLine {
  const detail = key_remove
    ? 'it was removed; that it signed before is the service’s word alone'
    : 'that no message removed it is the service’s word alone'
  return { name: `${key}: it still stands`, outcome: 'unknown', detail }
}

/** Checks the message that removed a key off the chain: signed by the custody address, or by the key itself. */
function checkKeyRemove(fid: number, { key, key_remove: given }: KeyPlace): Promise<CheckLine> {
  return line(`${key}: the message that removed it is signed`, async () => {
    if (!given) return false
    const body = {
      kind: 'key_remove' as const,
      key: bytesOf(key),
      signature: bytesOf(given.signature),
      signatureType: given.signature_type,
      deadline: given.deadline,
      nonce: given.nonce,
    }
    const type = messageTypes.MESSAGE_TYPE_KEY_REMOVE
    const said = encodeMessageData({ type, fid, timestamp: given.timestamp, network: mainnet, body })
    if (bytesToHex(said) !== given.message.data_bytes) return false
    if (checkEnvelope(envelopeOf(given.message)) !== 'held') return false
    if (given.signed_by === null) return given.message.signer === key
    return (await keyRemoveSigner(fid, body)) === given.signed_by
  })
}

function envelopeOf(message: NonNullable<AddressProof['message']>): Envelope {
  return {
    dataBytes: bytesOf(message.data_bytes),
    hash: bytesOf(message.hash),
    signature: bytesOf(message.signature),
    signer: bytesOf(message.signer),
  }
}

/** Checks an address: the message's envelope, its bytes against the fields shown, the address's own signature. */
async function checkAddress({ fid, keys, sources }: ClaimProof, proof: AddressProof): Promise<CheckLine[]> {
  const { address, message, verification, verdict, wallet } = proof
  if (!message || !verification) {
    return [{ name: `${address}: its message`, outcome: 'unknown', detail: 'there is the hub’s word alone' }]
  }
  const claim = (): VerificationAdd => {
    const body = decodeVerification(bytesOf(message.data_bytes))?.body
    if (body?.kind !== 'verification_add') throw new Error('the bytes are of no verification')
    return body
  }
  const isWallet = verification.type === 1
  const isNamed = keys.some(({ key }) => key === message.signer)
  const lookedUp = `${address}: where its key stands was looked up`
  return Promise.all([
    line(`${address}: the message is signed by its key`, () => checkEnvelope(envelopeOf(message)) === 'held'),
    isNamed || verdict === 'proven'
      ? line(lookedUp, () => isNamed)
      : { name: lookedUp, outcome: 'unknown' as const, detail: 'the key was not looked up' },
    line(`${address}: the message says what is shown`, () => {
      const data = decodeVerification(bytesOf(message.data_bytes))
      const add = claim()
      return (
        data?.fid === fid &&
        data.network === mainnet &&
        bytesToHex(add.address) === address &&
        add.verificationType === verification.type &&
        add.chainId === verification.chain_id &&
        bytesToHex(add.blockHash) === verification.block_hash &&
        bytesToHex(add.claimSignature) === verification.claim_signature &&
        claimDigest(fid, add, mainnet) === verification.digest
      )
    }),
    line(
      `${address}: the hubs that the service asked have the message`,
      () =>
        sources.some(({ has }) => has.includes(message.hash)) &&
        !sources.some(({ lacks }) => lacks.includes(message.hash)),
    ),
    line(`${address}: only a wallet’s address has a wallet’s answer`, () => {
      if (wallet === null) return true
      const isOfStandard = wallet.standard === walletStandardOf(verification.claim_signature)
      return isWallet && isOfStandard && wallet.chain_id === verification.chain_id && wallet.answer === 'held'
    }),
    line(`${address}: the message is of before its key was removed`, () => {
      const removal = keys.find(({ key }) => key === message.signer)?.key_remove
      return !removal || (decodeVerification(bytesOf(message.data_bytes))?.timestamp ?? Infinity) < removal.timestamp
    }),
    isWallet
      ? {
          name: `${address}: the wallet says yes`,
          outcome: 'unknown' as const,
          detail: `ask chain ${verification.chain_id}`,
        }
      : line(
          `${address}: the address signed that it belongs to the FID`,
          async () => (await checkKeyClaim(fid, claim(), mainnet)) === 'held',
        ),
  ])
}

function stateOf({ history, method, nonce }: ClaimProof): ClaimProof['state'] | undefined {
  const last = history.findLast((event) => event.method === method && event.nonce === nonce)
  if (!last) return undefined
  return last.kind === 'suspended' || last.kind === 'ended' ? last.kind : 'live'
}

function isInHistory(proof: ClaimProof): boolean {
  const { history, method, nonce, claimed_at, statement } = proof
  return history.some((event) => {
    const isOf = event.kind === 'claimed' && event.method === method && event.nonce === nonce
    const { proof_sha256 } = (event.evidence ?? {}) as { proof_sha256?: unknown }
    return isOf && event.at === claimed_at && proof_sha256 === statementDigest(proof, statement)
  })
}

function isEndOf({ state, ended, history, method, nonce }: ClaimProof): boolean {
  if (state !== 'ended' || ended === null) return state !== 'ended' && ended === null
  const { at, evidence, kind } = history.findLast((event) => event.method === method && event.nonce === nonce) ?? {}
  const reason = (evidence as { reason?: unknown } | undefined)?.reason
  return kind === 'ended' && at === ended.at && reason === ended.reason && same(evidence, ended.evidence)
}

const same = (a: Json | undefined, b: Json) => a !== undefined && canonicalJson(a) === canonicalJson(b)

/** Messages show that the service asked a hub about them. Without any, none may be named: then it was not asked yet. */
async function hubsLine({ sources, address_proofs }: ClaimProof): Promise<CheckLine> {
  const name = 'the hubs are named with messages of this proof alone'
  const messages = address_proofs.map(({ message }) => message?.hash)
  const isUnasked = sources.length === 0 && messages.every((hash) => hash === undefined)
  if (isUnasked) return { name, outcome: 'unknown', detail: 'no hub is named, and no message shown' }
  return line(
    name,
    () =>
      sources.length > 0 &&
      sources.every(({ has, lacks }) => [...has, ...lacks].every((one) => messages.includes(one))),
  )
}

/** Seconds by which the network lets a message be ahead of its time. */
const mostAhead = 600

function isInOrder({ claimed_at, checked_at, address_proofs }: ClaimProof): boolean {
  const isSeenLater = ({ message, first_seen_at }: AddressProof) =>
    !message || Date.parse(first_seen_at) / 1_000 >= (timeOf(message.data_bytes) ?? Infinity) - mostAhead
  return checked_at >= claimed_at && address_proofs.every(isSeenLater)
}

/** Unix seconds at which a verification says that it was made. */
export function timeOf(dataBytes: string): number | undefined {
  const data = decodeVerification(bytesOf(dataBytes))
  return data && networkEpoch + data.timestamp
}
