import type pg from 'pg'
import { createPool, type Queryable, withSettings } from '../../db/pool.ts'
import { isTooSlow } from '../../db/queries/sql/broken-rows.ts'
import type { Standby } from '../../db/standby.ts'
import { requestOf, Turns } from './database-turns.ts'

/** Connections of one API process: more would gain nothing on few cores, and would cost the server memory. */
const poolConnections = 10
/** Timeout for opening a connection, in milliseconds. */
const connectTimeoutMs = 3_000
/** The server cancels a statement after this many milliseconds: a lock, a plan gone wrong. */
const statementTimeoutMs = 5_000
/** Client-side timeout of a statement, in milliseconds, for a server that cannot cancel it: frozen, or cut off. */
const answerTimeoutMs = 6_000

/** Bounds of requests; default: those of an API process. */
interface RequestBounds {
  /** Deadline of a request's statements, in milliseconds from its arrival. */
  readonly answerWithinMs?: number
  /** Client-side timeout of a statement, in milliseconds. */
  readonly statementMs?: number
}
/** Requests that may wait for a connection at the same time; at most half of them are of one client. */
const maxWaiting = 4_000

/** How a connection of the API is opened: rankings sum up in memory instead of on disk. */
const connectionSettings = '-c work_mem=32MB'

/** The connections of an API process. */
export function createApiPool(databaseUrl: string): pg.Pool {
  const named = withSettings(databaseUrl, { before: connectionSettings })
  return createPool({ databaseUrl: named, name: 'api', max: poolConnections, statementTimeoutMs, connectTimeoutMs })
}

function inTime<T>(answered: Promise<T>, leftMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the time of the request is over')), leftMs)
    answered.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/**
 * A pool for a library that checks out whole connections: each check-out waits for its turn like a statement of
 * `boundedDatabase`, and one client's requests hold half of the connections at most, so that others always find some.
 * Has nothing but `connect`.
 */
export function connectionsByTurn(pool: Pick<pg.Pool, 'connect' | 'options'>): Pick<pg.Pool, 'connect'> {
  const slots = pool.options.max
  const slotsOfClient = Math.ceil(slots / 2)
  const turns = new Turns({ slots, pageSlots: slots, slotsOfClient, maxWaiting, maxWaitingOfClient: maxWaiting / 2 })
  const connect = async () => {
    const { end } = await turns.take()
    const client = await pool.connect().catch((cause) => {
      end()
      throw cause
    })
    const release = client.release
    client.release = (broken) => {
      end()
      release(broken)
    }
    return client
  }
  return { connect: connect as pg.Pool['connect'] }
}

interface Counted {
  /** Statements that timed out since the process started: cancelled by the server, or unanswered by it. */
  readonly cancelledCount: number
}

/** The database as requests use it, with counts of its connections by state. */
export interface BoundedDatabase extends Queryable, Counted {
  readonly totalCount: number
  readonly idleCount: number
  /** Requests that wait for a connection. */
  readonly waitingCount: number
}

/**
 * The pool as requests use it: a statement waits for its turn until the deadline of its request, each client in a
 * line of its own. A client has half of the connections at most, as have all pages together. The pool closes a
 * connection whose statement failed, so that the next request never meets a broken one.
 */
export function boundedDatabase(
  pool: Pick<pg.Pool, 'query' | 'options' | 'totalCount' | 'idleCount'>,
  { answerWithinMs, statementMs = answerTimeoutMs }: RequestBounds = {},
): BoundedDatabase {
  const slots = pool.options.max
  const half = Math.ceil(slots / 2)
  const turns = new Turns({
    slots,
    pageSlots: half,
    slotsOfClient: half,
    maxWaiting,
    maxWaitingOfClient: maxWaiting / 2,
    answerWithinMs,
  })
  let cancelledCount = 0
  const query = async (config: pg.QueryConfig) => {
    const { leftMs, end } = await turns.take()
    const timeout = { query_timeout: Math.min(statementMs, leftMs) }
    const answered = pool.query({ ...config, ...timeout } as pg.QueryConfig).finally(end)
    answered.catch((error) => {
      if (isTooSlow(error) || isUnanswered(error)) cancelledCount++
    })
    // Opening a connection has a timeout of its own, which may end after the deadline of the request.
    return inTime(answered, leftMs)
  }
  return {
    query: query as Queryable['query'],
    get totalCount() {
      return pool.totalCount
    },
    get idleCount() {
      return pool.idleCount
    },
    get waitingCount() {
      return turns.waiting
    },
    get cancelledCount() {
      return cancelledCount
    },
  }
}

/** pg's own words for a statement that was not answered in time; they have no code. */
const isUnanswered = (cause: unknown) => (cause as Error | null)?.message === 'Query read timeout'

/**
 * The database for reads: a standby while one is fit, else the primary. A statement that a standby cancels, or cannot
 * run as a standby, is retried on the primary.
 */
export function readsThrough(standby: Standby, primary: Queryable & Counted): Queryable & Counted {
  const { pool } = standby
  const ask = async (config: pg.QueryConfig) => {
    const request = requestOf()
    const client = await standby.connect(request)
    if (!client) return undefined
    try {
      const result = await client.query(config)
      client.release()
      return result
    } catch (error) {
      client.release(true)
      if (!standby.isStandbys(error, request)) throw error
      return undefined
    }
  }
  const bounded = boundedDatabase({
    options: pool.options,
    query: ask as pg.Pool['query'],
    get totalCount() {
      return pool.totalCount
    },
    get idleCount() {
      return pool.idleCount
    },
  })
  const query = async (config: pg.QueryConfig) => (await bounded.query(config)) ?? primary.query(config)
  return {
    query: query as Queryable['query'],
    get cancelledCount() {
      return bounded.cancelledCount + primary.cancelledCount
    },
  }
}

/**
 * A pool for reads, for a library that checks out whole connections: to a standby while one is fit, else to the
 * primary. A statement that a standby cancels, or cannot run as a standby, is retried on the primary.
 */
export function readConnections(standby: Standby, primary: pg.Pool): Pick<pg.Pool, 'connect' | 'options'> {
  const connect = async () => {
    const request = requestOf()
    const client = await standby.connect(request)
    if (!client) return primary.connect()
    const { query, release } = client
    const run = query.bind(client) as Queryable['query']
    let isBroken = false
    const ask = async (config: pg.QueryConfig) => {
      try {
        return await run(config)
      } catch (error) {
        if (!standby.isStandbys(error, request)) throw error
        isBroken = true
        return primary.query(config)
      }
    }
    client.query = ask as typeof query
    client.release = (broken) => {
      client.query = query
      release(broken || isBroken)
    }
    return client
  }
  return { connect: connect as pg.Pool['connect'], options: standby.pool.options }
}
