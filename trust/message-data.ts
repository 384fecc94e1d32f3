import { bytes, bytesIn, join, number, numberIn, readFields, varint } from './protobuf.ts'

/** What a message of the Farcaster network says, before it is signed. Numbers are those of the network's schema. */
export interface MessageData {
  readonly type: number
  readonly fid: number
  /** Seconds since `networkEpoch`, as the signer wrote them: only the future is bounded. */
  readonly timestamp: number
  /** 1: mainnet. */
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

/** An address's own word that it belongs to a FID, carried by a message of that FID. */
export interface VerificationAdd {
  /** 20 bytes; 32 for Solana. */
  readonly address: Uint8Array
  readonly claimSignature: Uint8Array
  readonly blockHash: Uint8Array
  /** 0: a key signed. 1: a contract wallet answers for the signature. */
  readonly verificationType: number
  /** Chain of the contract wallet; 0 for a key. */
  readonly chainId: number
  /** 0: Ethereum. */
  readonly protocol: number
}

/** An app key that was never on the chain: the custody address of the FID signed for it. */
export interface KeyAdd {
  /** Ed25519, 32 bytes. */
  readonly key: Uint8Array
  /** 1: Ed25519. */
  readonly keyType: number
  /** 65 bytes. */
  readonly custodySignature: Uint8Array
  /** Seconds since `networkEpoch`. */
  readonly deadline: number
  readonly nonce: number
  readonly metadata: Uint8Array
  readonly metadataType: number
  /** Numbers of the types of message that it may sign. */
  readonly scopes: readonly number[]
  /** Seconds without use after which it ends; the network takes none without such an end. */
  readonly ttl: number
}

/** Removal of an app key from a FID, signed by the FID's custody address or by the key itself. */
export interface KeyRemove {
  /** Ed25519, 32 bytes. */
  readonly key: Uint8Array
  /** Of the custody address, 65 bytes; of the key itself the message's own signature is enough. */
  readonly signature: Uint8Array
  /** 1: of the custody address; 2: of the key itself. */
  readonly signatureType: number
  /** Seconds since `networkEpoch`. */
  readonly deadline: number
  readonly nonce: number
}

/** Unix seconds of 2021-01-01T00:00:00Z, from which the network counts. */
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
 * The protobuf bytes that were hashed and signed: fields in the order of their numbers, those equal to zero or empty
 * left out. A signer may have encoded the same content otherwise, which then has another hash: an unequal hash proves
 * nothing against a message.
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
 * What the bytes of a verification say; undefined for other messages and for bytes that are none. Fields that are not
 * known are passed over, of a field that stands twice the last counts, as protobuf has it.
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

/** What the bytes of a message that ends a verification say; undefined when they are no such message. */
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
