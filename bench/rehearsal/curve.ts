import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'

/** Progress of a load after `seconds` of running; time between interrupted runs does not count. */
interface Sample {
  readonly rows: number
  readonly seconds: number
  /** Bytes of write-ahead log written so far. */
  readonly walBytes: number
}

/** Samples in order of time. */
export type Curve = readonly Sample[]

const lookMs = 250
const keepMs = 5_000
const pieces = 10
const first = 1_000_000

/** Samples a load until it is stopped, continuing the curve `before`; `keep` gets the curve every `keepMs`. */
export function watchLoad(pool: pg.Pool, before: Curve, keep: (curve: Curve) => Promise<void>) {
  const began = performance.now()
  const last = before.at(-1) ?? { rows: 0, seconds: 0, walBytes: 0 }
  const curve = [...before]
  let isOver = false
  let walBefore: number | undefined
  const look = async () => {
    const { rows } = await pool.query<{ rows: number; wal: number }>(
      `select (select coalesce(sum(settlements), 0)::float8 from backfill_shard) as rows,
              (pg_current_wal_lsn() - '0/0')::float8 as wal`,
    )
    const { rows: count, wal } = rows[0] as { rows: number; wal: number }
    walBefore ??= wal
    const seconds = last.seconds + (performance.now() - began) / 1_000
    curve.push({ rows: count, seconds, walBytes: last.walBytes + wal - walBefore })
  }
  const all = (async () => {
    for (let keptAt = performance.now(); !isOver; await delay(lookMs)) {
      await look()
      if (performance.now() - keptAt < keepMs) continue
      keptAt = performance.now()
      await keep(curve)
    }
    await look()
    return curve
  })()
  all.catch(() => {}) // stop() throws the error
  return {
    stop(): Promise<Curve> {
      isOver = true
      return all
    },
  }
}

/**
 * Rows a second of a load's first million and of each tenth, by the number of rows at the end of that piece. The time
 * after the last row, when only the last index is built, counts in none.
 */
export function piecesOf(curve: Curve): Record<number, number> {
  const all = curve.at(-1)?.rows ?? 0
  const tenths = Array.from({ length: pieces }, (_, n) => (all * (n + 1)) / pieces)
  const found: Record<number, number> = {}
  let from = curve.findLast(({ rows }) => rows === 0)
  for (const goal of first < all / pieces ? [first, ...tenths] : tenths) {
    const to = curve.find(({ rows }) => rows > 0 && rows >= goal)
    if (from && to && to.rows > from.rows) {
      found[to.rows] = Math.round((to.rows - from.rows) / (to.seconds - from.seconds))
    }
    from = to
  }
  return found
}
