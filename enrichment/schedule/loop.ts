import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Progress } from './progress.ts'

interface Loop {
  readonly name: string
  /** A bounded piece of work. Returns how much there was to do; zero: rest before the next. */
  readonly pass: () => Promise<number>
  readonly restMs: number
  readonly signal: AbortSignal
  readonly log: Logger
  readonly progress: Progress
}

const firstRetryMs = 1_000
const longestRetryMs = 30_000

/**
 * Repeats passes until the signal; the pass in flight is finished. A pass that throws is logged and retried with
 * backoff.
 */
export async function repeat({ name, pass, restMs, signal, log, progress }: Loop): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    let waitMs = 0
    try {
      if ((await progress.watch(name, pass)) === 0) waitMs = restMs
      if (failures > 0) log.info(`${name} works again`)
      failures = 0
    } catch (error) {
      waitMs = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures, 10))
      if (failures === 0) log.error({ err: error }, `${name} failed; it is tried again`)
      failures++
    }
    if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => {})
  }
}
