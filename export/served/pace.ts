import { setTimeout as delay } from 'node:timers/promises'

/** Waits as long as it takes to stay below a rate of rows; call it with the number of rows just written. */
export type Pace = (rows: number) => Promise<void>

/** A pause that was missed is not made up for later by writing faster than the limit. */
export function paceOf(rowsPerSecond: number): Pace {
  let due = performance.now()
  return async (rows) => {
    due = Math.max(due, performance.now() - 1_000) + (rows / rowsPerSecond) * 1_000
    const wait = due - performance.now()
    if (wait > 0) await delay(wait)
  }
}
