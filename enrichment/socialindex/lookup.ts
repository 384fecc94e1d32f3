import { addSubjects } from '../../db/queries/sources/source-state.ts'
import { mostAddressesInBulk, type SocialIndex } from '../../social/social-index.ts'
import { day, minute, type Source, sourceNames } from '../schedule/source.ts'
import type { SocialSourceOptions } from './fids.ts'

export interface LookupOptions extends Omit<SocialSourceOptions, 'pool'> {
  readonly fidsByAddress: NonNullable<SocialIndex['fidsByAddress']>
}

/** Asks for the FIDs of holders nobody is known to verify. Who is found is read before he is believed. */
export function socialLookup({ fidsByAddress, host, now }: LookupOptions): Source {
  return {
    name: sourceNames.lookup,
    host,
    batch: mostAddressesInBulk,
    perRead: mostAddressesInBulk,
    leaseMs: minute,
    retry: { baseMs: minute, capMs: day },

    async read(subjects) {
      const found = await fidsByAddress(subjects.map(({ subject }) => subject.slice('address:'.length)))
      const fids = [...new Set([...found.values()].flat())].map((fid) => `fid:${fid}`)
      return {
        outcome: fids.length > 0 ? 'ok' : 'empty',
        async write(db) {
          await addSubjects(db, sourceNames.fids, fids, { priority: 2, dueAt: now() })
          return day
        },
      }
    },
  }
}
