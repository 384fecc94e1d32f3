import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Queryable } from './pool.ts'
import { walPlace } from './queries/server/wal.ts'

/** What is read at a standby is at most this old, in milliseconds. */
export const longestAgeMs = 30_000
/** A look at a connection's server holds for this long: the place of a standby only grows. */
const lookHoldsMs = 1_000
/** Transactions that do not wait for the disk are in the log this much later. */
const unwrittenMs = 1_000
/**
 * What a statement that reads is refused with for where it is: cancelled for the replay (two codes), not allowed there,
 * of a table or a column that a migration has made and the standby has not replayed yet.
 */
const standbysCodes = ['40001', '40P01', '25006', '42P01', '42703']
/** Between looks at both servers, while the standby serves and while it does not. */
const beatMs = { serving: 1_000, waiting: 250 }

/**
 * answered: it serves; behind: it is too old, or lacks what this process has written; away: it does not answer;
 * foreign: it is a standby of another database.
 */
type Standing = 'answered' | 'behind' | 'away' | 'foreign'
/** What became of a read that a standby could have taken; all but the first went to the primary. */
type Outcome = Standing | 'cancelled'

interface StandbyOptions {
  /** Asked once a second where its log stands. */
  readonly primary: Queryable
  /** Connections to a standby, or to several behind one address; ended with this. */
  readonly pool: pg.Pool
  /** Milliseconds, of a clock that is never set. */
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
 * Reads at standbys of the database, never older than `longestMs`. Their age is not asked of their clocks, nor of the
 * time of the last transaction, which is old on a quiet database too: the primary is asked each second where its log
 * stands, and a standby is as old as the newest such place that it has replayed. So one that does not hear from the
 * primary any more grows old as well, and so do all when nobody can ask the primary.
 *
 * One request reads at one standby; when another takes over, or none is left, requests under way go to the primary, so
 * that no statement sees less than the one before it.
 */
export class Standby {
  readonly pool: pg.Pool
  readonly counts: Record<Outcome, number> = { answered: 0, behind: 0, away: 0, foreign: 0, cancelled: 0 }
  readonly #primary: Queryable
  readonly #now: () => number
  readonly #longestMs: number
  readonly #onChange: (standing: Standing) => void
  /** Places of the primary's log and when it was asked, oldest first. */
  #marks: { readonly at: number; readonly place: number }[] = []
  #looks = new WeakMap<pg.PoolClient, Look>()
  #standing: Standing = 'behind'
  /** Of the server that serves now; another number after each change. */
  #term = 0
  #serving: Look | undefined
  /** The term that a request began in; 0: it was sent to the primary. */
  readonly #terms = new WeakMap<object, number>()
  /** What this process has written lies below. */
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

  /** Milliseconds, of the newest look; undefined: none serves. */
  get ageMs(): number | undefined {
    return this.#serving && this.#ageOf(this.#serving)
  }

  get standing(): Standing {
    return this.#standing
  }

  /** Resolves when a standby serves, at the latest after `withinMs`. */
  async untilServing(withinMs: number): Promise<void> {
    for (const deadline = this.#now() + withinMs; this.#standing !== 'answered' && this.#now() < deadline; ) {
      await delay(beatMs.waiting / 5)
    }
  }

  /**
   * A connection to a standby that is fit to be read at, to be released by the caller. Undefined: ask the primary.
   * `request`: what belongs together.
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

  /** Whether a read failed for its being done at a standby: then the primary is to be asked. Reads there can be repeated. */
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

  /** From here on reads see what the primary has now; those that no standby can serve yet go there. */
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
      // Where all connections are in use each of them is looked at; one more would only wait.
      if (!this.#ended && (idleCount > 0 || totalCount < options.max)) (await this.#fit())?.release()
      await delay(beatMs[this.#standing === 'answered' ? 'serving' : 'waiting'], undefined, { ref: false })
    }
  }

  /** One at a time: answers that overtake each other would look like a log that goes back. */
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
      // After a failover the log goes on from an earlier place: what was noted is of one that nobody continues.
      this.#marks = []
      this.#written = 0
    }
    if (hasWritten) this.#written = place
    this.#marks = [...this.#marks.filter((mark) => at - mark.at <= this.#longestMs), { at, place }]
  }

  /** A connection that may be read at now. One that may not is given up, so that the next one can lead elsewhere. */
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

  /** Undefined: it is not fit, and `#standing` says why. */
  async #look(client: pg.PoolClient): Promise<Look | undefined> {
    const at = this.#now()
    const { place, server, system } = await walPlace(client)
    const look = { at, place, server }
    this.#looks.set(client, look)
    if (this.#system !== undefined && system === this.#system && this.#isFit(look)) return look
    // Another standby than the one that serves says nothing about that one.
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

/** How long a command waits for a standby that is fit. */
const commandWaitMs = 3_000

/** Work that can be repeated, at a standby if one is fit, and once more at the primary if it gives up. */
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
