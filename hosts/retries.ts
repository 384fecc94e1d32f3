import { setTimeout as delay } from 'node:timers/promises'
import { type Backoff, doubledMs, minute } from '../ops/time.ts'
import { meaningOfStatus } from './meaning.ts'

/**
 * Failures in a row after which a bounded wait ends: that of work which its caller takes up again by itself, after a
 * rest or with less at once.
 */
export const boundedFailures = 12
/** Pauses after failures in a row, whichever source of a chain fails. */
export const sourceBackoff: Backoff = { baseMs: 250, capMs: 10_000 }
/** Longest Retry-After that is honoured, in milliseconds. */
const longestRetryAfterMs = 5 * 60_000

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

/** Whether an error is the node's refusal of a call. Other failures, such as a broken connection, are worth a retry. */
export function isAnswer(error: unknown): boolean {
  return (error as Error).name === 'RpcError'
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
  /** What is waited for now, as a sentence; undefined: nothing. */
  problem: string | undefined

  note(kind: FailureKind): void {
    this.failures[kind]++
  }

  /** Starts a wait because of a problem; the returned function ends it. Time in which waits overlap counts once. */
  begin(problem?: string): () => void {
    if (this.#waits++ === 0) this.#since = performance.now()
    this.problem = problem
    return () => {
      if (--this.#waits > 0) return
      this.#waitedMs += performance.now() - this.#since
      this.problem = undefined
    }
  }

  /** Seconds spent waiting since the start, including waits that have not ended. */
  get waitedSeconds(): number {
    return (this.#waitedMs + (this.#waits > 0 ? performance.now() - this.#since : 0)) / 1_000
  }
}

/** What was told lately, by the log that it was told to. */
const told = new WeakMap<object, Seldom>()

interface RetriesOptions {
  /** Name of what is asked, for messages; there are few. Default: the Portal. */
  readonly source?: string
  /** Absent: failures are not counted. */
  readonly watch?: SourceWatch | undefined
  /** Failures in a row after which they are passed on; absent: none. */
  readonly attempts?: number | undefined
}

/**
 * The policy of retries for one question to a source of a chain: counts failures, warns of a trouble that lasts from
 * time to time only, and pauses before the next attempt with exponential backoff, or as Retry-After says. What keeps a
 * source from answering passes, so it is asked without limit unless `attempts` is set.
 */
export class Retries {
  #failures = 0

  constructor(
    private readonly log: { warn(text: string): void },
    private readonly options: RetriesOptions = {},
  ) {}

  /** The source has answered: the next failure is the first in a row. */
  succeeded(): void {
    this.#failures = 0
  }

  /** Waits before the next attempt. Rethrows a final error at once; rejects with a SourceFailure after `attempts`. */
  async afterFailure(error: Error): Promise<void> {
    if ((error as { isFinal?: boolean }).isFinal) throw error
    const { source = 'the Portal', watch, attempts = Number.POSITIVE_INFINITY } = this.options
    this.#failures++
    const kind = kindOf(error)
    watch?.note(kind)
    const problem = error.message || (error as NodeJS.ErrnoException).code || error.name
    const reason = problem.includes(source) ? problem : `${source}: ${problem}`
    const asked = error instanceof SourceFailure ? error.retryAfterMs : undefined
    if (this.#failures >= attempts) throw new SourceFailure(`${reason}; gave up after ${attempts} attempts`, asked)
    const pause = pauseMs(sourceBackoff, this.#failures, asked)
    if (this.#isDue(`${source} ${kind}`))
      this.log.warn(`${reason}; it is asked until it answers, the next time in ${pause} ms`)
    const end = watch?.begin(reason)
    await delay(pause)
    end?.()
  }

  #isDue(trouble: string): boolean {
    const seldom = told.get(this.log) ?? new Seldom()
    told.set(this.log, seldom)
    return seldom.isDue(trouble)
  }
}

/**
 * Asks a source until it answers, or as often as `retries` allows. Rejects at once with a final error and with one that
 * `mayPass` denies.
 */
export async function retrying<T>(
  retries: Retries,
  ask: () => Promise<T>,
  mayPass: (error: Error) => boolean = () => true,
): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!mayPass(error as Error)) throw error
      await retries.afterFailure(error as Error)
    }
  }
}

function kindOf(error: Error): FailureKind {
  if (!(error instanceof SourceFailure)) return 'silent'
  return error.retryAfterMs === undefined ? 'useless' : 'busy'
}

/**
 * Backoff in milliseconds after `failures` in a row, or the Retry-After (`asked`, milliseconds) up to a bound. No jitter: one
 * process asks one source, so no other client retries at the same moment.
 */
export function pauseMs(limits: Backoff, failures: number, asked?: number): number {
  return asked === undefined ? doubledMs(limits, failures - 1) : Math.min(asked, longestRetryAfterMs)
}

/** Shortest time between two lines about the same trouble, in milliseconds. */
const quietMs = 10 * minute

/** Keeps a trouble that lasts from filling the log. The keys are few and fixed. */
export class Seldom {
  #toldAt = new Map<string, number>()

  /** Whether a line about this trouble is due; if so, none is for the next ten minutes. */
  isDue(trouble: string): boolean {
    const now = performance.now()
    const last = this.#toldAt.get(trouble)
    if (last !== undefined && now - last < quietMs) return false
    this.#toldAt.set(trouble, now)
    return true
  }
}
