import { z } from 'zod'
import type { Address } from './social-index.ts'

/** Unix seconds of 2021-01-01T00:00:00Z, from which the network counts. */
const epochSeconds = 1_609_459_200

const fid = z.int().positive()
const ethereum = 'PROTOCOL_ETHEREUM'

/**
 * Body of a verification. A Solana address (base58 text) stands in the same field as an Ethereum one. Hubs of 2024
 * called `type` `verificationType`; the oldest body has neither, because it knew keys only.
 */
const verificationBody = z.looseObject({
  address: z.string(),
  protocol: z.string().default(ethereum),
  type: z.int().nonnegative().nullish(),
  verificationType: z.int().nonnegative().nullish(),
  chainId: z.int().nonnegative().nullish(),
})

const data = z.looseObject({
  type: z.string(),
  fid,
  timestamp: z.int().nonnegative().max(0xffff_ffff),
  /** Body of an addition, under its name on current nodes; the next field has the name of older hubs and documents. */
  verificationAddAddressBody: verificationBody.nullish(),
  verificationAddEthAddressBody: verificationBody.nullish(),
  verificationRemoveBody: verificationBody.nullish(),
  linkBody: z.object({ type: z.string(), targetFid: fid }).nullish(),
  userDataBody: z.object({ type: z.string(), value: z.string() }).nullish(),
})

/** A signed message, kept whole: its signature covers fields that are not read here. */
export const message = z.looseObject({ data })
export type Message = z.infer<typeof message>

export const messagePage = z.object({ messages: z.array(message), nextPageToken: z.string().nullish() })
/** Page of FIDs; entries that are not FIDs are left out. */
export const fidPage = z.object({
  fids: z.array(z.unknown()).transform((given) => given.flatMap((one) => fid.safeParse(one).data ?? [])),
  nextPageToken: z.string().nullish(),
})
/** Proof of a user name; what of it is signed may be absent, or be of a kind that is not known here. */
export const nameProof = z.object({
  name: z.string(),
  fid,
  owner: z.string().catch(''),
  signature: z.string().catch(''),
  timestamp: z.int().nonnegative().catch(0),
})
/** Most shards that a hub can have: a list of them all is made. */
const mostShards = 1_024
const total = z.int().nonnegative().nullish()
/** Answer of `/v1/info`. Hubble reports neither shards nor delays; the count of registrations has two names. */
export const hubInfo = z.object({
  isSyncing: z.boolean().nullish(),
  dbStats: z.object({ numMessages: total, numFidRegistrations: total, numFidEvents: total }).nullish(),
  numShards: z.int().nonnegative().max(mostShards).nullish(),
  shardInfos: z
    .array(z.object({ shardId: z.int().nonnegative(), maxHeight: z.int().nonnegative(), blockDelay: total }))
    .nullish(),
})

/** The hash that a message names, 0x hex; null: none of the right form. */
export function hashOf({ hash }: Message): string | null {
  return typeof hash === 'string' && /^0x[0-9a-f]{40}$/.test(hash) ? hash : null
}

export function messageTime({ data }: Message): Date {
  return networkTime(data.timestamp)
}

export function networkTime(seconds: number): Date {
  return new Date((epochSeconds + seconds) * 1000)
}

/**
 * The address that a verification message adds or removes; undefined when the message is about something else or about
 * another protocol. Throws when the body is missing or the address is not one: a shape nobody expected must not look like
 * an account without verifications.
 */
export function verifiedAddress({ data }: Message, kind: 'added' | 'removed'): Address | undefined {
  if (data.type !== (kind === 'added' ? verificationAdd : verificationRemove)) return undefined
  const body = kind === 'added' ? addedBody(data) : data.verificationRemoveBody
  if (!body) throw new Error(`${data.type} without a body that is known`)
  if (body.protocol !== ethereum) return undefined
  if (!/^0x[0-9a-fA-F]{40}$/.test(body.address)) throw new Error(`${data.type} of ${body.address.slice(0, 50)}`)
  return body.address.toLowerCase()
}

/** A Solana address, base58 of 32 bytes. */
const solanaAddress = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

/** The address of another protocol that a message verifies, or takes back; undefined: it does neither. */
export function otherAddress({ data }: Message): string | undefined {
  const body = data.type === verificationAdd ? addedBody(data) : data.verificationRemoveBody
  return body?.protocol === 'PROTOCOL_SOLANA' && solanaAddress.test(body.address) ? body.address : undefined
}

const addedBody = (data: Message['data']) => data.verificationAddAddressBody ?? data.verificationAddEthAddressBody

/**
 * What a message that adds a verification says the address is: null for a key (type 0, or none named), else the id of
 * the chain that has the contract wallet (type 1). 0: a contract wallet on no chain.
 */
export function contractChainId(message: Message): number | null {
  return verificationTypeOf(message) === 0 ? null : (addedBody(message.data)?.chainId ?? 0)
}

/** The same of a message as it is stored; null also when there is none. */
export function contractChainIdOf(given: unknown): number | null {
  const parsed = message.safeParse(given)
  return parsed.success ? contractChainId(parsed.data) : null
}

/** Whether a message that adds a verification says that the address is a key (type 0) or a contract wallet (type 1). */
export function isOfKnownType(given: unknown): boolean {
  const parsed = message.safeParse(given)
  return !parsed.success || verificationTypeOf(parsed.data) <= 1
}

function verificationTypeOf({ data }: Message): number {
  const { type, verificationType } = addedBody(data) ?? {}
  return type ?? verificationType ?? 0
}

/** The FID that a message follows (`added`) or unfollows (`removed`); undefined: it does something else. */
export function followedFid({ data }: Message, kind: 'added' | 'removed'): number | undefined {
  if (data.type !== (kind === 'added' ? 'MESSAGE_TYPE_LINK_ADD' : 'MESSAGE_TYPE_LINK_REMOVE')) return undefined
  return data.linkBody?.type === 'follow' ? data.linkBody.targetFid : undefined
}

/** Type of a message that adds a verification; it says ETH whatever the protocol. */
export const verificationAdd = 'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS'
const verificationRemove = 'MESSAGE_TYPE_VERIFICATION_REMOVE'
