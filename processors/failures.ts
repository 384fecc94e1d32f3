import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '../hosts/backoff.ts'
import { Refusal } from './refusal.ts'

/** Failures in a row. */
const maxFailures = 12
const backoff = { baseMs: 250, capMs: 30_000 }
/** One process asks one source: nobody else comes back at the same time. */
const undithered = () => 1
/** A server may ask for a pause up to this long. */
export const longestRetryAfterMs = 5 * 60_000

/** A source could not answer this time. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure'
  /** `retryAfterMs`: the pause it asked for. */
  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message)
  }
}

/** How a question to a source failed: it asked for a pause, gave an answer that cannot be used, or did not answer. */
const failureKinds = ['busy', 'useless', 'silent'] as const
type FailureKind = (typeof failureKinds)[number]

/** How often a source failed since the start, and how long this process has waited because of it. */
export class SourceWatch {
  readonly failures: Record<FailureKind, number> = { busy: 0, useless: 0, silent: 0 }
  #waitedMs = 0
  #waits = 0
  #since = 0

  note(kind: FailureKind): void {
    this.failures[kind]++
  }

  /** A wait begins; the function that is returned ends it. Waits beside each other count once. */
  begin(): () => void {
    if (this.#waits++ === 0) this.#since = performance.now()
    return () => {
      if (--this.#waits === 0) this.#waitedMs += performance.now() - this.#since
    }
  }

  /** Those that have not ended are in it. */
  get waitedSeconds(): number {
    return (this.#waitedMs + (this.#waits > 0 ? performance.now() - this.#since : 0)) / 1_000
  }
}

/** Counts failures in a row and waits between attempts, longer each time, or as long as the source asks for. */
export class Patience {
  #failures = 0

  constructor(
    private readonly log: { warn(text: string): void },
    /** For messages. */
    private readonly source = 'the Portal',
    private readonly watch?: SourceWatch,
  ) {}

  /** Throws instead of waiting when there have been too many, and what no other attempt will change. */
  async afterFailure(error: Error): Promise<void> {
    if (error instanceof Refusal) throw error
    this.#failures++
    this.watch?.note(kindOf(error))
    const problem = error.message || (error as NodeJS.ErrnoException).code || error.name
    const reason = problem.includes(this.source) ? problem : `${this.source}: ${problem}`
    if (this.#failures === maxFailures) throw new Refusal(`${reason}; gave up after ${maxFailures} attempts`)
    const asked = error instanceof SourceFailure ? error.retryAfterMs : undefined
    const pause = pauseMs(backoff, this.#failures, asked)
    this.log.warn(`${reason}; attempt ${this.#failures} of ${maxFailures}, the next in ${pause} ms`)
    const end = this.watch?.begin()
    await delay(pause)
    end?.()
  }
}

function kindOf(error: Error): FailureKind {
  if (!(error instanceof SourceFailure)) return 'silent'
  return error.retryAfterMs === undefined ? 'useless' : 'busy'
}

/** Milliseconds to wait after `failures` in a row, or the time that a Retry-After asks for, up to a bound. */
export function pauseMs(limits: typeof backoff, failures: number, asked?: number): number {
  return asked === undefined ? backoffMs(limits, failures - 1, undithered) : Math.min(asked, longestRetryAfterMs)
}
