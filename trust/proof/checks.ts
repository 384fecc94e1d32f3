import { createHash } from 'node:crypto'
import { bytesToHex, type Hex, hexToBytes, recoverMessageAddress } from 'viem'
import { type Json, jsonSha256 } from '../canonical-json.ts'
import { isClaimHistory } from '../claim-event.ts'
import { claimMessage } from '../claim-text.ts'
import { checkEnvelope, type Envelope, type Outcome, signedBy } from '../envelope.ts'
import { keyAddSigner, keyRemoveSigner } from '../key-message.ts'
import { decodeVerification, encodeMessageData, messageTypes, type VerificationAdd } from '../message-data.ts'
import { checkKeyClaim, claimDigest } from '../verification-claim.ts'
import { walletChains } from '../wallet-chains.ts'
import { type AddressProof, type ClaimProof, type KeyPlace, proofSchema, type Statement } from './proof.ts'

/** One check and its outcome. `unknown`: it needs a chain or hub that was not asked; `unanswered`: asking it failed. */
export interface CheckLine {
  readonly name: string
  readonly outcome: Outcome | 'unanswered'
  /** Why the check failed, whom to ask for it, or the error instead of an answer. */
  readonly detail?: string
}

const mainnet = 1

/**
 * Every check of a proof that works offline: digests, signatures, and that all parts name one FID and one service.
 * A malformed part counts as `failed`; it never throws.
 */
