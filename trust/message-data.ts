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

/** Unix seconds of 2021-01-01T00:00:00Z, from which the network counts. */
export const networkEpoch = 1_609_459_200

export const messageTypes = {
  MESSAGE_TYPE_REACTION_ADD: 3,
  MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS: 7,
  MESSAGE_TYPE_VERIFICATION_REMOVE: 8,
  MESSAGE_TYPE_USER_DATA_ADD: 11,
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

const bodyFields = { reaction: 7, verification_add: 9, verification_remove: 10, user_data: 12 } as const

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
    case 'reaction':
      return join([number(1, body.type), bytes(2, join([number(1, body.targetFid), bytes(2, body.targetHash)]))])
  }
}

const numberWire = 0
const bytesWire = 2

function number(field: number, value: number): Uint8Array {
  return value === 0 ? new Uint8Array() : join([varint(field * 8 + numberWire), varint(value)])
}

function bytes(field: number, value: Uint8Array): Uint8Array {
  return value.length === 0 ? value : join([varint(field * 8 + bytesWire), varint(value.length), value])
}

/** Seven bits a byte, the lowest first; every byte but the last has its high bit set. */
function varint(value: number): Uint8Array {
  const groups: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) groups.push((rest % 128) + 128)
  return Uint8Array.from([...groups, rest])
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}
