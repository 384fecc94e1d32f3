import { sources } from '../../config/sources.ts'
import type { Queryable } from '../../db/pool.ts'
import { lockFollows, storeFollows } from '../../db/queries/edges/edges.ts'
import { endLeases } from '../../db/queries/sources/source-state.ts'
import { mostFollows } from '../../social/hub.ts'
import type { FollowChange } from '../../social/social-index.ts'
import { numberOf, type Source } from '../schedule/source.ts'
import type { SocialSourceOptions } from './fids.ts'

/** Source that reads all follows of an agent; between reads `applyFollows` keeps them up to date. */
export function socialFollows({ social, host }: Pick<SocialSourceOptions, 'social' | 'host'>): Source {
  return {
    ...sources.follows,
    host,

    async read([subject]) {
      const fid = numberOf(subject!)
      const follows = await social.follows(fid)
      return {
        outcome: follows.length > 0 ? 'ok' : 'empty',
        async write(db) {
          await storeFollows(db, { fid, follows })
          return sources.follows.cadenceMs.all
        },
      }
    },
  }
}

/**
 * Applies follow events, in their order, to accounts whose follows have been read; those of others are not kept. A read
 * in flight may be older than the events, so it is not stored and begins again.
 */
export async function applyFollows(db: Queryable, changes: readonly FollowChange[], now: Date): Promise<void> {
  if (changes.length === 0) return
  const fids = [...new Set(changes.map(({ fid }) => fid))]
  for (const { fid, follows: known } of await lockFollows(db, fids)) {
    const since = new Map(known.map((one) => [one.fid, one.at]))
    for (const { target, follows, at } of changes.filter((change) => change.fid === fid)) {
      if ((since.get(target) ?? at) > at) continue
      if (follows) since.set(target, at)
      else since.delete(target)
    }
    const newest = [...since]
      .map(([target, at]) => ({ fid: target, at }))
      .sort((one, other) => other.at.getTime() - one.at.getTime())
    await storeFollows(db, { fid, follows: newest.slice(0, mostFollows) })
  }
  const subjects = fids.map((fid) => `fid:${fid}`)
  await endLeases(db, sources.follows.name, subjects, { dueAt: now })
}
