import pg from 'pg'
import { connectionTimeouts } from './pool.ts'

/** Timeout of the check, in milliseconds: as long as migrations wait for a connection to a busy server. */
const timeoutMs = 10_000
/** SQLSTATE for a start-up message that was not understood: only a pooler rejects the settings that are sent. */
const protocolViolation = '08P01'

/** A pooler in transaction mode is between this process and the server. */
class PoolerInBetween extends Error {
  override readonly name = 'PoolerInBetween'
  constructor(cause?: unknown) {
    super(
      'between here and the database is a pooler that gives connections away after each transaction, where locks of a ' +
        'session hold nobody back: name the server itself in DATABASE_URL, or a pool in session mode',
      { cause },
    )
  }
}

/**
 * Throws a one-line error when a pooler in transaction mode is in between, that is, when two statements of a client run
 * in different server sessions, or in another client's. Session locks would not belong to their client there, and would
 * outlive it.
 */
export async function refusePooler(databaseUrl: string): Promise<void> {
  const clients = [clientOf(databaseUrl), clientOf(databaseUrl)] as const
  const [one, other] = clients
  try {
    for (const client of clients) await connect(client)
    const first = await processOf(one)
    await other.query('begin') // occupies the server connection that is free now
    const between = await processOf(other)
    if (between === first || (await processOf(one)) !== first) throw new PoolerInBetween()
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})))
  }
}

function clientOf(databaseUrl: string): pg.Client {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'is this a session',
    connectionTimeoutMillis: timeoutMs,
    ...connectionTimeouts(timeoutMs),
  })
  client.on('error', () => {}) // the statement in flight says so
  return client
}

async function connect(client: pg.Client): Promise<void> {
  try {
    await client.connect()
  } catch (error) {
    if ((error as { code?: string }).code === protocolViolation) throw new PoolerInBetween(error)
    throw error
  }
}

async function processOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid as number
}
