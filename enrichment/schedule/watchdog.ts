import { hour, minute, second } from '../../ops/time.ts'

/** Milliseconds after which a pass counts as hung: all its requests and statements have timeouts of their own. */
export const hungAfterMs = 15 * minute

/** Watchdog of a process's loops. */
export interface Watchdog {
  /**
   * Runs a pass of a loop; the loop counts as at work from its first unfinished or failed pass until one succeeds. A read
   * model is never stuck: what it lacks when it is slow, a restart of the whole job would not give it.
   */
  watch<T>(loop: string, pass: () => Promise<T>, isReadModel?: boolean): Promise<T>
  /** Which loop's pass in flight hangs, so that only a restart can help; undefined: none. */
  stuck(): string | undefined
  /** Which loop has been at work for too long without a pass that succeeded; undefined: none. */
  failing(): string | undefined
  /** Seconds for which each loop has been at work without a pass that succeeded; 0: its last one did. */
  silence(): ReadonlyMap<string, number>
}

interface WatchdogOptions {
  /** A clock in milliseconds that only goes forward. */
  readonly nowMs?: () => number
  /** Called after each pass that did not fail, with the seconds it took. */
  readonly passed?: (loop: string, seconds: number) => void
}

/** A loop that rests has nothing to do and is neither stuck nor failing. */
export function createWatchdog({ nowMs = () => performance.now(), passed }: WatchdogOptions = {}): Watchdog {
  const workingSince = new Map<string, number | undefined>()
  const inFlightSince = new Map<string, number>()
  const tooLong = (since: number | undefined) =>
    since !== undefined && nowMs() - since > hungAfterMs
      ? `${Math.round((nowMs() - since) / minute)} minutes`
      : undefined
  return {
    async watch(loop, pass, isReadModel = false) {
      const began = nowMs()
      workingSince.set(loop, workingSince.get(loop) ?? began)
      if (!isReadModel) inFlightSince.set(loop, began)
      try {
        const result = await pass() // when it throws, the loop stays at work and retries
        passed?.(loop, (nowMs() - began) / 1_000)
        workingSince.set(loop, undefined)
        return result
      } finally {
        inFlightSince.delete(loop)
      }
    },

    stuck() {
      for (const [loop, since] of inFlightSince) {
        const time = tooLong(since)
        if (time) return `a pass of ${loop} has been in flight for ${time}`
      }
      return undefined
    },

    failing() {
      for (const [loop, since] of workingSince) {
        const time = tooLong(since)
        if (time) return `no pass of ${loop} has succeeded for ${time}`
      }
      return undefined
    },

    silence: () =>
      new Map([...workingSince].map(([loop, since]) => [loop, since === undefined ? 0 : (nowMs() - since) / 1_000])),
  }
}

/**
 * Milliseconds that a loop of the job rests when its pass found nothing to do. Those that rest `with counts` rest for
 * COUNTS_PAUSE_SECONDS.
 */
export const restMs = {
  /** The loop of each source. */
  source: second / 2,
  soon: second / 4,
  'with sums': 5 * second,
  rollup: 5 * second,
  'old rows': hour,
} as const

/** How long a loop rests. */
export type Rest = keyof typeof restMs | 'with counts'
