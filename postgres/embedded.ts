import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import pg from 'pg'
import { withLock } from '../ops/lock.mjs'
import { findHome, type PostgresHome } from './home.ts'
import { type EmbeddedOptions, endOfLog, findServer, type Server, shutDown, startServer } from './server.ts'

/** The embedded Postgres server, for installations without DATABASE_URL. */
export interface EmbeddedPostgres {
  /** Connection string of the superuser, to the database `postgres`. */
  readonly databaseUrl: string
  /** True when the server was already running on this folder. */
  readonly adopted: boolean
  /** Absolute path of the data, which may differ from the folder that was asked for: see `findHome`. */
  readonly dataFolder: string
  /** Process id of the server. */
  readonly pid: number
  /** Connection string of the superuser to another database of this server. */
  urlOf(database: string): string
  /**
   * Stops using the server. The last process to leave shuts it down (fast shutdown): open transactions are rolled
   * back, committed rows are safe.
   */
  stop(): Promise<void>
}

/** A client with `ref` and `unref`, which it has although its types do not declare them. */
type Presence = pg.Client & { ref(): void; unref(): void }

/** How long a start waits for another process that starts the server: that may recover for hours. */
const startWaitMs = 24 * 60 * 60_000
/** How long a process that leaves waits for another that starts or stops the server. */
const leaveWaitMs = 180_000
/** How often the operator hears of a start that takes long. */
const tellEveryMs = 30_000
const connectTimeoutMs = 5_000
/** `application_name` of the connection by which a process shows that it uses the server, and while it leaves. */
const user = 'agent-directory user'
const leaver = 'agent-directory leaver'

/**
 * Starts Postgres on a data folder, creating it when it is not there; adopts a server that already runs on it, be it
 * another process's or one that a killed process left behind. The port is that of the last start, the
 * preferred or another free one below the ephemeral range; the password is random, made with the data.
 *
 * A server that recovers, after a crash or from a backup, is waited for as long as that takes, whoever started it.
 * Throws when the platform has no binaries: then DATABASE_URL has to name a server.
 */
export async function startPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const home = await findHome(resolve(options.dataFolder))
  const name = `postgres ${home.data}`
  const start = async () => {
    const running = await findServer(home, options)
    if (running) options.onServer?.(running.pid)
    const server = running ?? (await startServer(home, options))
    const presence = await enter(server)
    let left: Promise<void> | undefined
    const stop = () => {
      left ??= withLock({ name, waitMs: leaveWaitMs }, () => leave(home, server, presence))
      return left
    }
    const urlOf = (database: string) => urlTo(server, database)
    return {
      databaseUrl: urlOf('postgres'),
      adopted: running !== undefined,
      dataFolder: home.data,
      pid: server.pid,
      urlOf,
      stop,
    }
  }
  return tellingProgress(home, () => withLock({ name, waitMs: startWaitMs }, start))
}

/**
 * Absolute path of the data of the server that runs on a folder, where this address is one of its; undefined: the address is
 * of another server, or none runs there. Starts and creates nothing.
 */
export async function dataOf(databaseUrl: string, dataFolder: string): Promise<string | undefined> {
  if (!existsSync(dirname(resolve(dataFolder)))) return undefined
  const home = await findHome(resolve(dataFolder)).catch(() => undefined) // where it cannot be, it does not run
  const server = home && (await findServer(home, { dataFolder }))
  const { hostname, port } = new URL(databaseUrl)
  return server && /^(127\.0\.0\.1|localhost)$/.test(hostname) && Number(port) === server.port ? home.data : undefined
}

/** Runs a start; while it lasts, standard error gets the end of the server's log: how far a recovery is. */
async function tellingProgress<T>(home: PostgresHome, start: () => Promise<T>): Promise<T> {
  const telling = setInterval(async () => {
    console.error(`the embedded Postgres is not ready yet; its log ends: ${await endOfLog(home, 1)}`)
  }, tellEveryMs)
  try {
    return await start()
  } finally {
    clearInterval(telling)
  }
}

function urlTo({ port, password }: Server, database: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${database}`
}

/**
 * Opens the connection by which this process is counted as a user of the server. It ends with the process, even when
 * that is killed, so that the server itself knows who is left.
 */
async function enter(server: Server): Promise<Presence> {
  const presence = (await connect(server, user)) as Presence
  presence.unref() // it must not keep a process alive that has nothing left to do
  return presence
}

async function leave(home: PostgresHome, server: Server, presence: Presence) {
  presence.ref()
  // A connection that broke, as all do when one process of the server is killed, says nothing about the server.
  const isUsed = await isUsedByOthers(presence)
    .catch(async () => isUsedByOthers(await connect(server, leaver)))
    .catch(() => false)
  if (!isUsed) await shutDown(home, server.pid)
}

/** Whether other processes still use the server. Ends the connection. */
async function isUsedByOthers(connection: pg.Client): Promise<boolean> {
  try {
    // Renamed first: the server lists a connection for a moment after its end.
    await connection.query(`set application_name = '${leaver}'`)
    const { rows } = await connection.query('select from pg_stat_activity where application_name = $1', [user])
    return rows.length > 0
  } finally {
    await connection.end().catch(() => {})
  }
}

async function connect(server: Server, name: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: urlTo(server, 'postgres'),
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
  })
  client.on('error', () => {}) // the server may go away at any time; the next statement says so
  await client.connect()
  return client
}
