import { minute } from '../../ops/time.ts'

/** A pass that takes longer hangs: all its requests and statements have deadlines of their own. */
export const longestPassMs = 15 * minute

/** What the loops of a process have got done. */
export interface Progress {
  /** Runs a pass of a loop and remembers how long it takes, and that passes before it failed. */
  watch<T>(loop: string, pass: () => Promise<T>): Promise<T>
  /** The loop that has not finished a pass for too long though it has been at work; undefined: every loop comes round. */
  stuck(): string | undefined
}

interface ProgressOptions {
  /** A clock in milliseconds that only goes forward. */
  readonly nowMs?: () => number
  /** Told of each pass that did not fail, with the seconds it took. */
  readonly passed?: (loop: string, seconds: number) => void
}

/** A loop that rests has nothing to do and is never stuck. */
export function createProgress({ nowMs = () => performance.now(), passed }: ProgressOptions = {}): Progress {
  const workingSince = new Map<string, number>()
  return {
    async watch(loop, pass) {
      if (!workingSince.has(loop)) workingSince.set(loop, nowMs())
      const began = nowMs()
      const result = await pass() // one that throws is tried again, and has got nothing done
      passed?.(loop, (nowMs() - began) / 1_000)
      workingSince.delete(loop)
      return result
    },

    stuck() {
      for (const [loop, since] of workingSince) {
        const silentMs = nowMs() - since
        if (silentMs > longestPassMs) return `${loop} has got nothing done for ${Math.round(silentMs / minute)} minutes`
      }
      return undefined
    },
  }
}
