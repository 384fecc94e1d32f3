import { cpus, totalmem } from 'node:os'
import type { Answered } from './beside.ts'
import type { Loaded } from './load.ts'
import type { Durations } from './operations.ts'
import { percentile } from './show.ts'

export interface Findings {
  readonly rows: number
  readonly loaded: Loaded
  readonly joinSeconds: number
  readonly rollupSeconds: number
  /** Milliseconds from a block to its rows. */
  readonly delays: readonly number[]
  readonly reorgs: number
  readonly answered: readonly Answered[]
  readonly operations: Durations
  readonly faults: Durations
  readonly longestLockMs: number
  readonly acknowledged: readonly number[]
  readonly lost: readonly number[]
  /** What of each chain is not as a clean index has it. */
  readonly differences: readonly string[]
  readonly restoreSeconds: number
}

/** Longest that a reader may wait for a lock. */
const lockLimitMs = 1_000

/** Prints the table, and as its last line one JSON object. Returns what must not be. */
export function report(found: Findings): string[] {
  const { loaded, answered, delays } = found
  const line = (what: string, value: string) => process.stdout.write(`${what.padEnd(44)} ${value}\n`)
  const ms = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(0)).padStart(7)
  const failures = answered.flatMap((one) => one.failures)
  line('', `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB`)
  line('rows loaded; a second', `${loaded.rows}; ${loaded.rowsPerSecond}`)
  line('bytes a row; of the write-ahead log', `${loaded.bytesPerRow}; ${loaded.walBytesPerRow}`)
  line('memory of the load at most', `${loaded.peakMegabytes} MB`)
  line('sweep and join; all summed up', `${found.joinSeconds.toFixed(1)} s; ${found.rollupSeconds.toFixed(1)} s`)
  line('reorgs', String(found.reorgs))
  line('block to row, ms: p50, p95', `${ms(percentile(delays, 50))} ${ms(percentile(delays, 95))}`)
  for (const [what, seconds] of Object.entries({ ...found.operations, ...found.faults }))
    line(what, `${seconds.toFixed(1)} s`)
  line('restored and checked', `${found.restoreSeconds.toFixed(1)} s`)
  line('answers, ms: p50, p99, p99.9', '')
  for (const { route, milliseconds } of answered) {
    line(`  ${route}`, [50, 99, 99.9].map((percent) => ms(percentile(milliseconds, percent))).join(' '))
  }
  line('longest that a reader waited for a lock', `${found.longestLockMs.toFixed(0)} ms`)
  const wrong = [
    ...found.differences,
    ...failures,
    ...(found.longestLockMs >= lockLimitMs ? [`a reader waited ${found.longestLockMs.toFixed(0)} ms for a lock`] : []),
    ...(found.acknowledged.length === 0 ? ['no claim was acknowledged'] : []),
    ...found.lost.map((fid) => `the acknowledged claim of fid ${fid} is gone`),
  ]
  const figures = {
    bench: 'rehearsal',
    asked: found.rows,
    ...loaded,
    join_seconds: found.joinSeconds,
    rollup_seconds: found.rollupSeconds,
    reorgs: found.reorgs,
    delay_p50_ms: percentile(delays, 50),
    delay_p95_ms: percentile(delays, 95),
    answers: answered.reduce((sum, { milliseconds }) => sum + milliseconds.length, 0),
    operations: found.operations,
    faults: found.faults,
    restore_seconds: found.restoreSeconds,
    differing: found.differences.length,
    answers_5xx: failures.length,
    longest_lock_ms: found.longestLockMs,
    claims: found.acknowledged.length,
    claims_lost: found.lost.length,
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
  return wrong
}
