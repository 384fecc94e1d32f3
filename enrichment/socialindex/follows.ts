import { storeFollows } from '../../db/queries/join/edges.ts'
import { sources } from '../../sources.ts'
import { numberOf, type Source } from '../schedule/source.ts'
import type { SocialSourceOptions } from './fids.ts'

/** Reads whom agents follow. */
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
