import { DoorError } from './errors.ts'

export interface Politeness {
  /** Shortest time from the start of a request to that of the next one in its place, in milliseconds. */
  readonly intervalMs: number
  /** Requests to one host in flight at once. Default: 1. */
  readonly atOnce?: number
  /** Requests that may wait for one host; a further one is refused. */
  readonly maxWaiting: number
  /** A request that has waited this long for its turn, in milliseconds, is refused. */
  readonly maxWaitMs: number
}

/** Default rate limit for each host that somebody else named. */
export const politeByDefault: Politeness = { intervalMs: 1_000, maxWaiting: 20, maxWaitMs: 30_000 }

/** Hosts tracked at once: those in a turn, or in the interval after one. */
const maxHosts = 10_000

/** Ends a turn; call it once, whatever came of the request. */
export type EndTurn = () => void
type TakeTurn = (host: string, signal: AbortSignal) => Promise<EndTurn>

/**
 * So many requests in flight a host, first come first served, with an interval between them. Taking a turn throws
 * DoorError `busy` when the line is full or the wait too long, and the reason of `signal` when that comes first.
 * The limit holds within this process only: each of several processes that ask one host has its own.
 */
export function createTurns({ intervalMs, atOnce = 1, maxWaiting, maxWaitMs }: Politeness): TakeTurn {
  /** Requests in a turn, or in the interval after one, and waiting ones in order, by host. */
  const lines = new Map<string, { inTurn: number; readonly waiting: (() => void)[] }>()

  function begin(host: string): EndTurn {
    const rested = new Promise<void>((resolve) => setTimeout(resolve, intervalMs).unref())
    return () => void rested.then(() => next(host))
  }

  function next(host: string) {
    const line = lines.get(host)
    const call = line?.waiting.shift()
    if (call) call()
    else if (line && --line.inTurn === 0) lines.delete(host)
  }

  return async (host, signal) => {
    signal.throwIfAborted()
    const line = lines.get(host) ?? { inTurn: 0, waiting: [] }
    if (line.inTurn < atOnce) {
      if (line.inTurn === 0 && lines.size >= maxHosts)
        throw new DoorError('busy', `${maxHosts} hosts are being asked already`)
      line.inTurn++
      lines.set(host, line)
      return begin(host)
    }
    const { waiting } = line
    if (waiting.length >= maxWaiting) throw new DoorError('busy', `${maxWaiting} requests wait for ${host} already`)

    return new Promise((resolve, reject) => {
      const call = () => {
        stopWaiting()
        resolve(begin(host))
      }
      const leave = (error: unknown) => {
        stopWaiting()
        waiting.splice(waiting.indexOf(call), 1)
        reject(error)
      }
      const abort = () => leave(signal.reason)
      const timer = setTimeout(() => leave(new DoorError('busy', `no turn for ${host} in ${maxWaitMs} ms`)), maxWaitMs)
      const stopWaiting = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      }
      signal.addEventListener('abort', abort, { once: true })
      waiting.push(call)
    })
  }
}
