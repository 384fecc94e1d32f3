import { readingLimits } from '../../../config/limits.ts'
import { day, hour } from '../../../ops/time.ts'

/** Lengths of a bucket, the finest first. */
export const intervals = ['hour', 'day', 'week', 'month'] as const
export type Interval = (typeof intervals)[number]

const mondayMs = 4 * day // the first Monday after 1970-01-01

const floorTo = (ms: number, length: number, origin = 0) => Math.floor((ms - origin) / length) * length + origin

/**
 * Arithmetic of buckets in UTC, weeks from Monday: start of a time's bucket, and start of the one `by` buckets later.
 */
const calendar: Record<Interval, { floor: (ms: number) => number; move: (start: number, by: number) => number }> = {
  hour: { floor: (ms) => floorTo(ms, hour), move: (start, by) => start + by * hour },
  day: { floor: (ms) => floorTo(ms, day), move: (start, by) => start + by * day },
  week: { floor: (ms) => floorTo(ms, 7 * day, mondayMs), move: (start, by) => start + by * 7 * day },
  month: {
    floor: (ms) => Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth()),
    move: (start, by) => Date.UTC(new Date(start).getUTCFullYear(), new Date(start).getUTCMonth() + by),
  },
}

/** Start of the bucket `by` buckets after the one that starts at `start`; negative: before it. */
export const moved = (interval: Interval, start: number, by: number): number => calendar[interval].move(start, by)

interface Buckets {
  readonly interval: Interval
  /** Starts of the buckets, ascending, in milliseconds; the last one ends at `end`. */
  readonly starts: readonly number[]
  readonly end: number
}

/**
 * The buckets that meet a time from `since` to `until`, whole: both are moved outwards to where one begins. What has not
 * begun at `now` is left out. Of more than `readingLimits.points` it is the next coarser interval.
 */
export function bucketsOf(
  wanted: Interval,
  { since, until, now }: { since: number | null; until: number | null; now: number },
): Buckets {
  const { floor, move } = calendar[wanted]
  // The last millisecond that counts: a bucket that begins at `until` is not part of it.
  const last = Math.min((until ?? now + 1) - 1, now)
  const first = floor(since ?? move(floor(last), 1 - readingLimits.usualPoints))
  const starts: number[] = []
  const isEmpty = since !== null && since > last
  for (let start = first; start <= last && !isEmpty; start = move(start, 1)) {
    if (starts.length === readingLimits.points) {
      const coarser = intervals[intervals.indexOf(wanted) + 1]
      if (coarser) return bucketsOf(coarser, { since: since ?? first, until, now })
      break
    }
    starts.push(start)
  }
  const newest = starts.at(-1)
  return { interval: wanted, starts, end: newest === undefined ? first : move(newest, 1) }
}
