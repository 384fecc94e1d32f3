import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Queryable } from './pool.ts'
import { walPlace } from './queries/server/wal.ts'

/** Greatest age of data read at a standby, in milliseconds. */
export const longestAgeMs = 30_000
/** How long a connection's last known position stays valid: a standby only moves forward. */
const lookHoldsMs = 1_000
/** Delay until transactions that do not wait for the disk are in the log. */
const unwrittenMs = 1_000
/**
 * SQLSTATEs of a read that fails only because it runs at a standby: cancelled in favour of replay (two codes), not
 * allowed there, or for a table or column whose migration the standby has not replayed yet.
 */
const standbysCodes = ['40001', '40P01', '25006', '42P01', '42703']
/** Interval at which both servers are polled, in milliseconds, while a standby serves and while none does. */
const beatMs = { serving: 1_000, waiting: 250 }

/**
 * answered: it serves; behind: it is too old, or lacks what this process has written; away: it does not answer;
 * foreign: it is a standby of another database.
 */
type Standing = 'answered' | 'behind' | 'away' | 'foreign'
/** Outcome of a read that a standby could have served; with all but `answered` it went to the primary. */
type Outcome = Standing | 'cancelled'

interface StandbyOptions {
  /** The primary; polled every second for its WAL position. */
  readonly primary: Queryable
  /** Connections to a standby, or to several behind one address. `end` ends it. */
  readonly pool: pg.Pool
  /** Monotonic clock, in milliseconds. */
  readonly now?: () => number
  readonly longestMs?: number
  readonly onChange?: (standing: Standing) => void
}

interface Look {
  readonly at: number
  readonly place: number
  readonly server: string
}

/**
 * Reads at standbys of the database, never older than `longestMs`. Their age is taken neither from their clocks nor
 * from the time of the last transaction, which is old on a quiet database too: the primary's WAL position is recorded
 * each second, and a standby is as old as the newest recorded position that it has replayed. So a standby that is cut
 * off from the primary ages, and so do all when the primary cannot be reached.
 *
 * A request reads at one standby only; when another takes over, or none is left, requests under way go to the primary,
 * so that no statement of a request sees an older state than the one before it.
 */
export class Standby {
  readonly pool: pg.Pool
  readonly counts: Record<Outcome, number> = { answered: 0, behind: 0, away: 0, foreign: 0, cancelled: 0 }
  readonly #primary: Queryable
  readonly #now: () => number
  readonly #longestMs: number
  readonly #onChange: (standing: Standing) => void
  /** WAL positions of the primary and when each was read, oldest first. */
  #marks: { readonly at: number; readonly place: number }[] = []
  #looks = new WeakMap<pg.PoolClient, Look>()
  #standing: Standing = 'behind'
  /** Number of the present term; it grows whenever the standing changes. */
  #term = 0
  #serving: Look | undefined
  /** Term in which each request began; 0: the request was sent to the primary and stays there. */
  readonly #terms = new WeakMap<object, number>()
  /** WAL position that a standby must have replayed to show this process's writes; infinite: not known yet. */
  #written = 0
  #marking: Promise<void> = Promise.resolve()
  #system: string | undefined
  #ended = false

  constructor({ primary, pool, now = () => performance.now(), longestMs = longestAgeMs, onChange }: StandbyOptions) {
    this.pool = pool
    this.#primary = primary
    this.#now = now
    this.#longestMs = longestMs - lookHoldsMs - unwrittenMs
    this.#onChange = onChange ?? (() => {})
    void this.#watch()
  }

  /** Age of the data at the serving standby, in milliseconds; undefined: none serves. */
  get ageMs(): number | undefined {
    return this.#serving && this.#ageOf(this.#serving)
  }

  get standing(): Standing {
    return this.#standing
  }

  /** Resolves once a standby serves, or after `withinMs`. */
  async untilServing(withinMs: number): Promise<void> {
    for (const deadline = this.#now() + withinMs; this.#standing !== 'answered' && this.#now() < deadline; ) {
      await delay(beatMs.waiting / 5)
    }
  }

