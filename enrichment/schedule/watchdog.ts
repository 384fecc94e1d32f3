import { minute } from '../../ops/time.ts'

/** Milliseconds after which a pass counts as hung: all its requests and statements have timeouts of their own. */
export const hungAfterMs = 15 * minute

/** Watchdog of a process's loops. */
export interface Watchdog {
  /** Runs a pass of a loop; the loop counts as at work from its first unfinished or failed pass until one succeeds. */
  watch<T>(loop: string, pass: () => Promise<T>): Promise<T>
  /** Name of a loop that has been at work for too long without finishing a pass; undefined: there is none. */
  stuck(): string | undefined
}

interface WatchdogOptions {
  /** A clock in milliseconds that only goes forward. */
  readonly nowMs?: () => number
  /** Called after each pass that did not fail, with the seconds it took. */
  readonly passed?: (loop: string, seconds: number) => void
}

/** A loop that rests has nothing to do and is never stuck. */
export function createWatchdog({ nowMs = () => performance.now(), passed }: WatchdogOptions = {}): Watchdog {
  const workingSince = new Map<string, number>()
  return {
    async watch(loop, pass) {
      if (!workingSince.has(loop)) workingSince.set(loop, nowMs())
      const began = nowMs()
      const result = await pass() // when it throws, the loop stays at work and retries
      passed?.(loop, (nowMs() - began) / 1_000)
      workingSince.delete(loop)
      return result
    },

    stuck() {
      for (const [loop, since] of workingSince) {
        const silentMs = nowMs() - since
        if (silentMs > hungAfterMs) return `${loop} has got nothing done for ${Math.round(silentMs / minute)} minutes`
      }
      return undefined
    },
  }
}
