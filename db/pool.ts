import pg from 'pg'

/** Anything that runs a statement: a pool, or a client inside a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>

interface PoolOptions {
  /** Connection string of a Postgres 15 or newer. */
  readonly databaseUrl: string
  /** `application_name` of the connections, shown in pg_stat_activity. */
  readonly name: string
  /** Maximum number of connections. */
  readonly max?: number
  /** A statement is cancelled after this many milliseconds; 0: never, it may rightly take hours. */
  readonly statementTimeoutMs?: number
  /** Waiting for a free or new connection fails after this many milliseconds. */
  readonly connectTimeoutMs?: number
}

/**
 * Statement timeout of background processes, in milliseconds: longer than any healthy statement takes, short enough to
 * notice a lost host.
 */
export const patientStatementMs = 300_000
/** How much later than the server the client gives a statement up, in case the server is gone. */
const graceMs = 1_000

/**
 * Connection settings that detect a database host that vanished silently. Idle connections, and those that wait for an
 * answer, are found dead by TCP keepalive after twenty seconds; a statement whose own bytes were lost is given up
 * `graceMs` after the server would have cancelled it.
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

/** Adds server settings before or after the operator's own `options` in a connection string; the last of two wins. */
export function withSettings(databaseUrl: string, { before = '', after = '' }): string {
  const url = new URL(databaseUrl)
  const all = [before, url.searchParams.get('options') ?? '', after].filter((options) => options !== '')
  url.searchParams.set('options', all.join(' '))
  return url.href
}

/**
 * Connection string of a session of this project. It is in UTC, whatever the server or the operator says: elsewhere a day
 * has 23 or 25 hours when clocks change, and "7 days" would begin an hour off. It ends, and frees its locks, within 25
 * seconds after its client's host vanishes; by default servers wait for hours. With `isPatient` a client may read its
 * results as slowly as it likes.
 */
export function sessionOf(databaseUrl: string, { isPatient = false } = {}): string {
  const settings = [
    'tcp_keepalives_idle=10',
    'tcp_keepalives_interval=5',
    'tcp_keepalives_count=3',
    'client_connection_check_interval=10s',
    'jit=off', // a statement looks up by key what the planner expects to be many rows: compiling takes longer than running
    ...(isPatient ? [] : ['tcp_user_timeout=25000']), // counts while the client's buffers are full, too
  ]
  const before = settings.map((setting) => `-c ${setting}`).join(' ')
  return withSettings(databaseUrl, { before, after: '-c timezone=UTC' })
}

/**
 * Connection string whose transactions wait for the primary's disk only, not for a standby: what a failover loses is
 * re-derived from the chain, as the cursor is lost together with the rows.
 */
export const rebuildable = (databaseUrl: string) => withSettings(databaseUrl, { before: '-c synchronous_commit=local' })

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
    connectionString: sessionOf(databaseUrl, { isPatient: statementTimeoutMs === 0 }),
    application_name: name,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: 1_800, // after a failover connections move to the new primary, and cached plans are renewed
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? toSafeInteger : pg.types.getTypeParser(oid, format as 'text'),
    },
  })
  // A server that goes away breaks connections. The pool replaces idle ones, and on one in use the statement in flight
  // or the next one fails: no reason to end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Timeout of a rollback, which a reachable server does at once. */
const rollbackMs = 5_000

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export async function inTransaction<T>(
  pool: Pick<pg.Pool, 'connect'>,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  let isCommitting = false
  try {
    await client.query('begin')
    const result = await work(client)
    isCommitting = true
    await client.query('commit')
    return result
  } catch (error) {
    // After a failed commit there is nothing to roll back; the connection is discarded.
    if (isCommitting) broken = error as Error
    else
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

/** Drops a database and disconnects its clients. Nothing happens when there is none of this name. */
export async function dropDatabase(db: Queryable, name: string): Promise<void> {
  await db.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
}

/** Creates an empty database from template0: template1 may have been changed on this server. */
export async function createDatabase(db: Queryable, name: string): Promise<void> {
  await db.query(`create database ${pg.escapeIdentifier(name)} template template0 encoding 'UTF8'`)
}
