import { setTimeout as delay } from 'node:timers/promises'
import { Refusal } from '../refusal.ts'

/** Failures in a row. */
const maxFailures = 12
const firstPauseMs = 250
const longestPauseMs = 30_000
/** A server may ask for a pause up to this long. */
export const longestRetryAfterMs = 5 * 60_000

/** The Portal could not answer this time. */
export class PortalFailure extends Error {
  override readonly name = 'PortalFailure'
  /** `retryAfterMs`: the pause it asked for. */
  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message)
  }
}

/** Counts failures in a row and waits between attempts, longer each time, or as long as the Portal asks for. */
export class Patience {
  #failures = 0

  constructor(
    private readonly log: { warn(text: string): void },
    /** For messages. */
    private readonly source = 'the Portal',
  ) {}

  /** Throws instead of waiting when there have been too many, and what no other attempt will change. */
  async afterFailure(error: Error): Promise<void> {
    if (error instanceof Refusal) throw error
    this.#failures++
    const problem = error.message || (error as NodeJS.ErrnoException).code || error.name
    const reason = problem.includes(this.source) ? problem : `${this.source}: ${problem}`
    if (this.#failures === maxFailures) throw new Refusal(`${reason}; gave up after ${maxFailures} attempts`)
    const asked = error instanceof PortalFailure ? error.retryAfterMs : undefined
    const pause = Math.min(
      asked ?? firstPauseMs * 2 ** (this.#failures - 1),
      asked ? longestRetryAfterMs : longestPauseMs,
    )
    this.log.warn(`${reason}; attempt ${this.#failures} of ${maxFailures}, the next in ${pause} ms`)
    await delay(pause)
  }
}

/** Milliseconds that a Retry-After header asks for, seconds or a date; undefined: none, or not readable. */
export function readRetryAfter(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined
  const seconds = Number(header)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined
}
