import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { doubledMs, second } from '../../ops/time.ts'
import type { Watchdog } from './watchdog.ts'

interface Loop {
  readonly name: string
  /** A bounded piece of work. Returns how much there was to do; zero: rest before the next. */
  readonly pass: () => Promise<number>
  readonly restMs: number
  /** Shortest rest after a pass, as a multiple of its time, for passes that read everything. Default: 0. */
  readonly restFactor?: number | undefined
  /** Whether it only derives what is read, so that a slow pass is no reason to restart the process. Default: false. */
  readonly isReadModel?: boolean
  readonly signal: AbortSignal
  readonly log: Logger
  readonly watchdog: Watchdog
}

const retry = { baseMs: second, capMs: 30 * second }

/**
 * Repeats passes until the signal; the pass in flight is finished. A pass that throws is logged and retried with
 * backoff.
 */
export async function repeat({
  name,
  pass,
  restMs,
  restFactor = 0,
  isReadModel = false,
  signal,
  log,
  watchdog,
}: Loop): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    let waitMs = 0
    const began = performance.now()
    try {
      if ((await watchdog.watch(name, pass, isReadModel)) === 0) {
        waitMs = Math.max(restMs, restFactor * (performance.now() - began))
      }
      if (failures > 0) log.info(`${name} works again`)
      failures = 0
    } catch (error) {
      waitMs = doubledMs(retry, failures)
      if (failures === 0) log.error({ err: error }, `${name} failed and will be retried`)
      failures++
    }
    if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => {})
  }
}
