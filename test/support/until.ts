import { setTimeout as delay } from 'node:timers/promises'

/** Waits for a condition, looked at every few milliseconds; throws by name when it does not come true in time. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`)
    await delay(20)
  }
}
