import { bytes, bytesIn, join, number, numberIn, readFields, varint } from './protobuf.ts'

/** Content of a Farcaster message, the part that is hashed and signed. Numbers are those of the network's protobuf. */
export interface MessageData {
  readonly type: number
  readonly fid: number
  /** Seconds since `networkEpoch`, as the signer chose them: the network refuses only times in the future. */
  readonly timestamp: number
  /** Network the message is for; 1: mainnet. */
  readonly network: number
  readonly body: MessageBody
}

export type MessageBody =
  | ({ readonly kind: 'verification_add' } & VerificationAdd)
  | { readonly kind: 'verification_remove'; readonly address: Uint8Array; readonly protocol: number }
  | { readonly kind: 'user_data'; readonly type: number; readonly value: string }
  | ({ readonly kind: 'key_add' } & KeyAdd)
  | ({ readonly kind: 'key_remove' } & KeyRemove)
  | { readonly kind: 'reaction'; readonly type: number; readonly targetFid: number; readonly targetHash: Uint8Array }

/** Verification of an address: the address's own signature that it belongs to a FID, in a message of that FID. */
export interface VerificationAdd {
  /** The verified address: 20 bytes, 32 for Solana. */
  readonly address: Uint8Array
  readonly claimSignature: Uint8Array
  readonly blockHash: Uint8Array
  /** 0: the address's key signed. 1: the address is a contract wallet, which validates the signature. */
  readonly verificationType: number
  /** Chain of the contract wallet; 0 for a key. */
  readonly chainId: number
  /** 0: Ethereum. */
  readonly protocol: number
}

/** Addition of an app key off the chain, signed by the FID's custody address. */
export interface KeyAdd {
  /** Ed25519 public key, 32 bytes. */
  readonly key: Uint8Array
  /** 1: Ed25519. */
  readonly keyType: number
  /** EIP-712 signature of the custody address, 65 bytes. */
  readonly custodySignature: Uint8Array
  /** Seconds since `networkEpoch`. */
  readonly deadline: number
  readonly nonce: number
  readonly metadata: Uint8Array
  readonly metadataType: number
  /** Message types, by number, that the key may sign. */
  readonly scopes: readonly number[]
  /** Seconds without use after which the key expires; the network refuses a key without an expiry. */
  readonly ttl: number
}

/** Removal of an app key from a FID, signed by the FID's custody address or by the key itself. */
export interface KeyRemove {
  /** Ed25519, 32 bytes. */
  readonly key: Uint8Array
  /** Signature of the custody address, 65 bytes; not needed when the key removes itself and signs the message. */
  readonly signature: Uint8Array
  /** Who signed the removal. 1: the custody address; 2: the key itself. */
  readonly signatureType: number
  /** Seconds since `networkEpoch`. */
  readonly deadline: number
  readonly nonce: number
}

/** Start of the network's timestamps: 2021-01-01T00:00:00Z, in Unix seconds. */
export const networkEpoch = 1_609_459_200

export const messageTypes = {
  MESSAGE_TYPE_REACTION_ADD: 3,
  MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS: 7,
  MESSAGE_TYPE_VERIFICATION_REMOVE: 8,
  MESSAGE_TYPE_USER_DATA_ADD: 11,
  MESSAGE_TYPE_KEY_ADD: 16,
  MESSAGE_TYPE_KEY_REMOVE: 17,
} as const

export const mainnet = 1

/**
 * Protobuf bytes of a message's data, for hashing: fields in the order of their numbers, zero and empty ones left out.
 * A signer may have encoded the same content otherwise, with another hash: an unequal hash proves nothing against a
 * message.
 *
 * Source: snapchain, `proto/definitions/message.proto`.
 */
export function encodeMessageData({ type, fid, timestamp, network, body }: MessageData): Uint8Array {
  const head = [number(1, type), number(2, fid), number(3, timestamp), number(4, network)]
  return join([...head, bytes(bodyFields[body.kind], encodeBody(body))])
}

const bodyFields = {
  reaction: 7,
  verification_add: 9,
  verification_remove: 10,
  user_data: 12,
  key_add: 19,
  key_remove: 20,
} as const

function encodeBody(body: MessageBody): Uint8Array {
  switch (body.kind) {
    case 'verification_add':
      return join([
        bytes(1, body.address),
        bytes(2, body.claimSignature),
        bytes(3, body.blockHash),
        number(4, body.verificationType),
        number(5, body.chainId),
        number(7, body.protocol),
      ])
    case 'verification_remove':
      return join([bytes(1, body.address), number(2, body.protocol)])
    case 'user_data':
      return join([number(1, body.type), bytes(2, new TextEncoder().encode(body.value))])
    case 'key_add':
      return join([
        bytes(1, body.key),
        number(2, body.keyType),
        bytes(3, body.custodySignature),
        number(4, body.deadline),
        number(5, body.nonce),
        bytes(6, body.metadata),
        number(7, body.metadataType),
        bytes(9, join(body.scopes.map(varint))),
        number(10, body.ttl),
      ])
    case 'key_remove':
      return join([
        bytes(1, body.key),
        bytes(2, body.signature),
        number(3, body.signatureType),
        number(4, body.deadline),
        number(5, body.nonce),
      ])
    case 'reaction':
      return join([number(1, body.type), bytes(2, join([number(1, body.targetFid), bytes(2, body.targetHash)]))])
  }
}

/**
 * Decodes the bytes of a verification; undefined for other messages and malformed bytes. As protobuf requires, unknown
 * fields are ignored, and the last of a repeated field counts.
 */
export function decodeVerification(dataBytes: Uint8Array): MessageData | undefined {
  const data = readFields(dataBytes)
  const body = data?.get(bodyFields.verification_add)
  const add = body instanceof Uint8Array ? readFields(body) : undefined
  if (!data || !add) return undefined
  const [type, fid, timestamp, network] = [1, 2, 3, 4].map((field) => numberIn(data, field))
  const [verificationType, chainId, protocol] = [4, 5, 7].map((field) => numberIn(add, field))
  const [address, claimSignature, blockHash] = [1, 2, 3].map((field) => bytesIn(add, field))
  const numbers = [type, fid, timestamp, network, verificationType, chainId, protocol]
  if (numbers.includes(undefined) || !address || !claimSignature || !blockHash) return undefined
  const claim = { address, claimSignature, blockHash, verificationType, chainId, protocol } as VerificationAdd
  return { type, fid, timestamp, network, body: { kind: 'verification_add', ...claim } } as MessageData
}

/** Decodes the bytes of a message that removes a verification; undefined when they are no such message. */
export function decodeRemoval(dataBytes: Uint8Array): MessageData | undefined {
  const data = readFields(dataBytes)
  const body = data?.get(bodyFields.verification_remove)
  const remove = body instanceof Uint8Array ? readFields(body) : undefined
  if (!data || !remove) return undefined
  const [type, fid, timestamp, network] = [1, 2, 3, 4].map((field) => numberIn(data, field))
  const address = bytesIn(remove, 1)
  const protocol = numberIn(remove, 2)
  if ([type, fid, timestamp, network, protocol].includes(undefined) || !address) return undefined
  return { type, fid, timestamp, network, body: { kind: 'verification_remove', address, protocol } } as MessageData
}
