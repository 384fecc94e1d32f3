import { z } from 'zod'
import type { Envelope } from './envelope.ts'
import { encodeMessageData, type MessageBody, type MessageData, messageTypes } from './message-data.ts'

/** A signed message with its decoded content, which agrees with `dataBytes`. */
export interface SignedMessage extends Envelope {
  readonly data: MessageData
}

const hex = (bytes: number) => z.string().regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`))
const base64 = z
  .string()
  .max(4_096)
  .regex(/^[A-Za-z0-9+/]*={0,2}$/)

const addBody = z.object({
  address: z.string().max(100),
  /** Older hubs call it `ethSignature`, from when only keys signed; those in between send both, equal. */
  claimSignature: base64.optional(),
  ethSignature: base64.optional(),
  blockHash: z.string().max(100),
  type: z.int().nonnegative().nullish(),
  verificationType: z.int().nonnegative().nullish(),
  chainId: z.int().nonnegative().nullish(),
  protocol: z.string().nullish(),
})

/** Hubs write addresses and keys in hex, signatures in base64. */
const someBytes = z.union([
  z
    .string()
    .regex(/^0x([0-9a-fA-F]{2}){0,2048}$/)
    .transform(fromHex),
  base64.transform(fromBase64),
])
const number = z.int().nonnegative().max(0xffff_ffff)

const keyAddBody = z.object({
  key: someBytes,
  keyType: number,
  custodySignature: someBytes,
  deadline: number,
  nonce: number,
  metadata: someBytes.optional(),
  metadataType: number.default(0),
  scopes: z.array(number).max(16),
  ttl: number.default(0),
})

const keyRemoveBody = z.object({
  key: someBytes,
  signature: someBytes,
  signatureType: number,
  deadline: number.default(0),
  nonce: number.default(0),
})

const signedMessage = z.object({
  data: z.object({
    type: z.string(),
    fid: z.int().positive(),
    timestamp: z.int().nonnegative().max(0xffff_ffff),
    network: z.string(),
    verificationAddAddressBody: addBody.nullish(),
    verificationAddEthAddressBody: addBody.nullish(),
    verificationRemoveBody: z.object({ address: z.string().max(100), protocol: z.string().nullish() }).nullish(),
    userDataBody: z.object({ type: z.string(), value: z.string().max(4_096) }).nullish(),
    keyAddBody: keyAddBody.nullish(),
    keyRemoveBody: keyRemoveBody.nullish(),
    reactionBody: z
      .object({ type: z.string(), targetCastId: z.object({ fid: z.int().nonnegative(), hash: hex(20) }) })
      .nullish(),
  }),
  hash: hex(20),
  signature: base64,
  signer: hex(32),
  dataBytes: base64.nullish(),
})

/**
 * A hub's JSON as a message whose bytes can be checked; all three shapes of verifications are read. The bytes are those
 * the hub carries, else rebuilt from the fields. Undefined: something in it is not known here, so nothing can be said
 * about its signature.
 *
 * Source: snapchain `src/network/http_server.rs`; Hubble's HTTP API of 2024; its older documents.
 */
export function readHubMessage(json: unknown): SignedMessage | undefined {
  const parsed = signedMessage.safeParse(json)
  if (!parsed.success) return undefined
  const { data, hash, signature, signer, dataBytes } = parsed.data
  const type = numberOf(messageTypes, data.type)
  const body = bodyOf(data)
  const network = numberOf(networks, data.network)
  if (type === undefined || body === undefined || network === undefined) return undefined
  const read: MessageData = { type, fid: data.fid, timestamp: data.timestamp, network, body }
  const rebuilt = encodeMessageData(read)
  return {
    data: read,
    // Bytes that differ from the fields are dropped: else one would be checked and the other stored.
    dataBytes:
      dataBytes && Buffer.from(dataBytes, 'base64').equals(rebuilt) ? Buffer.from(dataBytes, 'base64') : rebuilt,
    hash: fromHex(hash),
    signature: Buffer.from(signature, 'base64'),
    signer: fromHex(signer),
  }
}

/** Source: snapchain, `FarcasterNetwork` of `proto/definitions/message.proto`. */
const networks = {
  FARCASTER_NETWORK_NONE: 0,
  FARCASTER_NETWORK_MAINNET: 1,
  FARCASTER_NETWORK_TESTNET: 2,
  FARCASTER_NETWORK_DEVNET: 3,
} as const

const protocols = { PROTOCOL_ETHEREUM: 0, PROTOCOL_SOLANA: 1 } as const

/** Source: snapchain, `UserDataType` of `proto/definitions/message.proto`. */
const userDataTypes = {
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

const reactionTypes = { REACTION_TYPE_LIKE: 1, REACTION_TYPE_RECAST: 2 } as const

function bodyOf(data: z.infer<typeof signedMessage>['data']): MessageBody | undefined {
  const add = data.verificationAddAddressBody ?? data.verificationAddEthAddressBody
  if (add) {
    const protocol = numberOf(protocols, add.protocol ?? 'PROTOCOL_ETHEREUM')
    const signature = add.claimSignature ?? add.ethSignature
    if (protocol !== protocols.PROTOCOL_ETHEREUM || signature === undefined) return undefined
    if (!/^0x[0-9a-fA-F]{40}$/.test(add.address) || !/^0x[0-9a-fA-F]{64}$/.test(add.blockHash)) return undefined
    return {
      kind: 'verification_add',
      address: fromHex(add.address),
      claimSignature: Buffer.from(signature, 'base64'),
      blockHash: fromHex(add.blockHash),
      verificationType: add.type ?? add.verificationType ?? 0,
      chainId: add.chainId ?? 0,
      protocol,
    }
  }
  if (data.verificationRemoveBody) {
    const { address, protocol: name } = data.verificationRemoveBody
    const protocol = numberOf(protocols, name ?? 'PROTOCOL_ETHEREUM')
    if (protocol === undefined || !/^0x[0-9a-fA-F]{40}$/.test(address)) return undefined
    return { kind: 'verification_remove', address: fromHex(address), protocol }
  }
  if (data.userDataBody) {
    const userDataType = numberOf(userDataTypes, data.userDataBody.type)
    return userDataType === undefined
      ? undefined
      : { kind: 'user_data', type: userDataType, value: data.userDataBody.value }
  }
  if (data.keyAddBody) return { kind: 'key_add', ...data.keyAddBody, metadata: data.keyAddBody.metadata ?? nothing }
  if (data.keyRemoveBody) return { kind: 'key_remove', ...data.keyRemoveBody }
  if (data.reactionBody) {
    const reaction = numberOf(reactionTypes, data.reactionBody.type)
    const { fid, hash } = data.reactionBody.targetCastId
    return reaction === undefined
      ? undefined
      : { kind: 'reaction', type: reaction, targetFid: fid, targetHash: fromHex(hash) }
  }
  return undefined
}

const nothing = new Uint8Array()

function numberOf(numbers: Readonly<Record<string, number>>, name: string): number | undefined {
  return Object.hasOwn(numbers, name) ? numbers[name] : undefined
}

function fromHex(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex')
}

function fromBase64(text: string): Buffer {
  return Buffer.from(text, 'base64')
}
