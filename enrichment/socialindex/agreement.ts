import { sources } from '../../config/sources.ts'
import type { Queryable } from '../../db/pool.ts'
import { newestFids } from '../../db/queries/agents/newest-agents.ts'
import { readCursor } from '../../db/queries/sources/cursors.ts'
import { liveMessages } from '../../db/queries/sources/witnesses.ts'
import { firstIdBehind } from '../../social/events.ts'
import type { Network, SocialIndex } from '../../social/social-index.ts'
import { messageHashOf } from '../../social/witness.ts'

/** Agents whose messages another hub must know before it is followed: more than half of those that have any. */
const agentsAsked = 5
/** Most blocks, of a second each, by which it may be behind what was read. */
const mostBehind = 60

/**
 * Why the events of a hub do not agree with those that were read from another one, so that it cannot be followed in its
 * place; undefined: they do. Ids of events are the network's, not a hub's: it must know the last one read of each shard
 * by its id, and messages that the newest agents rest on. Throws NoAnswer.
 */
export async function whyDisagreeing(
  db: Queryable,
  hub: Pick<SocialIndex, 'events' | 'verifications'>,
  { shards }: Network,
  now: Date,
): Promise<string | undefined> {
  for (const { shard, head } of shards) {
    const position = Number((await readCursor(db, sources.events.name, shard)) ?? 0)
    if (position > firstIdBehind(head, mostBehind)) return `it has not come to event ${position} of shard ${shard} yet`
    const isAfterEvent = position !== firstIdBehind(position, 0) // else nothing was read of the block yet
    if (isAfterEvent && (await hub.events(shard, position - 1, now, 1)).next !== position)
      return `it does not know event ${position - 1} of shard ${shard}`
  }
  let known = 0
  let lacking = 0
  for (const fid of await newestFids(db, agentsAsked)) {
    const messages = await liveMessages(db, fid)
    if (messages.length === 0) continue
    const hashes = new Set((await hub.verifications(fid)).map(({ message }) => messageHashOf(message)))
    if (messages.every((hash) => hashes.has(hash))) known++
    else lacking++
  }
  return lacking > known ? `it lacks messages of ${lacking} of the ${lacking + known} newest agents` : undefined
}
