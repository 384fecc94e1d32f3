import { DoorError } from './errors.ts'

export interface Politeness {
  /** Shortest time between the starts of two requests to one host, in milliseconds. */
  readonly intervalMs: number
  /** Requests that may wait for one host; a further one is refused. */
  readonly maxWaiting: number
  /** A request that has waited this long for its turn, in milliseconds, is refused. */
  readonly maxWaitMs: number
}

/** What a line is of: all requests to a host, or those to one address there. */
export type LineOf = 'host' | 'url'

/** Default rate limit for each host that somebody else named. */
export const politeByDefault: Politeness = { intervalMs: 1_000, maxWaiting: 20, maxWaitMs: 30_000 }

/** Hosts tracked at once: those in a turn, or in the interval after one. */
const maxHosts = 10_000

/** Ends a turn; call it once, whatever came of the request. */
export type EndTurn = () => void
type TakeTurn = (host: string, signal: AbortSignal) => Promise<EndTurn>

/**
 * One request in flight a host, first come first served, with an interval between them. Taking a turn throws
 * DoorError `busy` when the line is full or the wait too long, and the reason of `signal` when that comes first.
 * The limit holds within this process only: each of several processes that ask one host has its own.
 */
export function createTurns({ intervalMs, maxWaiting, maxWaitMs }: Politeness): TakeTurn {
  /** Waiting requests by host, in order. A host without an entry may be asked at once. */
  const lines = new Map<string, (() => void)[]>()

  function begin(host: string): EndTurn {
    const rested = new Promise<void>((resolve) => setTimeout(resolve, intervalMs).unref())
    return () => void rested.then(() => next(host))
  }

  function next(host: string) {
    const call = lines.get(host)?.shift()
    if (call) call()
    else lines.delete(host)
  }

  return async (host, signal) => {
    signal.throwIfAborted()
    const line = lines.get(host)
    if (!line) {
      if (lines.size >= maxHosts) throw new DoorError('busy', `${maxHosts} hosts are being asked already`)
      lines.set(host, [])
      return begin(host)
    }
    if (line.length >= maxWaiting) throw new DoorError('busy', `${maxWaiting} requests wait for ${host} already`)

    return new Promise((resolve, reject) => {
      const call = () => {
        stopWaiting()
        resolve(begin(host))
      }
      const leave = (error: unknown) => {
        stopWaiting()
        line.splice(line.indexOf(call), 1)
        reject(error)
      }
      const abort = () => leave(signal.reason)
      const timer = setTimeout(() => leave(new DoorError('busy', `no turn for ${host} in ${maxWaitMs} ms`)), maxWaitMs)
      const stopWaiting = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      }
      signal.addEventListener('abort', abort, { once: true })
      line.push(call)
    })
  }
}
