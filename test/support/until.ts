import { setTimeout as delay } from 'node:timers/promises'

/**
 * How long a test waits for what must come, in milliseconds. It is reached only where something hangs: a machine that
 * others slow down to a tenth fails no test.
 */
export const patienceMs = 300_000

interface Waiting {
  readonly withinMs?: number
  readonly everyMs?: number
  /** Said behind what did not come true. */
  readonly explain?: () => string
}

/** Waits for a condition, looked at every few milliseconds; throws by name when it does not come true in time. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { withinMs = patienceMs, everyMs = 20, explain }: Waiting = {},
): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}\n${explain?.() ?? ''}`)
    await delay(everyMs)
  }
}
