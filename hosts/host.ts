import { setTimeout as delay } from 'node:timers/promises'
import { createCircuitBreaker } from './circuit-breaker.ts'

/**
 * Why no request may go out now: the host asked to wait, its circuit is open, or this process is stopping. It says
 * nothing about the subject that was to be read.
 */
export class HostClosed extends Error {
  override readonly name = 'HostClosed'
  readonly until: Date
  /** Whether the host said so in answer to this very request, which it then was asked. */
  readonly wasAsked: boolean

  constructor(reason: string, until: Date, wasAsked = false) {
    super(reason)
    this.until = until
    this.wasAsked = wasAsked
  }
}

/** Takes the next place of a rate limit and resolves with the milliseconds until it is due. May throw HostClosed. */
export type Pace = () => Promise<number>

/** Priority of a waiting request; one slot in `slotsATurn` goes to the least urgent, so that none starves. */
export type Urgency = 'urgent' | 'usual' | 'spare'

interface HostOptions {
  readonly name: string
  readonly requestsPerSecond: number
  /** Rate limiter, shared with other processes or not. Default: one of this process alone. */
  readonly pace?: Pace
  /** Clock for Retry-After and the circuit breaker; the pace has its own. Default: system time. */
  readonly now?: () => Date
}

/** What all sources that ask one host share: its rate limit, its Retry-After, its circuit breaker. */
export interface Host {
  readonly name: string
  /** Infinity: no rate limit but the host's own answers. */
  readonly requestsPerSecond: number
  /** Slots granted since this was created. */
  readonly sent: { readonly count: number }
  /** Subjects that may be leased now: 0 while the host is closed, 1 to probe it after a break, else Infinity. */
  capacity(): number
  /** Resolves when the next request may go out. Throws HostClosed when none may. Default: usual. */
  slot(urgency?: Urgency): Promise<void>
  /** Throws HostClosed when no request may go out now. Takes no slot. */
  checkOpen(): void
  /** Closes the host for `ms` milliseconds, because it sent a Retry-After. */
  restFor(ms: number): void
  succeeded(): void
  failed(): void
  /** State shown to operators. `resting`: a Retry-After has not passed yet; `broken`: the circuit is open. */
  state(): 'answering' | 'resting' | 'broken' | 'stopped'
  /** Grants no more slots: waiting and later calls of `slot` throw HostClosed. */
  stop(): void
}

/** One slot in this many goes to the least urgent request that waits. */
const slotsATurn = 5
const urgencies: readonly Urgency[] = ['urgent', 'usual', 'spare']

interface Waiting {
  resolve(): void
  reject(error: unknown): void
}

export function createHost(options: HostOptions): Host {
  const { name, requestsPerSecond, pace = createPace(requestsPerSecond), now = () => new Date() } = options
  const stopping = new AbortController()
  const queue = new Queue()
  let restsUntil = 0

  const time = () => now().getTime()
  const breaker = createCircuitBreaker(time)
  const isBroken = () => breaker.openUntil() > time()
  const closedUntil = () => Math.max(restsUntil, breaker.openUntil())

  function checkOpen() {
    if (stopping.signal.aborted) throw new HostClosed('this process is stopping', now())
    if (closedUntil() > time())
      throw new HostClosed(`${name}: ${isBroken() ? 'circuit open' : 'asked to wait'}`, new Date(closedUntil()))
  }

  /** Resolves when the next request may go out; rejects when none may. */
  async function nextSlot() {
    const waitMs = await pace()
    if (waitMs > 0) await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
    checkOpen()
  }

  return {
    name,
    requestsPerSecond,
    sent: queue.sent,

    capacity() {
      if (stopping.signal.aborted || closedUntil() > time()) return 0
      return breaker.isProbing() ? 1 : Number.POSITIVE_INFINITY
    },

    checkOpen,

    async slot(urgency = 'usual') {
      checkOpen()
      const slot = new Promise<void>((resolve, reject) => queue.add(urgency, { resolve, reject }))
      void queue.grant(nextSlot)
      await slot
    },

    restFor(ms) {
      restsUntil = Math.max(restsUntil, time() + ms)
    },

    succeeded: breaker.succeeded,
    failed: breaker.failed,

    state() {
      if (stopping.signal.aborted) return 'stopped'
      if (isBroken()) return 'broken'
      return restsUntil > time() ? 'resting' : 'answering'
    },

    stop: () => stopping.abort(),
  }
}

/** Those that wait for a slot, by urgency. */
class Queue {
  readonly #waiting = new Map(urgencies.map((urgency) => [urgency, [] as Waiting[]]))
  #taken = 0
  #isGranting = false
  readonly sent = { count: 0 }

  add(urgency: Urgency, one: Waiting) {
    this.#waiting.get(urgency)!.push(one)
  }

  /** Gives slots to those that wait, the most urgent at the moment when the slot is due. */
  async grant(nextSlot: () => Promise<void>) {
    if (this.#isGranting) return
    this.#isGranting = true
    try {
      while ([...this.#waiting.values()].some(({ length }) => length > 0)) {
        const failure = await nextSlot().then(
          () => undefined,
          (error: unknown) => ({ error }),
        )
        const waiting = this.#take()
        if (failure) waiting?.reject(failure.error)
        else if (waiting) {
          this.sent.count++
          waiting.resolve()
        }
      }
    } finally {
      this.#isGranting = false
    }
  }

  /** The most urgent; now and then the least urgent, so that they get on too. */
  #take(): Waiting | undefined {
    const order = ++this.#taken % slotsATurn === 0 ? urgencies.toReversed() : urgencies
    const first = order.find((urgency) => this.#waiting.get(urgency)!.length > 0)
    return first && this.#waiting.get(first)!.shift()
  }
}

/** A rate limiter for this process alone, with even intervals. */
function createPace(requestsPerSecond: number): Pace {
  const intervalMs = 1000 / requestsPerSecond
  let nextAt = 0
  return async () => {
    const waitMs = Math.max(0, nextAt - performance.now())
    nextAt = performance.now() + waitMs + intervalMs
    return waitMs
  }
}

/** The text with hosts instead of whole addresses: many nodes are addressed with the key in the path. */
export function hideAddresses(text: string): string {
  return text.replace(/\b(?:https?|wss?):\/\/[^\s"'<>]+/g, (address) => URL.parse(address)?.host ?? 'an address')
}

export function hostOf(url: string): string {
  return new URL(url).host
}
