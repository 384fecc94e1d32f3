import type pg from 'pg'
import { readChains } from '../../config/chains.file.ts'
import { sources } from '../../config/sources.ts'
import { markHoldersUnknownTo } from '../../db/queries/agents/holders.ts'
import { addSubjects } from '../../db/queries/sources/source-state.ts'
import { readConfig } from '../../enrichment/config.ts'
import { createSources } from '../../enrichment/installed-sources.ts'
import { refreshCounts } from '../../enrichment/periodic/rollup.ts'
import { runPass } from '../../enrichment/schedule/scheduler.ts'
import { hubSubject } from '../../enrichment/socialindex/shards.ts'
import { runJoin } from '../derive/passes.ts'
import type { TestDatabase } from './database.ts'

/** A clock that only tests move. */
export interface Clock {
  now(): Date
  /** Advances the clock by `ms` and returns the new time. */
  pass(ms: number): Date
}

export function createClock(start: string): Clock {
  let time = Date.parse(start)
  return {
    now: () => new Date(time),
    pass(ms) {
      time += ms
      return new Date(time)
    },
  }
}

/** The enrichment job without its process: the same sources and passes, on the test's clock. */
export interface EnrichmentJob {
  /** Runs passes of all sources until nothing is due and nothing waits to be joined. */
  run(): Promise<void>
  /** Runs one pass of one source; returns the outcomes of its reads. */
  pass(source: string): Promise<readonly string[]>
  join(): Promise<void>
  counts(): Promise<void>
  /** Why the hub is not trusted; undefined: it is. */
  hubDoubt(): Promise<string | undefined>
  /** Host of the hub that is followed, as metrics name it. */
  hubFollowed(): string
  /** Requests sent to the hub so far. */
  hubRequests(): number
  /** Error messages so far. */
  readonly failures: string[]
  close(): Promise<void>
}

interface JobOptions {
  readonly database: TestDatabase
  readonly clock: Clock
  readonly env: Record<string, string>
  /** Random numbers for jitter and backoff; default: the middle of the range. */
  readonly random?: () => number
  /** Names of the sources that are asked about every agent; default: none. */
  readonly perAgent?: readonly string[]
  /** Rate limit of the hub in requests a second, on the machine's clock; default: that of a configured hub. */
  readonly hubPace?: number
}

const mostRounds = 200

export async function startJob(options: JobOptions): Promise<EnrichmentJob> {
  const { database, clock, env, random = () => 0.5, perAgent = [], hubPace } = options
  const { pool } = database
  const named = readConfig(env)
  const config = { ...named, hub: { ...named.hub, requestsPerSecond: hubPace ?? named.hub.requestsPerSecond } }
  const chains = readChains({ env })
  const { installed, hosts, lookups, hubDoubt, hubFollowed, close } = createSources({
    config,
    chains,
    pool,
    now: clock.now,
  })
  const failures: string[] = []
  const failed = (source: string, _: readonly string[], error: Error) => failures.push(`${source}: ${error.message}`)
  const pass = { pool, now: clock.now, random, failed }
  const join = { pool, now: clock.now, settlementOverloads: config.settlementOverloads, lookups, perAgent }
  await addSubjects(pool, sources.shards.name, [hubSubject], { priority: 0, dueAt: clock.now() })
  if (lookups) await markHoldersUnknownTo(pool, sources.lookup.name)

  return {
    failures,

    async run() {
      for (let round = 0; round < mostRounds; round++) {
        let work = await runJoin(join)
        const due = await sourcesDue(pool, clock.now())
        for (const source of installed) if (due.has(source.name)) work += (await runPass(source, pass)).leased
        if (work === 0) return
      }
      throw new Error(`the job is not done after ${mostRounds} rounds; failures: ${failures.slice(-3).join('; ')}`)
    },

    async pass(name) {
      const source = installed.find((one) => one.name === name)
      if (!source) throw new Error(`${name} is not on`)
      return (await runPass(source, pass)).outcomes
    },

    async join() {
      while ((await runJoin(join)) > 0);
    },

    async counts() {
      await refreshCounts(join)
    },
    hubDoubt,
    hubFollowed,
    hubRequests: () => hosts.find(({ name }) => name === 'hub')!.sent.count,
    close,
  }
}

/** Names of the sources with due subjects, in one query: asking each source is most of the cost of an idle round. */
async function sourcesDue(pool: pg.Pool, now: Date): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ source: string }>({
    name: 'sources-due',
    text: 'select distinct source from source_state where due_at <= $1',
    values: [now],
  })
  return new Set(rows.map(({ source }) => source))
}
