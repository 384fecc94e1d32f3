import { sources } from '../../config/sources.ts'
import { addSubjects } from '../../db/queries/sources/source-state.ts'
import type { SocialIndex } from '../../social/social-index.ts'
import type { Source } from '../schedule/source.ts'
import type { SocialSourceOptions } from './fids.ts'

interface LookupOptions extends Pick<SocialSourceOptions, 'host' | 'now'> {
  readonly fidsByAddress: NonNullable<SocialIndex['fidsByAddress']>
}

/** Source that looks up the FIDs of holders that no known FID verifies. A FID found is read before it is believed. */
export function socialLookup({ fidsByAddress, host, now }: LookupOptions): Source {
  return {
    ...sources.lookup,
    host,

    async read(subjects) {
      const found = await fidsByAddress(subjects.map(({ subject }) => subject.slice('address:'.length)))
      const fids = [...new Set([...found.values()].flat())].map((fid) => `fid:${fid}`)
      return {
        outcome: fids.length > 0 ? 'ok' : 'empty',
        async write(db) {
          await addSubjects(db, sources.fids.name, fids, { priority: 2, dueAt: now() })
          return sources.lookup.cadenceMs.all
        },
      }
    },
  }
}
