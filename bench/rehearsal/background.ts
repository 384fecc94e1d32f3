import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { eip191Claim, post } from '../../test/support/api/claims.ts'
import type { People } from './people.ts'

interface Background<T> {
  /** Stops the work and resolves with its result. Throws when it has failed. */
  stop(): Promise<T>
}

export interface Claimed {
  /** Fids whose claims the API accepted. */
  readonly acknowledged: readonly number[]
  readonly milliseconds: readonly number[]
  /** Number of refused claims by status and error code; they are retried. */
  readonly refused: Readonly<Record<string, number>>
  /** Refused claims with a status of 500 or more. */
  readonly failures: readonly string[]
}

/** Why a claim was answered with a 5xx, from the API's log. */
export interface ClaimFailure {
  readonly cause: string
  /** True: the hub, a double in this process, did not answer in time, and then the API can only answer 5xx. */
  readonly isOfHub: boolean
}

/** Longest that a statement of the API has waited for a lock on a table, and what for. */
export interface LockWait {
  readonly milliseconds: number
  /** The statement that held the lock, or waited ahead for it. */
  readonly blocker: string
}

const claimPauseMs = 1_000
const lockPauseMs = 50
/** Characters of a statement that are shown. */
const shownCharacters = 120

/** Claims for one claimant after the other, until each is acknowledged. */
export function claimMeanwhile(url: string, { claimants }: People): Background<Claimed> {
  const acknowledged: number[] = []
  const milliseconds: number[] = []
  const refused: Record<string, number> = {}
  const failures: string[] = []
  const api = { get: (path: string, init?: RequestInit) => fetch(url + path, init) }
  return repeat(
    claimPauseMs,
    async (n) => {
      const claimant = claimants[n % claimants.length]
      if (!claimant || acknowledged.includes(claimant.fid)) return
      const claim = await eip191Claim({ clock: { now: Date.now() } }, claimant)
      const began = performance.now()
      const answer = await post(api, claim)
      const body = (await answer.json()) as { error?: string }
      milliseconds.push(performance.now() - began)
      if (answer.ok) return void acknowledged.push(claimant.fid)
      const how = `${answer.status} ${body.error}`
      refused[how] = (refused[how] ?? 0) + 1
      if (answer.status >= 500) failures.push(`a claim of fid ${claimant.fid}: ${JSON.stringify(body)}`)
    },
    { acknowledged, milliseconds, refused, failures },
  )
}

/** Reads the claims answered with a 5xx from an API's log file. */
export async function claimFailures(log: string): Promise<ClaimFailure[]> {
  const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line.startsWith('{'))
  return lines.flatMap((line) => {
    const { url, err } = JSON.parse(line) as { url?: string; err?: { type: string; message: string } }
    if (!err || !url?.startsWith('/api/claim')) return []
    return [{ cause: `${err.type}: ${err.message}`, isOfHub: err.type === 'NoAnswer' }]
  })
}

/** Polls which locks statements of the API wait for, and keeps the longest wait. */
export function watchLocks(pool: pg.Pool): Background<LockWait> {
  const seen = { milliseconds: 0, blocker: '' }
  return repeat(
    lockPauseMs,
    async () => {
      const { rows } = await pool.query<LockWait>(
        `select extract(epoch from clock_timestamp() - waitstart)::float8 * 1000 as milliseconds,
                coalesce((select string_agg(left(query, $1), '; ')
                            from pg_stat_activity b where b.pid = any(pg_blocking_pids(l.pid))), '') as blocker
           from pg_locks l join pg_stat_activity a on a.pid = l.pid
          where not granted and locktype = 'relation' and application_name = 'api' and waitstart is not null
          order by waitstart limit 1`,
        [shownCharacters],
      )
      const [longest] = rows
      if (longest && longest.milliseconds > seen.milliseconds) Object.assign(seen, longest)
    },
    seen,
  )
}

/** Repeats `work` with a pause until it is stopped; then resolves with `result`. */
function repeat<T>(pauseMs: number, work: (n: number) => Promise<void>, result: T): Background<T> {
  let isOver = false
  const all = (async () => {
    for (let n = 0; !isOver; await delay(pauseMs)) await work(n++)
  })()
  all.catch(() => {}) // stop() throws the error
  return {
    async stop() {
      isOver = true
      await all
      return result
    },
  }
}
