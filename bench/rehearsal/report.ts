import { spawnSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import type { Answered } from './asks.ts'
import type { Claimed, ClaimFailure, LockWait } from './background.ts'
import type { Loaded } from './history-load.ts'
import { serverSettings } from './installation.ts'
import { memoryPeaks } from './memory.ts'
import type { Durations } from './operations.ts'
import { percentile } from './show.ts'

export interface Findings {
  readonly rows: number
  readonly loaded: Loaded
  readonly joinSeconds: number
  readonly rollupSeconds: number
  /** Milliseconds from a block on its node to its rows in the database, by what was done meanwhile. */
  readonly delays: Readonly<Record<string, readonly number[]>>
  readonly reorgs: number
  readonly settlementsPerSecond: number
  /** Reads while everything runs (`warm`), and reads without any cache (`cold`). */
  readonly warm: readonly Answered[]
  readonly cold: readonly Answered[]
  readonly operations: Durations
  readonly faults: Durations
  /** Longest lock waits during operations, and during faults, where a paused process keeps its locks. */
  readonly lockWait: LockWait
  readonly faultLockWait: LockWait
  readonly claimed: Claimed
  readonly claimFailures: readonly ClaimFailure[]
  readonly lost: readonly number[]
  /** Differences of each chain's rows from a clean index. */
  readonly differences: readonly string[]
  readonly restoreSeconds: number
}

/** Longest wait of a reader for a lock that passes, in milliseconds. */
const lockLimitMs = 1_000
const percents = [50, 99, 99.9]

/** Prints the table, and as its last line one JSON object. Returns the findings that fail the rehearsal. */
export function report(found: Findings): string[] {
  const { loaded, warm, cold, claimed, delays } = found
  const failures = [...warm, ...cold].flatMap((one) => one.failures)
  const others = Object.keys(delays).filter((what) => !(what in found.faults))
  const otherDelays = others.flatMap((what) => delays[what] ?? [])
  print(found, otherDelays)
  const figures = {
    bench: 'rehearsal',
    ...machine(),
    asked: found.rows,
    ...loaded,
    join_seconds: found.joinSeconds,
    rollup_seconds: found.rollupSeconds,
    reorgs: found.reorgs,
    head_settlements_per_second: found.settlementsPerSecond,
    delay_p50_ms: percentile(otherDelays, 50),
    delay_p95_ms: percentile(otherDelays, 95),
    peak_megabytes: Object.fromEntries(Object.entries(memoryPeaks).map(([name, bytes]) => [name, megabytes(bytes)])),
    routes: Object.fromEntries(
      warm.map(({ route }) => [route, { warm: timesOf(warm, route), cold: timesOf(cold, route) }]),
    ),
    operations: found.operations,
    faults: found.faults,
    restore_seconds: found.restoreSeconds,
    differing: found.differences.length,
    answers: [...warm, ...cold].reduce((sum, { milliseconds }) => sum + milliseconds.length, 0),
    answers_5xx: failures.length,
    longest_lock_ms: found.lockWait.milliseconds,
    longest_lock_ms_in_faults: found.faultLockWait.milliseconds,
    claims: claimed.acknowledged.length,
    claims_refused: claimed.refused,
    claims_5xx: claimed.failures,
    claims_5xx_causes: found.claimFailures.map(({ cause }) => cause),
    claims_lost: found.lost.length,
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
  const { milliseconds, blocker } = found.lockWait
  return [
    ...found.differences,
    ...failures,
    ...(milliseconds >= lockLimitMs ? [`a reader waited ${milliseconds.toFixed(0)} ms for ${blocker}`] : []),
    ...found.claimFailures.filter(({ isOfHub }) => !isOfHub).map(({ cause }) => `a claim was answered 5xx: ${cause}`),
    ...(claimed.acknowledged.length === 0 ? ['no claim was acknowledged'] : []),
    ...found.lost.map((fid) => `the acknowledged claim of fid ${fid} is gone`),
  ]
}

const line = (what: string, value: string) => process.stdout.write(`${what.padEnd(46)} ${value}\n`)
const ms = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(0)).padStart(7)
const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20)

function print(found: Findings, otherDelays: readonly number[]): void {
  const { loaded, warm, cold, claimed, delays, lockWait, faultLockWait } = found
  const { cpu, cores, memory_gb, commit, date } = machine()
  const pieces = Object.entries(loaded.pieces)
  const first = pieces[0]?.[1] ?? 0
  line('', `${cores} x ${cpu}, ${memory_gb} GB; ${JSON.stringify(serverSettings)}; ${commit}, ${date}`)
  line('rows loaded; a second; by COPY alone', `${loaded.rows}; ${loaded.rowsPerSecond}; ${loaded.copyRowsPerSecond}`)
  for (const [rows, perSecond] of pieces) {
    line(`  up to ${rows} rows, a second; of the first`, `${perSecond}; ${(perSecond / first).toFixed(2)}`)
  }
  line('bytes a row; of the write-ahead log', `${loaded.bytesPerRow}; ${loaded.walBytesPerRow}`)
  line('sweep and join; all summed up', `${found.joinSeconds.toFixed(1)} s; ${found.rollupSeconds.toFixed(1)} s`)
  line('settlements a second at the heads; reorgs', `${found.settlementsPerSecond}; ${found.reorgs}`)
  line('block to row, ms: p50, p95, most', '')
  const range = (all: readonly number[]) => [50, 95, 100].map((percent) => ms(percentile(all, percent))).join(' ')
  line('  during operations and reads', range(otherDelays))
  for (const [what, all] of Object.entries(delays)) if (what in found.faults) line(`  ${what}`, range(all))
  for (const [what, seconds] of Object.entries({ ...found.operations, ...found.faults }))
    line(what, `${seconds.toFixed(1)} s`)
  line('restored and checked', `${found.restoreSeconds.toFixed(1)} s`)
  line('memory at most', '')
  for (const [name, bytes] of Object.entries(memoryPeaks)) line(`  ${name}`, `${megabytes(bytes)} MB`)
  line('answers, ms: p50, p99, p99.9, warm and cold', '')
  for (const { route } of warm) {
    line(`  ${route}`, [...timesOf(warm, route), ...timesOf(cold, route)].map(ms).join(' '))
  }
  const whole = (all: readonly Answered[]) => {
    const times = all.flatMap(({ milliseconds }) => milliseconds)
    return percents.map((percent) => percentile(times, percent))
  }
  line('  all of them', [...whole(warm), ...whole(cold)].map(ms).join(' '))
  line('claims acknowledged; ms: p50, p99', `${claimed.acknowledged.length};${range(claimed.milliseconds)}`)
  line('claims refused', JSON.stringify(claimed.refused))
  for (const { cause } of found.claimFailures) line('  with a 5xx', cause)
  line(
    'longest that a reader waited for a lock',
    `${lockWait.milliseconds.toFixed(0)} ms, for ${lockWait.blocker || '-'}`,
  )
  line('the same during faults', `${faultLockWait.milliseconds.toFixed(0)} ms, for ${faultLockWait.blocker || '-'}`)
}

function timesOf(all: readonly Answered[], route: string): (number | undefined)[] {
  const times = all.find((one) => one.route === route)?.milliseconds ?? []
  return percents.map((percent) => percentile(times, percent))
}

function machine() {
  // Without git or a repository the version is left out.
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' })
  const [cpu] = cpus()
  return {
    cpu: cpu?.model.trim() ?? '',
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    commit: (stdout ?? '').trim(),
    date: new Date().toISOString().slice(0, 10),
  }
}
