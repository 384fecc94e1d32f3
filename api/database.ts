import type pg from 'pg'
import type { Queryable } from '../db/pool.ts'

/** Connections of one API process: more gain nothing on few cores and cost the server memory. */
export const poolConnections = 10
/** Waiting for a connection, milliseconds. Together with `answerTimeoutMs` below the 10 s any request may take. */
export const connectTimeoutMs = 3_000
/** The server cancels a statement after this many milliseconds: a lock, a plan gone wrong. */
export const statementTimeoutMs = 5_000
/** This side gives up on a server that does not even cancel: frozen, or gone without a word. */
const answerTimeoutMs = 6_000
/** Requests waiting for a connection at once; the next one is refused rather than queued. */
const maxWaiting = 256

/**
 * The pool as requests use it: every wait has an end, and a database in trouble gathers no crowd. A connection whose
 * statement failed is closed by the pool, so that the next request never meets a broken one.
 */
export function boundedDatabase(pool: pg.Pool): Queryable {
  const query = (config: pg.QueryConfig) => {
    if (pool.waitingCount >= maxWaiting) {
      return Promise.reject(new Error(`${maxWaiting} requests wait for a database connection already`))
    }
    return pool.query({ ...config, query_timeout: answerTimeoutMs } as pg.QueryConfig)
  }
  return { query } as Queryable
}
