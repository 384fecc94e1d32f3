import type pg from 'pg'
import { createPool, type Queryable } from '../../db/pool.ts'

/** Connections of one API process: more gain nothing on few cores and cost the server memory. */
const poolConnections = 10
/** Waiting for a connection, milliseconds. Together with `answerTimeoutMs` below the 10 s any request may take. */
const connectTimeoutMs = 3_000
/** The server cancels a statement after this many milliseconds: a lock, a plan gone wrong. */
const statementTimeoutMs = 5_000
/** This side gives up on a server that does not even cancel: frozen, or gone without a word. */
const answerTimeoutMs = 6_000
/** Requests waiting for a connection at once; the next one is refused rather than queued. */
const maxWaiting = 256

/**
 * How a connection of the API is opened: rankings sum up in memory instead of on disk, and no statement here is long
 * enough to be worth compiling.
 */
const connectionSettings = '-c work_mem=32MB -c jit=off'

/** The connections of an API process. */
export function createApiPool(databaseUrl: string): pg.Pool {
  const url = new URL(databaseUrl)
  url.searchParams.set('options', connectionSettings)
  return createPool({ databaseUrl: url.href, name: 'api', max: poolConnections, statementTimeoutMs, connectTimeoutMs })
}

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
