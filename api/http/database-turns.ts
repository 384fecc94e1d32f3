import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestHandler } from 'express'
import { clientOf } from './rate-limit-key.ts'

/**
 * Pages and the API wait apart, so that neither can take all connections from the other's clients. A probe of readiness is
 * next wherever it comes from, and never refused for those that wait: it is to tell whether the database answers. Nor is
 * what streams look for, which take turns as one client: a browser does not come back to a stream that was refused, and how
 * many there are has a bound of its own.
 */
type Lane = 'api' | 'pages' | 'probes' | 'streams'
const neverRefused: readonly Lane[] = ['probes', 'streams']

/** Who waits: a request, with all the statements it needs. */
interface Asker {
  readonly lane: Lane
  /** The client, as the rate limiter keys it. */
  readonly client: string
  /** When it arrived, in milliseconds of `performance.now()`. */
  readonly since: number
  /** Number of its statements that wait for their turn now. */
  waiting: number
  /** Whether one of its statements had its turn. */
  begun: boolean
}

/**
 * Deadline of a request's statements, in milliseconds from its arrival. An answer may take 10 s; the rest is a margin
 * for a busy machine.
 */
const answerWithinMs = 8_000
/** A statement is not begun with fewer milliseconds than this left to its request. */
const shortestStatementMs = 500

const askers = new AsyncLocalStorage<Asker>()

const askerOf = (lane: Lane, client: string): Asker => ({
  lane,
  client,
  waiting: 0,
  begun: false,
  since: performance.now(),
})

/** Identity of the current request, the same object for all its statements; undefined: not in a request. */
export const requestOf = (): object | undefined => askers.getStore()

/** Runs `work`, whose statements wait in this lane as those of one client, with the deadline of a request. */
export function inLane<T>(lane: Lane, client: string, work: () => T): T {
  return askers.run(askerOf(lane, client), work)
}

/** Middleware: from here on the request's statements wait in this lane, in the line of its client. */
export function waitInLane(lane: Lane): RequestHandler {
  // The limiter has already worked out the client of every request it counts.
  return (req, res, next) => askers.run(askerOf(lane, res.locals.client ?? clientOf(req.ip)), next)
}

export interface TurnLimits {
  /** Statements that may run at the same time. */
  readonly slots: number
  /** How many of the slots pages may hold. */
  readonly pageSlots: number
  /** How many of the slots one client may hold. Default: all. */
  readonly slotsOfClient?: number
  /** How many requests may wait, and how many of one client; any more are refused immediately. */
  readonly maxWaiting: number
  readonly maxWaitingOfClient: number
  /** Deadline of a request's statements, in milliseconds from its arrival. Default: eight seconds. */
  readonly answerWithinMs?: number
}

export class NoTurn extends Error {
  override readonly name = 'NoTurn'
}

/** Ends a turn; call it once. */
export type EndTurn = () => void

interface Waiter {
  readonly asker: Asker
  readonly begin: () => void
}

const lineOf = ({ lane, client }: Asker) => (lane === 'probes' ? lane : `${lane} ${client}`)

/** One client's statements in a lane: requests that have begun go first, so that they finish. */
class Line {
  readonly begun = new Set<Waiter>()
  readonly fresh = new Set<Waiter>()
  /** Number of the line's requests that wait. */
  requests = 0

  constructor(readonly asker: Asker) {}

  get isEmpty(): boolean {
    return this.begun.size === 0 && this.fresh.size === 0
  }

  get first(): Waiter | undefined {
    return (this.begun.size > 0 ? this.begun : this.fresh).values().next().value
  }
}

/**
 * Hands out turns at the database to clients in rotation, however much each of them asks for, so that nobody's burst
 * keeps others waiting. A wait ends at the deadline of its request.
 */
