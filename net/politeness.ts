import { DoorError } from './errors.ts'

export interface Politeness {
  /** From the start of one request to a host to the start of the next, milliseconds. */
  readonly intervalMs: number
  /** Requests waiting for one host, at most; a further one is refused. */
  readonly maxWaiting: number
  /** A request that has waited this long for its turn, in milliseconds, is refused. */
  readonly maxWaitMs: number
}

/** What a stranger's server has to bear from us. */
export const politeByDefault: Politeness = { intervalMs: 1_000, maxWaiting: 20, maxWaitMs: 30_000 }

/** Hosts in a turn, or within the interval after one, at once. */
const maxHosts = 10_000

/** Ends a turn: to be called once, whatever came of the request. */
export type EndTurn = () => void
type TakeTurn = (host: string, signal: AbortSignal) => Promise<EndTurn>

/**
 * One request in flight a host, first come first served, with an interval between them. Taking a turn throws
 * DoorError `busy` when the line is full or the wait too long, and the reason of `signal` when that comes first.
 * Known to this process only: several processes that ask one host are polite each for itself.
 */
export function createTurns({ intervalMs, maxWaiting, maxWaitMs }: Politeness): TakeTurn {
  /** Who waits for a host. A host without an entry may be asked at once. */
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
