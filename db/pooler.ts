import pg from 'pg'
import { connectionTimeouts } from './pool.ts'

/** Of a look at a server that may be busy, in milliseconds: what migrations give a connection as well. */
const patienceMs = 10_000
/** SQLSTATE of a start-up message that a pooler does not understand; servers know every setting that is sent. */
const protocolViolation = '08P01'

/** What a server does not do, but a pooler that hands out its connections by the transaction. */
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
 * Throws one line when sessions are not sessions: a client's second statement runs in another one than its first, or in
 * that of another client. Locks that such a session takes belong to nobody, and stay when their owner is gone.
 */
export async function refusePooler(databaseUrl: string): Promise<void> {
  const clients = [clientOf(databaseUrl), clientOf(databaseUrl)] as const
  const [one, other] = clients
  try {
    for (const client of clients) await connect(client)
    const first = await processOf(one)
    await other.query('begin') // takes the connection that is free now, and keeps it
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
    connectionTimeoutMillis: patienceMs,
    ...connectionTimeouts(patienceMs),
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
