import { type Hex, pad, parseAbi, recoverMessageAddress } from 'viem'
import { checkEnvelope } from '../envelope.ts'
import { encodedSignature } from '../key-signature.ts'
import { encodeMessageData, mainnet, messageTypes } from '../message-data.ts'
import { textOf } from '../strict-json.ts'
import { type Askable, ask, askRegistry, fetched, registries } from './ask.ts'
import { custodyOf, keyDataOf } from './keys.ts'
import { bytesOf, type CheckLine } from './line.ts'
import type { ClaimProof } from './proof.ts'
import { jsonOf } from './statements.ts'

const name = 'the host is the FID’s'
const unknown = (detail: string): CheckLine => ({ name, outcome: 'unknown', detail })
const failed = (detail: string): CheckLine => ({ name, outcome: 'failed', detail })

/**
 * Checks what links the host of a manifest to the FID. Anybody can serve a manifest with somebody’s public addresses, so
 * without a link that others confirm it shows nothing about the FID.
 */
export function hostLinkLines(proof: ClaimProof, askable: Askable): (CheckLine | Promise<CheckLine>)[] {
  const { statement } = proof
  if (statement.kind !== 'well-known') return []
  if (!statement.host_link) return [unknown('the proof names nothing that links it')]
  const { kind, evidence } = statement.host_link
  const { host } = new URL(statement.url)
  const given = (typeof evidence === 'object' && evidence !== null ? evidence : {}) as Record<string, unknown>
  switch (kind) {
    case 'account_association':
    case 'farcaster_manifest':
      return [association(proof, host, given, askable)]
    case 'profile_url':
      return [profile(proof, host, given, askable)]
    case 'registration':
      return [registration(proof, host, given, askable)]
    default:
      return [failed(`${kind} is no link`)]
  }
}

/** A signature of the custody or auth address over the host’s name. */
async function association(proof: ClaimProof, host: string, given: Record<string, unknown>, askable: Askable) {
  const { fid, custody } = proof
  const [header, payload, signature] = [given.header, given.payload, given.signature].map(textOf) as [
    string,
    string,
    string,
  ]
  const { fid: ofFid, type, key } = jsonOf(header) ?? {}
  const signer = textOf(key).toLowerCase()
  if (ofFid !== fid || textOf(jsonOf(payload)?.domain).toLowerCase() !== host) return failed('it is of another')
  const signedBy = await signerOf(`${header}.${payload}`, signature)
  if (signedBy !== signer) return unknown('a key did not sign it; a contract wallet is not asked')
  const ids = custody ?? { chain_id: registries.chainId, contract: registries.id }
  if (type === 'custody')
    return askRegistry(
      name,
      askable,
      'id',
      ids,
      async (client) => (await custodyOf(client, ids.contract, fid)) === signer,
    )
  if (type !== 'auth') return failed('the key is of another type')
  if (custody?.since !== null) return unknown('when the auth address was added is not looked up')
  const keys = { chain_id: registries.chainId, contract: registries.key }
  return askRegistry(name, askable, 'key', keys, async (client) => {
    for (const word of [signer as Hex, pad(signer as Hex)]) {
      const { state, keyType } = await keyDataOf(client, keys.contract, fid, word)
      if (state === 1 && keyType === 2) return true
    }
    return false
  })
}

async function signerOf(message: string, encoded: string): Promise<string | undefined> {
  const signature = encodedSignature(encoded) ?? '0x'
  try {
    return (await recoverMessageAddress({ message, signature })).toLowerCase()
  } catch {
    return undefined
  }
}

/** Type of user data that has the profile's URL. Source: snapchain, `UserDataType`. */
const profileUrl = 5

/** The newest message that sets the profile’s URL, which a hub must still have, by a key of the proof. */
async function profile(proof: ClaimProof, host: string, given: Record<string, unknown>, { hubs }: Askable) {
  const { url, timestamp, message } = given as { url?: unknown; timestamp?: unknown; message?: unknown }
  if (hostOf(url) !== host) return failed('the URL is of another host')
  if (typeof timestamp !== 'number' || typeof message !== 'object' || message === null)
    return unknown('the message that says so is not in the proof')
  const { data_bytes, hash, signature, signer } = message as Record<string, Hex>
  try {
    const body = { kind: 'user_data', type: profileUrl, value: textOf(url) } as const
    const said = encodeMessageData({
      type: messageTypes.MESSAGE_TYPE_USER_DATA_ADD,
      fid: proof.fid,
      timestamp,
      network: mainnet,
      body,
    })
    const envelope = {
      dataBytes: bytesOf(data_bytes!),
      hash: bytesOf(hash!),
      signature: bytesOf(signature!),
      signer: bytesOf(signer!),
    }
    if (Buffer.compare(said, envelope.dataBytes) !== 0 || checkEnvelope(envelope) !== 'held')
      return failed('it is not signed so')
  } catch (error) {
    return failed((error as Error).message.split('\n')[0] ?? '')
  }
  if (!proof.keys.some(({ key }) => key === signer)) return unknown('its key is not among those looked up')
  if (proof.custody?.since !== null) return unknown('the FID changed hands, and the profile may be of before')
  const [hub] = hubs
  if (hub === undefined) return unknown('name a hub with --hub URL')
  const answer = await fetched(
    `${hub.replace(/\/+$/, '')}/v1/userDataByFid?fid=${proof.fid}&user_data_type=${profileUrl}`,
  )
  if (typeof answer !== 'string') return { name, ...answer }
  const has = answer.includes(`"${hash}"`)
  return { name, outcome: has ? 'held' : 'failed' } as const
}

const identity = parseAbi([
  'function ownerOf(uint256 tokenId) view returns (address)',
  'function tokenURI(uint256 tokenId) view returns (string)',
])

/** A token of the identity registry, held by a proven address, whose URI is on the host. */
async function registration(proof: ClaimProof, host: string, given: Record<string, unknown>, askable: Askable) {
  const { chain_id, erc8004_id, url } = given
  if (hostOf(url) !== host) return failed('the URL is of another host')
  if (typeof chain_id !== 'number' || typeof erc8004_id !== 'string' || !/^\d{1,78}$/.test(erc8004_id))
    return failed('no registration is named')
  const token = { address: registries.identity, abi: identity, args: [BigInt(erc8004_id)] } as const
  return ask(name, askable, chain_id, async (client) => {
    const owner = (await client.readContract({ ...token, functionName: 'ownerOf' })).toLowerCase()
    const holder = proof.address_proofs.find(({ address }) => address === owner)
    if (!holder || holder.before_custody) return false
    if (holder.verification?.type === 1 && holder.verification.chain_id !== chain_id) return false
    const uri = await client.readContract({ ...token, functionName: 'tokenURI' })
    return hostOf(uri) === host || 'a service in the document names it, which is not read here'
  })
}

function hostOf(text: unknown): string | undefined {
  const url = URL.parse(textOf(text).trim())
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.host : undefined
}
