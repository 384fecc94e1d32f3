import { setTimeout as delay } from 'node:timers/promises'

/**
 * Timeout of a test's wait, in milliseconds. Only something that hangs reaches it: a machine that other work slows down
 * to a tenth fails no test.
 */
export const testTimeoutMs = 300_000

interface Waiting {
  readonly withinMs?: number
  readonly everyMs?: number
  /** Details for the error message when the condition does not come true. */
  readonly explain?: () => string
}

/** Waits for a condition, looked at every few milliseconds; throws by name when it does not come true in time. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { withinMs = testTimeoutMs, everyMs = 20, explain }: Waiting = {},
): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}\n${explain?.() ?? ''}`)
    await delay(everyMs)
  }
}
