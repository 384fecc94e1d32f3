import type { Queryable } from '../../db/pool.ts'
import {
  endVerification,
  listedAmong,
  lockVerifications,
  openVerification,
  replaceVerification,
} from '../../db/queries/join/verified-addresses.ts'
import { moveCursor, readCursor } from '../../db/queries/sources/cursors.ts'
import { noteActivity } from '../../db/queries/sources/social-profiles.ts'
import { askForSubjects } from '../../db/queries/sources/source-state.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import { day } from '../../ops/time.ts'
import type { EventPage, SocialChange } from '../../social/social-index.ts'
import { sources } from '../../sources.ts'
import { LeaseLost, numberOf, type Reading, type Source } from '../schedule/source.ts'
import type { SocialSourceOptions } from './fids.ts'
import { beginAnew } from './shards.ts'

/** Hubs forget events after three days; what happened before has to be found by a sweep. */
const keptMs = 3 * day

export interface EventOptions extends SocialSourceOptions {
  readonly sweeps: boolean
  readonly pollMs: number
}

/** Follows what happens in a shard: a page of events and the cursor behind it are one transaction. */
export function socialEvents({ pool, social, host, now, sweeps, pollMs }: EventOptions): Source {
  async function restart(shard: number, position: number): Promise<Reading | undefined> {
    const found = (await social.shards()).find((one) => one.shard === shard)
    if (!found || found.head === position) return undefined
    return {
      outcome: 'begun_anew',
      async write(db) {
        await beginAnew(db, { ...found, sweeps, now: now() })
        return 0
      },
    }
  }

  return {
    ...sources.events,
    retry: { ...sources.events.retry, baseMs: Math.max(sources.events.retry.baseMs, pollMs) },
    host,

    async read([subject]) {
      const shard = numberOf(subject!)
      const position = Number(await readCursor(pool, sources.events.name, shard))
      const { lastSuccessAt } = subject!
      if (lastSuccessAt && now().getTime() - lastSuccessAt.getTime() > keptMs) {
        const anew = await restart(shard, position)
        if (anew) return anew
      }
      try {
        const page = await social.events(shard, position, now())
        return { outcome: 'ok', write: (db) => storePage(db, { shard, position, page, now: now(), pollMs }) }
      } catch (error) {
        if (!(error instanceof NoAnswer && error.failure === 'refused')) throw error
        const anew = await restart(shard, position)
        if (!anew) throw error
        return anew
      }
    },
  }
}

interface PageInHand {
  readonly shard: number
  readonly position: number
  readonly page: EventPage
  readonly now: Date
  readonly pollMs: number
}

async function storePage(db: Queryable, { shard, position, page, now, pollMs }: PageInHand): Promise<number> {
  if (page.next !== position) {
    const move = { source: sources.events.name, shard, from: String(position), to: String(page.next), now }
    if (!(await moveCursor(db, move))) throw new LeaseLost(`events of shard ${shard} went on from elsewhere`)
    await storeChanges(db, page.changes, now)
  }
  return page.more ? 0 : pollMs
}

/** Verifications are applied as reported; accounts of the index that changed are read anew besides, which heals the rest. */
async function storeChanges(db: Queryable, changes: readonly SocialChange[], now: Date) {
  const verifications = changes.filter((change) => change.kind === 'verified' || change.kind === 'unverified')
  await lockVerifications(
    db,
    verifications.map(({ fid }) => fid),
  )
  for (const change of verifications) {
    if (change.kind === 'unverified') await endVerification(db, { ...change, now })
    else {
      await replaceVerification(db, { ...change, now })
      await openVerification(db, { ...change, now })
    }
  }
  await noteActivity(
    db,
    changes.filter((change) => change.kind === 'activity'),
  )
  const changed = changes.filter(({ kind }) => kind !== 'activity').map(({ fid }) => fid)
  const listed = await listedAmong(db, [...new Set(changed)])
  const subjects = listed.map((fid) => `fid:${fid}`)
  await askForSubjects(db, sources.fids.name, subjects, { priority: 2, dueAt: now })
}
