import { storeFollows } from '../../db/queries/join/edges.ts'
import { day, minute, numberOf, type Source, sourceNames } from '../schedule/source.ts'
import type { SocialSourceOptions } from './fids.ts'

/** Reads whom agents follow. */
export function socialFollows({ social, host }: Pick<SocialSourceOptions, 'social' | 'host'>): Source {
  return {
    name: sourceNames.follows,
    host,
    batch: 8,
    perRead: 1,
    leaseMs: 2 * minute,
    retry: { baseMs: minute, capMs: day },

    async read([subject]) {
      const fid = numberOf(subject!)
      const follows = await social.follows(fid)
      return {
        outcome: follows.length > 0 ? 'ok' : 'empty',
        async write(db) {
          await storeFollows(db, { fid, follows })
          return day
        },
      }
    },
  }
}