export async function checkOffline(proof: ClaimProof): Promise<CheckLine[]> {
  if (!hasParts(proof)) return [{ name: 'the proof has its parts', outcome: 'failed' }]
  const lines = [
    line('the schema is known', () => proof.schema === proofSchema),
    line('the checksum is of this proof', () => {
      const { sha256, ...rest } = proof
      return sha256 === jsonSha256(rest as unknown as Json)
    }),
    line('the history is whole', () => isClaimHistory(proof.fid, proof.history)),
    line('the state is what the history ends with', () => stateOf(proof) === proof.state),
    line('the claim is in the history', () => isInHistory(proof)),
  ]
  const addresses = proof.address_proofs.map((one) => checkAddress(proof, one))
  const keys = proof.keys.filter(({ source }) => source === 'offchain').map((key) => checkKeyAdd(proof.fid, key))
  const strange = proof.keys
    .filter(({ source }) => source !== 'chain' && source !== 'offchain')
    .map(({ key }) => ({ name: `${key}: its source is the chain or a message`, outcome: 'failed' as const }))
  const removals = proof.keys.filter(({ key_remove }) => key_remove).map((key) => checkKeyRemove(proof.fid, key))
  const parts = [...lines, ...strange, ...keys, ...removals]
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

/** Whether a proof has the lists that the checks iterate over; their content is not looked at. */
export function hasParts(proof: ClaimProof): boolean {
  const lists = [proof?.address_proofs, proof?.keys, proof?.history]
  return lists.every((list) => Array.isArray(list) && list.every((part) => part !== null && typeof part === 'object'))
}

async function line(name: string, holds: () => boolean | Promise<boolean>): Promise<CheckLine> {
  try {
    return { name, outcome: (await holds()) ? 'held' : 'failed' }
  } catch (error) {
    return { name, outcome: 'failed', detail: (error as Error).message.split('\n')[0] ?? '' }
  }
}

/** Checks an address: the message's envelope, its bytes against the fields shown, the address's own signature. */
async function checkAddress({ fid, keys }: ClaimProof, proof: AddressProof): Promise<CheckLine[]> {
  const { address, message, verification, verdict } = proof
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

async function checkStatement(proof: ClaimProof): Promise<CheckLine[]> {
  const { statement } = proof
  switch (statement?.kind) {
    case 'eip191':
      return checkText(proof, statement)
    case 'jfs':
      return checkToken(proof, statement)
    case 'well-known':
      return checkManifest(proof, statement)
    default:
      return [{ name: 'the statement', outcome: 'failed', detail: 'its kind is not known' }]
  }
}

type Of<Kind extends Statement['kind']> = Extract<Statement, { kind: Kind }>

async function checkText(proof: ClaimProof, statement: Of<'eip191'>): Promise<CheckLine[]> {
  const { address, chain_id: chainId, nonce, timestamp, text, signature } = statement
  const behind = proof.address_proofs.find((one) => one.address === address)
  const isWallet = behind?.verification?.type === 1
  return Promise.all([
    line('the text is the one for this claim', () => {
      const terms = { serviceName: proof.service, siteUrl: proof.site_url, baseUrl: proof.base_url }
      return text === claimMessage(terms, { fid: proof.fid, address: address as Hex, chainId, nonce, timestamp })
    }),
    line('the signer is a verified address', () => behind !== undefined && !behind.before_custody),
    isWallet
      ? line(
          'the wallet is asked on its own chain',
          () => walletChains.includes(chainId) && chainId === behind.verification?.chain_id,
        )
      : line('the text is signed by the address', async () => {
          const signer = await recoverMessageAddress({ message: text, signature: signature as Hex })
          return signer.toLowerCase() === address
        }),
  ])
}

async function checkToken({ fid, base_url, keys }: ClaimProof, statement: Of<'jfs'>): Promise<CheckLine[]> {
  const [header, payload] = [statement.header, statement.payload].map(jsonOf)
  const key = String(header?.key).toLowerCase() // the service takes hexadecimal digits of either case
  return Promise.all([
    line('the token is for this claim', () => {
      const isFor = header?.fid === fid && header.type === 'app_key' && payload?.fid === fid
      return isFor && payload.aud === base_url && payload.action === 'claim'
    }),
    line('the token is signed by its key', () => {
      const signed = Buffer.from(`${statement.header}.${statement.payload}`, 'ascii')
      return signedBy(Buffer.from(statement.signature, 'base64url'), signed, bytesOf(key))
    }),
    // Only keys of the chain, because the service takes no token by another and no node is asked about it.
    line('the key is among those looked up', () =>
      keys.some((one) => one.key === key && one.source === 'chain' && (one.state === 1 || one.state === 2)),
    ),
  ])
}

async function checkManifest(proof: ClaimProof, { url, body, sha256 }: Of<'well-known'>): Promise<CheckLine[]> {
  // A byte order mark, and letters of either case in the host, are taken by the service, too.
  const manifest = (): Record<string, unknown> => JSON.parse(body.replace(/^\uFEFF/, ''))
  return Promise.all([
    line('the digest is of the manifest', () => createHash('sha256').update(body).digest('hex') === sha256),
    line('the manifest is of this FID, service and host', () => {
      const { fid, service, host } = manifest()
      const isOfHost = String(host).toLowerCase() === new URL(url).host && url.startsWith('https://')
      return fid === proof.fid && service === proof.service && isOfHost
    }),
    line('every address of the manifest is verified', () => {
      const named = listOf(manifest().addresses).map((address) => String(address).toLowerCase())
      const verified = proof.address_proofs.map(({ address }) => address)
      return named.length > 0 && named.every((address) => verified.includes(address))
    }),
  ])
}

function stateOf({ history, method, nonce }: ClaimProof): ClaimProof['state'] | undefined {
  const last = history.findLast((event) => event.method === method && event.nonce === nonce)
  if (!last) return undefined
  return last.kind === 'suspended' || last.kind === 'ended' ? last.kind : 'live'
}

function isInHistory({ history, method, nonce, claimed_at }: ClaimProof): boolean {
  return history.some(
    (event) => event.kind === 'claimed' && event.method === method && event.nonce === nonce && event.at === claimed_at,
  )
}

function jsonOf(segment: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(Buffer.from(segment, 'base64url').toString())
  } catch {
    return undefined
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function bytesOf(hex: string): Uint8Array {
  return hexToBytes(hex as Hex)
}
