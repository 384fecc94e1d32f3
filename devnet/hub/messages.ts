import { createHash, createPrivateKey, sign } from 'node:crypto'
import { messageHash } from '../../trust/envelope.ts'
import { readHubMessage } from '../../trust/hub-message.ts'

/** Unix seconds of 2021-01-01T00:00:00Z, where the network's clock starts. */
export const farcasterEpoch = 1_609_459_200

/**
 * A signed message as the HTTP API shows it. Its hash and signature hold when its signer's private key is known and its
 * body one that is checked; otherwise they have the right length and nothing more.
 */
export interface Message {
  readonly data: MessageData
  /** 0x and 20 bytes. */
  readonly hash: string
  readonly hashScheme: 'HASH_SCHEME_BLAKE3'
  /** Base64 of 64 bytes. */
  readonly signature: string
  readonly signatureScheme: 'SIGNATURE_SCHEME_ED25519'
  /** 0x and the 32 bytes of the app key. */
  readonly signer: string
}

interface MessageData {
  readonly type: string
  readonly fid: number
  /** Seconds since `farcasterEpoch`. */
  readonly timestamp: number
  readonly network: 'FARCASTER_NETWORK_MAINNET'
  /** One body, under the name that belongs to the type. */
  readonly [body: string]: unknown
}

/** Numbers of user data types, as the API takes them; the names stand in messages. */
export const userDataTypes = {
  USER_DATA_TYPE_PFP: 1,
  USER_DATA_TYPE_DISPLAY: 2,
  USER_DATA_TYPE_BIO: 3,
  USER_DATA_TYPE_URL: 5,
  USER_DATA_TYPE_USERNAME: 6,
  USER_DATA_TYPE_LOCATION: 7,
  USER_DATA_TYPE_TWITTER: 8,
  USER_DATA_TYPE_GITHUB: 9,
  USER_DATA_TYPE_BANNER: 10,
} as const
export type UserDataType = keyof typeof userDataTypes

/** An Ed25519 key of an app, 32 bytes each, as 0x hex; without its private half nothing can be signed with it. */
export interface MessageSigner {
  readonly publicKey: string
  readonly privateKey?: string | undefined
}

/** Makes a signed message; `unixMs` is when the user signed. Deterministic: equal arguments, equal message and hash. */
export function makeMessage(
  type: string,
  { fid, signer, unixMs }: { fid: number; signer: MessageSigner; unixMs: number },
  body: Record<string, unknown>,
): Message {
  const timestamp = Math.floor(unixMs / 1000) - farcasterEpoch
  const data: MessageData = { type, fid, timestamp, network: 'FARCASTER_NETWORK_MAINNET', ...body }
  const digest = createHash('sha512').update(JSON.stringify(data)).digest()
  const message: Message = {
    data,
    hash: `0x${digest.toString('hex', 0, 20)}`,
    hashScheme: 'HASH_SCHEME_BLAKE3',
    signature: digest.toString('base64'),
    signatureScheme: 'SIGNATURE_SCHEME_ED25519',
    signer: signer.publicKey,
  }
  const dataBytes = signer.privateKey && readHubMessage(message)?.dataBytes
  if (!dataBytes) return message
  const hash = messageHash(dataBytes)
  const signature = sign(null, hash, privateKeyOf(signer.privateKey)).toString('base64')
  return { ...message, hash: `0x${Buffer.from(hash).toString('hex')}`, signature }
}

/** DER of a PKCS #8 Ed25519 key (RFC 8410, section 7) up to the 32 bytes of the key. */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

function privateKeyOf(secret = '') {
  return createPrivateKey({
    key: Buffer.concat([pkcs8Head, Buffer.from(secret.slice(2), 'hex')]),
    format: 'der',
    type: 'pkcs8',
  })
}

/** Order of every list of messages: by time, then by hash. */
export function compareMessages(a: Message, b: Message): number {
  return a.data.timestamp - b.data.timestamp || (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0)
}

/** A deterministic 32-byte hash for made-up things: blocks, transactions. */
export function fakeHash(...parts: (string | number)[]): string {
  return `0x${createHash('sha256').update(parts.join(':')).digest('hex')}`
}
