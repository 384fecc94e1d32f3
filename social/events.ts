import { z } from 'zod'
import {
  followedFid,
  type Message,
  message,
  messageTime,
  networkTime,
  otherAddress,
  verifiedAddress,
} from './messages.ts'
import { isUserName, profilePart } from './profile.ts'
import type { EventPage, SocialChange } from './social-index.ts'

const proof = z.object({ fid: z.int().positive() }).nullish()

/** Removals carry no type of key. Source: snapchain `src/network/http_server.rs`. */
const onChainEvent = z.object({
  fid: z.int().positive(),
  signerEventBody: z.object({ eventType: z.string() }).nullish(),
})

const event = z.object({
  type: z.string(),
  id: z.int().nonnegative(),
  blockNumber: z.int().nullish(),
  blockConfirmedBody: z.object({ timestamp: z.int().nonnegative() }).nullish(),
  mergeMessageBody: z.object({ message, deletedMessages: z.array(message).nullish() }).nullish(),
  revokeMessageBody: z.object({ message }).nullish(),
  pruneMessageBody: z.object({ message }).nullish(),
  mergeOnChainEventBody: z.object({ onChainEvent }).nullish(),
  mergeUsernameProofBody: z.object({ usernameProof: proof, deletedUsernameProof: proof }).nullish(),
})
type HubEvent = z.infer<typeof event>

/** An event of unknown shape: its id is enough to move the cursor past it. */
const numbered = z.object({ id: z.int().nonnegative() })
const aboutSomebody = z.object({ message: z.object({ data: z.object({ fid: z.int().positive() }) }) })
const bodies = ['mergeMessageBody', 'revokeMessageBody', 'pruneMessageBody'] as const

/**
 * Answer of `/v1/events`. Ids grow within a shard; the block number stands above the lowest 14 bits. Events are parsed
 * one by one later, so that one that is not understood does not hide those around it.
 */
export const eventPage = z.object({ events: z.array(z.unknown()) })

const idsPerBlock = 2 ** 14

/** Lowest id that an event of the block can have. */
export function firstIdOfBlock(block: number): number {
  return block * idsPerBlock
}

/** Lowest id that an event can have in the block that is `blocks` after the block of event `id`. */
export function firstIdBehind(id: number, blocks: number): number {
  return firstIdOfBlock(Math.floor(id / idsPerBlock) + blocks)
}

/**
 * What a page of events changes, in their order. A verification ends by a removal message, by being named among the
 * messages that a merge deleted, by the revocation of its signer, or by pruning: there is no other trace of the last
 * three. Time of an event: its block's confirmation, when the page has it; else the merged message's; else `now`.
 *
 * What is not understood becomes `unreadable`, with the FID it is about where that can be told. Throws when not one of the
 * page's events has an id, because the cursor could not move past it.
 */
export function toChanges(answered: readonly unknown[], from: number, pageSize: number, now: Date): EventPage {
  const understood = answered.map((one) => event.safeParse(one).data)
  const ids = answered.flatMap((one) => numbered.safeParse(one).data?.id ?? [])
  if (answered.length > 0 && ids.length === 0) throw new Error('events without an id')
  const blockTimes = new Map<number, Date>()
  for (const { blockNumber, blockConfirmedBody } of understood.filter((one) => one !== undefined)) {
    if (blockNumber != null && blockConfirmedBody)
      blockTimes.set(blockNumber, networkTime(blockConfirmedBody.timestamp))
  }
  const changes = answered.flatMap((one, index): SocialChange[] => {
    const event = understood[index]
    if ((event?.id ?? numbered.safeParse(one).data?.id ?? from) < from) return []
    try {
      return event ? changesOf(event, blockTimes.get(event.blockNumber ?? -1), now) : [unreadable(one)]
    } catch {
      return [unreadable(one)]
    }
  })
  return {
    changes,
    next: ids.reduce((next, id) => Math.max(next, id + 1), from),
    more: answered.length >= pageSize && ids.some((id) => id >= from),
    newestBlockAt: [...blockTimes.values()].reduce<Date | undefined>(
      (newest, at) => (newest && newest > at ? newest : at),
      undefined,
    ),
  }
}