export class Turns {
  readonly #limits: TurnLimits
  /** Lines by lane and client, in the order of the rotation: the first is next. */
  readonly #lines = new Map<string, Line>()
  readonly #running = { api: 0, pages: 0, probes: 0, streams: 0 }
  /** Number of turns that each client holds now; a client that holds none is absent. */
  readonly #runningOf = new Map<string, number>()
  #waiting = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** Requests that wait now. */
  get waiting(): number {
    return this.#waiting
  }

  /** Resolves when the statement may run, with the milliseconds it may take: one at least. Rejects with NoTurn. */
  async take(): Promise<{ readonly leftMs: number; readonly end: EndTurn }> {
    const asker = askers.getStore() ?? askerOf('api', 'ourselves')
    if (!this.#mayRun(asker) || this.#lines.size > 0) await this.#wait(asker)
    else this.#count(asker, 1)
    if (!asker.begun) this.#begin(asker)
    const end = () => {
      this.#count(asker, -1)
      this.#serve()
    }
    return { leftMs: Math.max(1, this.#leftOf(asker)), end }
  }

  #leftOf({ since }: Asker): number {
    return since + (this.#limits.answerWithinMs ?? answerWithinMs) - performance.now()
  }

  /** Marks a request as begun, and moves its waiting statements ahead of those of requests that have not begun. */
  #begin(asker: Asker): void {
    asker.begun = true
    const line = this.#lines.get(lineOf(asker))
    let left = asker.waiting
    for (const waiter of line?.fresh ?? []) {
      if (left === 0) return
      if (waiter.asker !== asker) continue
      line?.fresh.delete(waiter)
      line?.begun.add(waiter)
      left--
    }
  }

  #mayRun({ lane, client }: Asker): boolean {
    const { pageSlots, slotsOfClient = this.#limits.slots } = this.#limits
    if (lane === 'pages' && this.#running.pages >= pageSlots) return false
    return this.#isAnyFree && (this.#runningOf.get(client) ?? 0) < slotsOfClient
  }

  get #isAnyFree(): boolean {
    const { api, pages, probes, streams } = this.#running
    return api + pages + probes + streams < this.#limits.slots
  }

  #count({ lane, client }: Asker, more: 1 | -1): void {
    this.#running[lane] += more
    const running = (this.#runningOf.get(client) ?? 0) + more
    if (running === 0) this.#runningOf.delete(client)
    else this.#runningOf.set(client, running)
  }

  #wait(asker: Asker): Promise<void> {
    const key = lineOf(asker)
    const line = this.#lines.get(key) ?? new Line(asker)
    const isFull = this.#waiting >= this.#limits.maxWaiting || line.requests >= this.#limits.maxWaitingOfClient
    if (asker.waiting === 0 && isFull && !neverRefused.includes(asker.lane))
      throw new NoTurn('too many requests wait for the database already')
    const timeLeft = this.#leftOf(asker) - shortestStatementMs
    if (timeLeft <= 0) throw new NoTurn('the time of the request is over')
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        line.begun.delete(waiter)
        line.fresh.delete(waiter)
        if (--asker.waiting === 0) {
          line.requests--
          this.#waiting--
        }
        if (line.isEmpty) this.#lines.delete(key)
      }
      const waiter: Waiter = {
        asker,
        begin: () => {
          leave()
          this.#count(asker, 1)
          if (!line.isEmpty) {
            this.#lines.delete(key) // to the end of the rotation
            this.#lines.set(key, line)
          }
          resolve()
        },
      }
      const timer = setTimeout(() => {
        leave()
        reject(new NoTurn(`no connection came free in ${Math.round(timeLeft)} ms`))
      }, timeLeft)
      if (asker.waiting++ === 0) {
        line.requests++
        this.#waiting++
      }
      ;(asker.begun ? line.begun : line.fresh).add(waiter)
      this.#lines.set(key, line)
      this.#serve() // all others in line may be at their limits, while this one may run
    })
  }

  #serve(): void {
    if (this.#isAnyFree) this.#lines.get('probes')?.first?.begin()
    for (const line of this.#lines.values()) {
      if (!this.#isAnyFree) return
      if (this.#mayRun(line.asker)) line.first?.begin()
    }
  }
}
