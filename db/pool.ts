import pg from 'pg'

/** Anything that runs a statement: a pool, or a client inside a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>

interface PoolOptions {
  /** Connection string of a Postgres 15 or newer. */
  readonly databaseUrl: string
  /** Shown in pg_stat_activity. */
  readonly name: string
  /** Connections at most. */
  readonly max?: number
  /** A statement is cancelled after this many milliseconds; 0: never, it may rightly take hours. */
  readonly statementTimeoutMs?: number
  /** Waiting for a free or new connection fails after this many milliseconds. */
  readonly connectTimeoutMs?: number
}

/**
 * Statement timeout of a background process: longer than any statement in order takes, short enough to notice a lost
 * host.
 */
export const patientStatementMs = 300_000
/** How much later than the server this side gives a statement up: only when the server is not there to do it. */
const graceMs = 1_000

/**
 * Settings of a connection that notices a database host that vanished without a word. An idle connection, and one that
 * waits for an answer, is found dead by the kernel's keepalive after twenty seconds; a statement whose own bytes were
 * lost is given up `graceMs` after the server would have cancelled it.
 */
export function connectionTimeouts(statementTimeoutMs: number) {
  return {
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000, // then the runtime asks each second, ten times
    ...(statementTimeoutMs > 0 && {
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + graceMs,
    }),
  }
}

/**
 * A pool of connections. Amounts and counts (int8) arrive as numbers when they are safe integers and throw otherwise;
 * timestamps arrive as Date, bytea as Buffer, numeric as string.
 */
export function createPool({
  databaseUrl,
  name,
  max = 10,
  statementTimeoutMs = patientStatementMs,
  connectTimeoutMs = 5_000,
}: PoolOptions) {
  const pool = new pg.Pool({
    ...connectionTimeouts(statementTimeoutMs),
    connectionString: databaseUrl,
    application_name: name,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: 1_800, // after a failover connections move on, and plans do not grow old
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? toSafeInteger : pg.types.getTypeParser(oid, format as 'text'),
    },
  })
  // A server that goes away breaks connections. The pool replaces idle ones, and of one in use the statement in flight
  // or the next one says so: no reason to end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** A server that is there undoes at once. */
const rollbackMs = 5_000

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query({ text: 'rollback', query_timeout: rollbackMs } as pg.QueryConfig).catch((cause: Error) => {
      broken = cause
    })
    throw error
  } finally {
    client.release(broken)
  }
}

function toSafeInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} is not a safe integer; select it as text`)
  return number
}