  /**
   * A connection to a standby that is fresh enough; the caller releases it. Undefined: read at the primary. `request`
   * identifies the statements of one request.
   */
  async connect(request: object = {}): Promise<pg.PoolClient | undefined> {
    const mayStay = () => this.#standing === 'answered' && (this.#terms.get(request) ?? this.#term) === this.#term
    const client = mayStay() ? await this.#fit() : undefined
    if (client && mayStay()) {
      this.#terms.set(request, this.#term)
      this.counts.answered++
      return client
    }
    client?.release()
    this.#terms.set(request, 0)
    this.counts[this.#standing === 'answered' ? 'behind' : this.#standing]++
    return undefined
  }

  /** Whether a read failed because it ran at a standby, so that it should be repeated at the primary. */
  isStandbys(error: unknown, request: object = {}): boolean {
    const { code = '', message = '' } = error as { code?: string; message?: string }
    const isLost = !(error instanceof pg.DatabaseError) || /^(08|57P)/.test(code)
    const isCancelled = standbysCodes.includes(code) || /conflict with recovery/.test(message)
    if (!isCancelled && !isLost) return false
    this.counts[isCancelled ? 'cancelled' : 'away']++
    if (isLost) this.#stand('away')
    this.#terms.set(request, 0)
    return true
  }

  /** Makes later reads see what the primary has now: they go there until a standby has replayed it. */
  async noteWritten(): Promise<void> {
    this.#written = Number.POSITIVE_INFINITY
    this.#stand('behind')
    await this.#mark().catch(() => {}) // the next one that succeeds says it as well
  }

  async end(): Promise<void> {
    this.#ended = true
    await this.pool.end()
  }

  async #watch(): Promise<void> {
    while (!this.#ended) {
      await this.#mark().catch(() => {})
      const { totalCount, idleCount, options } = this.pool
      // When all connections are in use, their users check the standby; another check would only wait.
      if (!this.#ended && (idleCount > 0 || totalCount < options.max)) (await this.#fit())?.release()
      await delay(beatMs[this.#standing === 'answered' ? 'serving' : 'waiting'], undefined, { ref: false })
    }
  }

  /** Records the primary's position, one query at a time: answers out of order would look like a log that went back. */
  #mark(): Promise<void> {
    this.#marking = this.#marking.catch(() => {}).then(() => this.#askPrimary())
    return this.#marking
  }

  async #askPrimary(): Promise<void> {
    const at = this.#now()
    const hasWritten = this.#written === Number.POSITIVE_INFINITY
    const { place, system } = await walPlace(this.#primary)
    this.#system = system
    if (place < (this.#marks.at(-1)?.place ?? 0)) {
      // After a failover the log continues from an earlier position: recorded positions are of an abandoned timeline.
      this.#marks = []
      this.#written = 0
    }
    if (hasWritten) this.#written = place
    this.#marks = [...this.#marks.filter((mark) => at - mark.at <= this.#longestMs), { at, place }]
  }

  /**
   * A connection to a fit standby; undefined: none. An unfit one is closed, so that the next can reach another server.
   */
  async #fit(): Promise<pg.PoolClient | undefined> {
    let client: pg.PoolClient | undefined
    try {
      client = await this.pool.connect()
      const known = this.#looks.get(client)
      const look = known && this.#isFit(known) ? known : await this.#look(client)
      if (look && (!this.#serving || this.#serving.server === look.server)) {
        this.#serving = look
        this.#stand('answered')
        return client
      }
    } catch {
      if (!this.#ended) this.#stand('away')
    }
    client?.release(true)
    return undefined
  }

  /** Reads the position of a connection's server. Undefined: the server is not fit, and `#standing` says why. */
  async #look(client: pg.PoolClient): Promise<Look | undefined> {
    const at = this.#now()
    const { place, server, system } = await walPlace(client)
    const look = { at, place, server }
    this.#looks.set(client, look)
    if (this.#system !== undefined && system === this.#system && this.#isFit(look)) return look
    // A different standby says nothing about the one that serves.
    if (!this.#serving || this.#serving.server === server) {
      this.#stand(this.#system === undefined || system === this.#system ? 'behind' : 'foreign')
    }
    return undefined
  }

  #isFit(look: Look): boolean {
    const isFresh = this.#now() - look.at <= lookHoldsMs && look.place >= this.#written
    return isFresh && this.#ageOf(look) <= this.#longestMs
  }

  #ageOf({ place }: Look): number {
    const mark = this.#marks.findLast((one) => one.place <= place)
    return mark ? this.#now() - mark.at : Number.POSITIVE_INFINITY
  }

  #stand(standing: Standing): void {
    if (standing !== 'answered') this.#serving = undefined
    if (standing === this.#standing) return
    this.#standing = standing
    this.#term++
    this.#onChange(standing)
  }
}

/** How long a command waits for a fit standby. */
const commandWaitMs = 3_000

/** Runs repeatable work at a standby if one is fit; if that fails because of the standby, again at the primary. */
export async function readAt<T>(
  standby: Standby,
  primary: pg.Pool,
  work: (pool: Pick<pg.Pool, 'connect'>) => Promise<T>,
): Promise<T> {
  await standby.untilServing(commandWaitMs)
  const client = await standby.connect()
  if (!client) return work(primary)
  try {
    return await work({ connect: (async () => client) as pg.Pool['connect'] })
  } catch (error) {
    if (!standby.isStandbys(error)) throw error
    return work(primary)
  }
}
