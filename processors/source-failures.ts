import { setTimeout as delay } from 'node:timers/promises'
import { type Backoff, backoffMs } from '../hosts/backoff.ts'
import { meaningOfStatus } from '../hosts/meaning.ts'
import { Refusal } from './refusal.ts'

/** Failures in a row after which `Patience` gives up. */
const maxFailures = 12
const backoff = { baseMs: 250, capMs: 30_000 }
/** No jitter: one process asks one source, so no other client retries at the same moment. */
const undithered = () => 1
/** Longest Retry-After that is honoured, in milliseconds. */
export const longestRetryAfterMs = 5 * 60_000

/** Whether an HTTP status says that a source cannot answer now. */
export function isPassing(status: number): boolean {
  const meaning = meaningOfStatus(status)
  return meaning === 'busy' || meaning === 'unready'
}

/** A source could not answer this time. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure'
  /** `retryAfterMs`: Retry-After of the source, in milliseconds; undefined: it sent none. */
  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message)
  }
}

/** How a request to a source failed: it sent a Retry-After, gave an unusable answer, or did not answer. */
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

  /** Starts a wait; the returned function ends it. Time in which waits overlap counts once. */
  begin(): () => void {
    if (this.#waits++ === 0) this.#since = performance.now()
    return () => {
      if (--this.#waits === 0) this.#waitedMs += performance.now() - this.#since
    }
  }

  /** Seconds spent waiting since the start, including waits that have not ended. */
  get waitedSeconds(): number {
    return (this.#waitedMs + (this.#waits > 0 ? performance.now() - this.#since : 0)) / 1_000
  }
}

/** Retries with exponential backoff: counts failures in a row and waits between attempts, or as Retry-After says. */
export class Patience {
  #failures = 0

  constructor(
    private readonly log: { warn(text: string): void },
    /** Name of what is asked, for messages. */
    private readonly source = 'the Portal',
    private readonly watch?: SourceWatch,
  ) {}

  /** Waits before the next attempt. Throws a Refusal after too many failures in a row; rethrows one at once. */
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

/** Backoff in milliseconds after `failures` in a row, or the Retry-After (`asked`, milliseconds) up to a bound. */
export function pauseMs(limits: Backoff, failures: number, asked?: number): number {
  return asked === undefined ? backoffMs(limits, failures - 1, undithered) : Math.min(asked, longestRetryAfterMs)
}
