import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { eip191Claim, post } from '../../test/support/api/claims.ts'
import type { People } from './people.ts'

/** Answers of a route. */
export interface Answered {
  readonly route: string
  readonly milliseconds: number[]
  /** With a status of 500 or more. */
  failures: string[]
}

interface Beside<T> {
  /** Ends it, and says what it saw. Throws when it has failed. */
  stop(): Promise<T>
}

const readers = 2
const readPauseMs = 40
const claimPauseMs = 500
const lockPauseMs = 50
/** Of an answer: then there was none. */
const answerMs = 60_000

/** Reads every route in turn, or those that are named, again and again, of other agents each time. */
export function readBeside(
  url: string,
  { agents }: Pick<People, 'agents'>,
  named?: readonly string[],
): Beside<Answered[]> {
  const fid = (n: number) => agents[n % agents.length]
  const routes: Record<string, (n: number) => string> = {
    profile: (n) => `/api/agent/${fid(n)}`,
    'settlements of an agent': (n) => `/api/agent/${fid(n)}/settlements?limit=50`,
    'settlements of the busiest': () => '/api/agent/1/settlements?limit=100',
    'days of an agent': (n) => `/api/agent/${fid(n)}/timeseries`,
    settlements: (n) => `/api/settlements?limit=${1 + (n % 100)}`,
    discovery: (n) => `/api/discovery?limit=${1 + (n % 30)}`,
    search: (n) => `/api/search?q=agent${n % 50}`,
    leaderboard: () => '/api/leaderboard',
    stats: () => '/api/stats',
    feed: () => '/feed.atom',
    'log of changes': () => '/data/log.ndjson?limit=100',
  }
  const answered = (named ?? Object.keys(routes)).map((route): Answered => ({ route, milliseconds: [], failures: [] }))
  return repeat(
    readers,
    readPauseMs,
    async (n) => {
      const one = answered[n % answered.length] as Answered
      const path = (routes[one.route] as (n: number) => string)(n)
      const began = performance.now()
      const answer = await fetch(url + path, { signal: AbortSignal.timeout(answerMs) })
      const body = await answer.text()
      one.milliseconds.push(performance.now() - began)
      if (answer.status >= 500) one.failures.push(`${path}: ${answer.status} ${body.slice(0, 200)}`)
    },
    answered,
  )
}

/** Claims for one claimant after the other, until each is acknowledged; the accounts whose claims were. */
export function claimBeside(url: string, { claimants }: People): Beside<number[]> {
  const acknowledged: number[] = []
  const api = { get: (path: string, init?: RequestInit) => fetch(url + path, init) }
  return repeat(
    1,
    claimPauseMs,
    async (n) => {
      const claimant = claimants[n % claimants.length]
      if (!claimant || acknowledged.includes(claimant.fid)) return
      const answer = await post(api, await eip191Claim({ clock: { now: Date.now() } }, claimant))
      await answer.text()
      if (answer.ok) acknowledged.push(claimant.fid)
    },
    acknowledged,
  )
}

/** Longest that a statement of the API has waited for a lock on a table, in milliseconds. */
export function watchLocks(pool: pg.Pool): Beside<{ longest: number }> {
  const seen = { longest: 0 }
  return repeat(
    1,
    lockPauseMs,
    async () => {
      const { rows } = await pool.query<{ ms: number }>(`
      select coalesce(max(extract(epoch from clock_timestamp() - waitstart)) * 1000, 0)::float8 as ms
        from pg_locks join pg_stat_activity using (pid)
       where not granted and locktype = 'relation' and application_name = 'api'`)
      seen.longest = Math.max(seen.longest, rows[0]?.ms ?? 0)
    },
    seen,
  )
}

/** Does something again and again, `count` times at once, until it is stopped. */
function repeat<T>(count: number, pauseMs: number, work: (n: number) => Promise<void>, result: T): Beside<T> {
  let isOver = false
  let next = 0
  const one = async () => {
    for (; !isOver; await delay(pauseMs)) await work(next++)
  }
  const all = Promise.all(Array.from({ length: count }, one))
  all.catch(() => {}) // told by stop
  return {
    async stop() {
      isOver = true
      await all
      return result
    },
  }
}
