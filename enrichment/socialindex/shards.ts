import { sources } from '../../config/sources.ts'
import type { Queryable } from '../../db/pool.ts'
import { readCursor, setCursor } from '../../db/queries/sources/cursors.ts'
import { addSubjects, askForSubjects } from '../../db/queries/sources/source-state.ts'
import type { Shard } from '../../social/social-index.ts'
import type { Source } from '../schedule/source.ts'
import type { Belief } from './belief.ts'
import type { SocialSourceOptions } from './fids.ts'

/** The only subject of this source. */
export const hubSubject = 'hub'

/** Most event ids by which a cursor may exceed the head: 3,600 blocks, an hour, as nodes lag. Beyond, it restarts. */
const mostAhead = 3_600 * 2 ** 14

interface ShardOptions extends Omit<SocialSourceOptions, 'pool' | 'social'> {
  readonly belief: Belief
  /** Whether all FIDs are swept; not needed when addresses can be looked up. */
  readonly sweeps: boolean
}

/**
 * Source that asks the hub about itself and, while it is believed, starts the event stream and the sweep of each of the
 * network's shards. The stream starts before the sweep, so that changes during the sweep are not missed.
 */
export function socialShards({ belief, host, now, sweeps }: ShardOptions): Source {
  return {
    ...sources.shards,
    host,

    async read([subject]) {
      const network = await belief.look(subject!.failures)
      return {
        outcome: network ? 'ok' : 'not_believed',
        async write(db) {
          for (const shard of network?.shards ?? []) await begin(db, { ...shard, sweeps, now: now() })
          return sources.shards.cadenceMs.all
        },
      }
    },
  }
}

type Beginning = Shard & { readonly sweeps: boolean; readonly now: Date }

async function begin(db: Queryable, beginning: Beginning) {
  const { shard, head, sweeps, now } = beginning
  const position = await readCursor(db, sources.events.name, shard)
  if (position === undefined || (head > 0 && Number(position) > head + mostAhead)) return restartStream(db, beginning)
  const swept = await readCursor(db, sources.sweep.name, shard)
  if (sweeps && swept === undefined) await beginSweep(db, shard, now)
}

/** Starts the stream of a shard at its head, and a sweep for all that was before. */
export async function restartStream(db: Queryable, { shard, head, sweeps, now }: Beginning): Promise<void> {
  await setCursor(db, { source: sources.events.name, shard, to: String(head), reachedAt: now, now })
  await addSubjects(db, sources.events.name, [`shard:${shard}`], { priority: 0, dueAt: now })
  if (sweeps) await beginSweep(db, shard, now)
}

async function beginSweep(db: Queryable, shard: number, now: Date) {
  await setCursor(db, { source: sources.sweep.name, shard, to: '', now })
  await askForSubjects(db, sources.sweep.name, [`shard:${shard}`], { priority: 0, dueAt: now })
}
