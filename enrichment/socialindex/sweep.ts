import type pg from 'pg'
import { liveAddresses, lockVerifications, type VerifiedSet } from '../../db/queries/join/verified-addresses.ts'
import { moveCursor, readCursor } from '../../db/queries/sources/cursors.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import type { SocialIndex } from '../../social/social-index.ts'
import { sources } from '../../sources.ts'
import { LeaseLost, numberOf, type Source } from '../schedule/source.ts'
import { type SocialSourceOptions, storeVerifiedSet } from './fids.ts'

/** Accounts asked for at once, where they cannot be asked for in bulk. */
const together = 4

/**
 * Walks over all FIDs of a shard and stores what they verify, whoever they are: a token may come to any address later.
 * A page and the cursor behind it are one transaction; the empty cursor is the beginning.
 */
export function socialSweep({ pool, social, host, now }: SocialSourceOptions): Source {
  return {
    ...sources.sweep,
    host,

    async read([subject]) {
      const shard = numberOf(subject!)
      const from = (await readCursor(pool, sources.sweep.name, shard)) ?? ''
      const page = await pageOf(social, shard, from)
      const sets = page ? await changedSets(pool, social, page.fids, now) : []
      const to = page?.nextPageToken ?? ''
      return {
        outcome: page ? 'ok' : 'begun_anew',
        async write(db) {
          const move = { source: sources.sweep.name, shard, from, to, now: now() }
          if (!(await moveCursor(db, move))) throw new LeaseLost(`the sweep of shard ${shard} went on from elsewhere`)
          await lockVerifications(
            db,
            sets.map(({ fid }) => fid),
          )
          for (const set of sets) await storeVerifiedSet(db, { ...set, now: now() })
          return to === '' && page ? sources.sweep.cadenceMs.all : 0
        },
      }
    },
  }
}

/** Undefined: the hub does not know the page any more, so the sweep begins anew. */
async function pageOf(social: SocialIndex, shard: number, token: string) {
  try {
    return await social.fids(shard, token || undefined)
  } catch (error) {
    if (token !== '' && error instanceof NoAnswer && error.failure === 'refused') return undefined
    throw error
  }
}

/**
 * The sets of FIDs that may differ from what is stored. Where the host answers in bulk, only those that do are read one
 * by one, for the times of their verifications.
 */
async function changedSets(
  pool: pg.Pool,
  social: SocialIndex,
  fids: readonly number[],
  now: () => Date,
): Promise<Omit<VerifiedSet, 'now'>[]> {
  if (fids.length === 0) return []
  const bulk = await social.verifiedSets(fids)
  const stored = await liveAddresses(pool, fids)
  const same = (fid: number) => {
    const found = bulk?.get(fid)
    return found !== undefined && found.toSorted().join() === (stored.get(fid) ?? []).join()
  }
  const open = fids.filter((fid) => !same(fid))
  const sets: Omit<VerifiedSet, 'now'>[] = []
  for (let start = 0; start < open.length; start += together) {
    const some = open.slice(start, start + together)
    const askedAt = now()
    const answers = await Promise.all(some.map((fid) => social.verifications(fid)))
    sets.push(...some.map((fid, index) => ({ fid, live: answers[index]!, askedAt })))
  }
  return sets
}
