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

/** An address with settings before or after the operator's own `options` in it; of two for one thing the later counts. */
export function withSettings(databaseUrl: string, { before = '', after = '' }): string {
  const url = new URL(databaseUrl)
  const all = [before, url.searchParams.get('options') ?? '', after].filter((options) => options !== '')
  url.searchParams.set('options', all.join(' '))
  return url.href
}

/**
 * An address whose sessions end within 25 seconds of their client's host vanishing, and free their locks; servers wait
 * for hours otherwise. A client that takes what it asked for slowly (`isPatient`) is given all the time it wants.
 */
export function endingWithClient(databaseUrl: string, { isPatient = false } = {}): string {
  const settings = [
    'tcp_keepalives_idle=10',
    'tcp_keepalives_interval=5',
    'tcp_keepalives_count=3',
    'client_connection_check_interval=10s',
    ...(isPatient ? [] : ['tcp_user_timeout=25000']), // counts while the client's buffers are full, too
  ]
  return withSettings(databaseUrl, { before: settings.map((setting) => `-c ${setting}`).join(' ') })
}

/**
 * An address whose transactions wait for this server's disk and for no standby: what they write is read from the chain
 * again when a failover loses it, with the cursor that goes back together with it.
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
    connectionString: endingWithClient(databaseUrl, { isPatient: statementTimeoutMs === 0 }),
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
    // There is nothing to roll back when the commit failed, and nothing to wait for when it was not answered.
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

/** How long a commit may wait for a standby; shorter than any statement timeout. */
const standbyPatienceMs = 4_000
/** The server's routine that gives up waiting for a standby, and commits all the same. */
const givesUpOnStandby = 'SyncRepWaitForLSN'

/**
 * `inTransaction` for what nothing can bring back: where the server has synchronous standbys, it returns once one has
 * the transaction on its disk. Throws when none has it after `patienceMs`: the transaction is committed here, and may be
 * gone after a failover. No timeout of the server ends that wait, so it is cancelled from here.
 */
export async function inSafeTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  patienceMs = standbyPatienceMs,
): Promise<T> {
  const client = await pool.connect()
  const { release } = client
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid').catch((error) => {
    release(error)
    throw error
  })
  let isUnsafe = false
  let timer: NodeJS.Timeout | undefined
  let cancelling: Promise<unknown> | undefined
  const hear = ({ routine }: { routine?: string | undefined }) => {
    isUnsafe ||= routine === givesUpOnStandby
  }
  const cancel = () => {
    cancelling = pool.query('select pg_cancel_backend($1)', [rows[0]?.pid]).catch(() => {})
  }
  client.on('notice', hear)
  client.release = (broken) => {
    clearTimeout(timer)
    client.off('notice', hear)
    release(broken || cancelling !== undefined) // a late cancellation would hit the next one's statement
  }
  const result = await inTransaction({ connect: (async () => client) as pg.Pool['connect'] }, async (transaction) => {
    await transaction.query(`select set_config('synchronous_commit', 'on', true)`)
    const done = await work(transaction)
    timer = setTimeout(cancel, patienceMs)
    return done
  })
  if (isUnsafe) throw new Error('no standby has what was written: it may not outlive this server')
  return result
}

function toSafeInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} is not a safe integer; select it as text`)
  return number
}
