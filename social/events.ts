import { z } from 'zod'
import { type Message, message, messageTime, networkTime, verifiedAddress } from './messages.ts'
import type { EventPage, SocialChange } from './social-index.ts'

const proof = z.object({ fid: z.int().positive() }).nullish()

const event = z.object({
  type: z.string(),
  id: z.int().nonnegative(),
  blockNumber: z.int().nullish(),
  blockConfirmedBody: z.object({ timestamp: z.int().nonnegative() }).nullish(),
  mergeMessageBody: z.object({ message, deletedMessages: z.array(message).nullish() }).nullish(),
  revokeMessageBody: z.object({ message }).nullish(),
  pruneMessageBody: z.object({ message }).nullish(),
  mergeUsernameProofBody: z.object({ usernameProof: proof, deletedUsernameProof: proof }).nullish(),
})
type HubEvent = z.infer<typeof event>

/** `/v1/events`. Ids grow within a shard; the block number stands above the lowest 14 bits. */
export const eventPage = z.object({ events: z.array(event) })

const idsPerBlock = 2 ** 14

/** Id of the first event that a block can have. */
export function firstIdOfBlock(block: number): number {
  return block * idsPerBlock
}

/**
 * What a page of events changes, in their order. A verification ends by a removal message, by being named among the
 * messages that a merge deleted, by the revocation of its signer, or by pruning: there is no other trace of the last
 * three. Time of an event: its block's confirmation, when the page has it; else the merged message's; else `now`.
 *
 * Throws when a verification has a shape that is not known.
 */
export function toChanges(events: readonly HubEvent[], from: number, pageSize: number, now: Date): EventPage {
  const blockTimes = new Map<number, Date>()
  for (const { blockNumber, blockConfirmedBody } of events) {
    if (blockNumber != null && blockConfirmedBody)
      blockTimes.set(blockNumber, networkTime(blockConfirmedBody.timestamp))
  }
  const fresh = events.filter(({ id }) => id >= from)
  return {
    changes: fresh.flatMap((event) => changesOf(event, blockTimes.get(event.blockNumber ?? -1), now)),
    next: fresh.reduce((next, { id }) => Math.max(next, id + 1), from),
    more: events.length >= pageSize,
  }
}

function changesOf(event: HubEvent, blockTime: Date | undefined, now: Date): SocialChange[] {
  const merged = event.mergeMessageBody
  if (merged) {
    const { message } = merged
    const at = blockTime ?? messageTime(message)
    const deleted = (merged.deletedMessages ?? []).flatMap((message) => lostWith(message, at))
    return [
      ...deleted,
      ...broughtBy(message, at),
      { kind: 'activity', fid: message.data.fid, at: messageTime(message) },
    ]
  }
  const gone = event.revokeMessageBody?.message ?? event.pruneMessageBody?.message
  if (gone) return lostWith(gone, blockTime ?? now)
  const { usernameProof, deletedUsernameProof } = event.mergeUsernameProofBody ?? {}
  return [usernameProof, deletedUsernameProof].flatMap((proof) => (proof ? [{ kind: 'profile', fid: proof.fid }] : []))
}

/** What a message that is live now says. */
function broughtBy(message: Message, at: Date): SocialChange[] {
  const { fid } = message.data
  const added = verifiedAddress(message, 'added')
  if (added) return [{ kind: 'verified', fid, address: added, verifiedAt: messageTime(message), at }]
  const removed = verifiedAddress(message, 'removed')
  if (removed) return [{ kind: 'unverified', fid, address: removed, at: messageTime(message) }]
  return profileChange(message)
}

/** What is not so any more once a message is gone. A removal that is gone brings nothing back. */
function lostWith(message: Message, at: Date): SocialChange[] {
  const address = verifiedAddress(message, 'added')
  if (!address) return profileChange(message)
  return [{ kind: 'unverified', fid: message.data.fid, address, verifiedAt: messageTime(message), at }]
}

function profileChange({ data }: Message): SocialChange[] {
  return data.type === 'MESSAGE_TYPE_USER_DATA_ADD' ? [{ kind: 'profile', fid: data.fid }] : []
}