function unreadable(event: unknown): SocialChange {
  const given = event as Partial<Record<string, unknown>> | null
  const fids = bodies.flatMap((body) => aboutSomebody.safeParse(given?.[body]).data?.message.data.fid ?? [])
  return { kind: 'unreadable', fid: fids[0] }
}

function changesOf(event: HubEvent, blockTime: Date | undefined, now: Date): SocialChange[] {
  const merged = event.mergeMessageBody
  if (merged) {
    const { message } = merged
    const at = blockTime ?? messageTime(message)
    const target = followedFid(message, 'added') ?? followedFid(message, 'removed')
    const replaced = (one: Message) =>
      (isUserData(one.data.type) && isUserData(message.data.type)) ||
      (target !== undefined && followedFid(one, 'added') === target)
    const deleted = (merged.deletedMessages ?? []).filter((one) => !replaced(one)).flatMap((one) => lostWith(one, at))
    return [
      ...deleted,
      ...broughtBy(message, at),
      { kind: 'activity', fid: message.data.fid, at: messageTime(message) },
    ]
  }
  const gone = event.revokeMessageBody?.message ?? event.pruneMessageBody?.message
  if (gone) return lostWith(gone, blockTime ?? now)
  const onChain = event.mergeOnChainEventBody?.onChainEvent
  if (onChain?.signerEventBody && /REMOVE$/i.test(onChain.signerEventBody.eventType)) {
    return [{ kind: 'key_removed', fid: onChain.fid }]
  }
  const { usernameProof, deletedUsernameProof } = event.mergeUsernameProofBody ?? {}
  return [usernameProof, deletedUsernameProof].flatMap((proof) =>
    proof ? [{ kind: 'unknown_profile', fid: proof.fid }] : [],
  )
}

/** Changes when a hub merges a message, which is live from then on. */
function broughtBy(message: Message, at: Date): SocialChange[] {
  const { fid } = message.data
  const added = verifiedAddress(message, 'added')
  if (added) return [{ kind: 'verified', fid, address: added, verifiedAt: messageTime(message), at, message }]
  const removed = verifiedAddress(message, 'removed')
  if (removed) return [{ kind: 'unverified', fid, address: removed, at: messageTime(message), message }]
  if (otherAddress(message)) return [{ kind: 'unknown_profile', fid }]
  const target = followedFid(message, 'added')
  if (target) return [{ kind: 'follow', fid, target, follows: true, at: messageTime(message) }]
  const left = followedFid(message, 'removed')
  if (left) return [{ kind: 'follow', fid, target: left, follows: false, at: messageTime(message) }]
  // This message replaces all links so far, perhaps thousands; few accounts have ever sent one.
  if (message.data.type === 'MESSAGE_TYPE_LINK_COMPACT_STATE') return [{ kind: 'unknown_follows', fid }]
  if (message.data.type === keyAdd || message.data.type === keyRemove) return [{ kind: 'key_message', fid, message }]
  if (!isUserData(message.data.type)) return []
  const part = profilePart(message)
  if (part) return [{ kind: 'profile', fid, ...part }]
  return isUserName(message) ? [{ kind: 'unknown_profile', fid }] : []
}

/** Changes when a hub deletes a message: what it said no longer holds. Deleting a removal restores nothing. */
function lostWith(message: Message, at: Date): SocialChange[] {
  const { fid } = message.data
  const address = verifiedAddress(message, 'added')
  if (address) return [{ kind: 'unverified', fid, address, verifiedAt: messageTime(message), at }]
  // Nobody signed that: the hub's list says whether it is so.
  if (followedFid(message, 'added')) return [{ kind: 'unknown_follows', fid }]
  return isUserData(message.data.type) || otherAddress(message) ? [{ kind: 'unknown_profile', fid }] : []
}

const keyAdd = 'MESSAGE_TYPE_KEY_ADD'
const keyRemove = 'MESSAGE_TYPE_KEY_REMOVE'

function isUserData(type: string): boolean {
  return type === 'MESSAGE_TYPE_USER_DATA_ADD'
}
