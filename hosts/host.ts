import { setTimeout as delay } from 'node:timers/promises'

/** Why no request may go out. It says nothing about the subject that was to be read. */
export class HostClosed extends Error {
  override readonly name = 'HostClosed'
  readonly until: Date

  constructor(reason: string, until: Date) {
    super(reason)
    this.until = until
  }
}

export interface HostOptions {
  readonly name: string
  readonly requestsPerSecond: number
  /** For rests and breaks; the pace follows the process's own clock. */
  readonly now?: () => Date
}

/** What all sources that ask one host share: its pace, its wish to be left alone, its breaker. */
export interface Host {
  readonly name: string
  /** How many subjects may be leased now: none, one to try with, or any number. */
  capacity(): number
  /** Resolves when the next request may go out. Throws HostClosed when none may. */
  slot(): Promise<void>
  /** The host wants no requests for so long. */
  restFor(ms: number): void
  succeeded(): void
  failed(): void
  /** For an operator: `open`, `resting` or `closed` breaker. */
  state(): 'answering' | 'resting' | 'broken' | 'stopped'
  /** Nothing goes out any more; whoever waits for a slot is told. */
  stop(): void
}

const failuresInRow = 10
/** Of the last so many requests more than half failed: the host is broken although some answer. */
const remembered = 20
const firstBreakMs = 60_000
const longestBreakMs = 30 * 60_000

export function createHost({ name, requestsPerSecond, now = () => new Date() }: HostOptions): Host {
  const intervalMs = 1000 / requestsPerSecond
  const stopping = new AbortController()
  let nextSlotAt = 0
  let restsUntil = 0
  let brokenUntil = 0
  let breakMs = 0
  let results: boolean[] = []

  const time = () => now().getTime()
  const closedUntil = () => Math.max(restsUntil, brokenUntil)

  function refuse() {
    if (stopping.signal.aborted) throw new HostClosed('this process is stopping', now())
    if (closedUntil() > time()) throw new HostClosed(`${name} is left alone`, new Date(closedUntil()))
  }

  return {
    name,

    capacity() {
      if (stopping.signal.aborted || closedUntil() > time()) return 0
      return breakMs > 0 ? 1 : Number.POSITIVE_INFINITY
    },

    async slot() {
      refuse()
      const waitMs = Math.max(0, nextSlotAt - performance.now())
      nextSlotAt = performance.now() + waitMs + intervalMs
      if (waitMs > 0) await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
      refuse()
    },

    restFor(ms) {
      restsUntil = Math.max(restsUntil, time() + ms)
    },

    succeeded() {
      breakMs = 0
      results = [...results, true].slice(-remembered)
    },

    failed() {
      if (brokenUntil > time()) return
      results = [...results, false].slice(-remembered)
      const latest = results.slice(-failuresInRow)
      const rowBroken = latest.length === failuresInRow && !latest.includes(true)
      const mostBroken = results.length === remembered && results.filter((good) => !good).length > remembered / 2
      if (breakMs === 0 && !rowBroken && !mostBroken) return
      breakMs = breakMs === 0 ? firstBreakMs : Math.min(longestBreakMs, breakMs * 2)
      brokenUntil = time() + breakMs
      results = []
    },

    state() {
      if (stopping.signal.aborted) return 'stopped'
      if (brokenUntil > time()) return 'broken'
      return restsUntil > time() ? 'resting' : 'answering'
    },

    stop: () => stopping.abort(),
  }
}
