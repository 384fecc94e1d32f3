import type pg from 'pg'
import { reserveRequests, restHost } from '../db/queries/sources/host-budgets.ts'
import { createHost, type Host, HostClosed, type Pace } from '../hosts/host.ts'
import { second } from '../ops/time.ts'

interface SharedHostOptions {
  readonly pool: pg.Pool
  /** Name of the host, under which processes share its state in the database. */
  readonly name: string
  readonly requestsPerSecond: number
  /** Requests in a UTC day, over all processes and restarts; null: no limit. */
  readonly perDay: number | null
  readonly now: () => Date
}

/** Slots are reserved in the database in bunches, this many a second; a bunch has those of a quarter of a second. */
const bunchesASecond = 4
/** Milliseconds after which an unused slot expires: saved slots would be used in a burst. */
const staleMs = second

interface SharedHost extends Host {
  /** Sends no request for `ms` milliseconds; resolves when the pause is stored for all processes. */
  rest(ms: number): Promise<void>
}

/** A host whose rate limit, daily budget and Retry-After hold for all processes that use this database. */
export function createSharedHost(options: SharedHostOptions): SharedHost {
  const { pool, name, requestsPerSecond, now } = options
  const host = createHost({ name, requestsPerSecond, pace: createSharedPace(options), now })

  async function rest(ms: number) {
    host.restFor(ms)
    await restHost(pool, { host: name, until: new Date(now().getTime() + ms), now: now() })
  }

  return {
    ...host,
    rest,
    restFor: (ms) => void rest(ms).catch(() => {}), // without the database no process sends requests

    async slot(urgency) {
      try {
        await host.slot(urgency)
      } catch (error) {
        // Another process got a Retry-After, or the day's budget is spent.
        if (error instanceof HostClosed) host.restFor(error.until.getTime() - now().getTime())
        throw error
      }
    },
  }
}

function createSharedPace({ pool, name, requestsPerSecond, perDay, now }: SharedHostOptions): Pace {
  const intervalMs = second / requestsPerSecond
  const count = perDay === null ? Math.max(1, Math.floor(requestsPerSecond / bunchesASecond)) : 1
  let slots: number[] = []
  let last: Promise<unknown> = Promise.resolve()

  async function takeSlot(): Promise<number> {
    slots = slots.filter((at) => at > performance.now() - staleMs)
    if (slots.length === 0) {
      const reserved = await reserveRequests(pool, { host: name, count, intervalMs, perDay, now: now() })
      if ('until' in reserved) {
        throw new HostClosed(`${name} is asked no more until ${reserved.until.toISOString()}`, reserved.until)
      }
      const firstAt = performance.now() + reserved.inMs
      slots = Array.from({ length: count }, (_, index) => firstAt + index * intervalMs)
    }
    return slots.shift()!
  }

  return async () => {
    const turn = last.then(takeSlot)
    last = turn.catch(() => {})
    return Math.max(0, (await turn) - performance.now())
  }
}
