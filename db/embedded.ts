import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../ops/ports.ts'
import { findHome, type PostgresHome, runAs } from './embedded-home.ts'

/** A Postgres server of our own, for those who bring none. */
export interface EmbeddedPostgres {
  /** Connection string of the superuser, to the database `postgres`. */
  readonly databaseUrl: string
  /** True when a server was already running on this folder; then `stop` leaves it alone. */
  readonly adopted: boolean
  /** Connection string to another database of this server. */
  urlOf(database: string): string
  /** Fast shutdown: open transactions are rolled back, committed rows are safe. */
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  /** Where the data lives. As root, when that place is closed to others, it moves below /var/lib/agent-directory. */
  readonly dataFolder: string
  /** false: committed rows may be lost with the machine; for tests alone. */
  readonly durable?: boolean
  /** Further server settings. */
  readonly settings?: Record<string, string>
}

interface ServerFile {
  readonly port: number
  readonly password: string
}

const startTimeoutMs = 60_000
const startAttempts = 5

/**
 * Starts Postgres on a data folder, creating it when it is not there; adopts a server that already runs on it
 * (the one a killed process left behind). The port is free and below the ephemeral range, the password random.
 *
 * Throws when the platform has no binaries: then DATABASE_URL has to name a server.
 */
export async function startPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const home = await findHome(resolve(options.dataFolder))
  const serverFile = `${home.data}.server.json`
  const known = await readServerFile(serverFile)
  if (known && (await answers(known, home.data))) return describe(known, true, async () => {})

  const password = known?.password ?? randomBytes(24).toString('base64url')
  if (!existsSync(join(home.data, 'PG_VERSION'))) await initialize(home, password)
  for (let attempt = 1; ; attempt++) {
    const server: ServerFile = { port: await freePort(), password }
    await writeFile(serverFile, JSON.stringify(server), { mode: 0o600 })
    const child = await launch(home, server.port, options)
    const problem = await untilReady(child, server, home)
    if (problem === undefined) return describe(server, false, () => stop(child))
    if (attempt === startAttempts || !/address already in use|could not bind/i.test(problem)) {
      throw new Error(`the embedded Postgres did not start:\n${problem}`)
    }
  }
}

function describe(server: ServerFile, adopted: boolean, stop: () => Promise<void>): EmbeddedPostgres {
  const urlOf = (database: string) => `postgres://postgres:${server.password}@127.0.0.1:${server.port}/${database}`
  return { databaseUrl: urlOf('postgres'), adopted, urlOf, stop }
}

async function readServerFile(path: string): Promise<ServerFile | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** Whether the server of the file is up and really is the one on this folder. */
async function answers({ port, password }: ServerFile, data: string): Promise<boolean> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query('show data_directory')
    return rows[0].data_directory === data
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

async function initialize(home: PostgresHome, password: string) {
  await rm(home.data, { recursive: true, force: true }) // what an interrupted initdb left
  await mkdir(home.data, { recursive: true, mode: 0o700 })
  const passwordFile = `${home.data}.password`
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (home.uid !== undefined) {
    await chown(home.data, home.uid, home.gid as number)
    await chown(passwordFile, home.uid, home.gid as number)
  }
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--locale=C.UTF-8'] // the same order on every host
  const access = ['-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`]
  try {
    await runAs(home, 'initdb', ['-D', home.data, '--no-sync', ...locale, ...access])
  } catch (error) {
    await rm(home.data, { recursive: true, force: true })
    throw error
  } finally {
    await rm(passwordFile, { force: true })
  }
}

async function launch(home: PostgresHome, port: number, { durable = true, settings = {} }: EmbeddedOptions) {
  const fixed = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
    max_connections: '200',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
    ...settings,
  }
  const log = await open(`${home.data}.log`, 'a')
  await chmod(dirname(home.data), 0o755).catch(() => {})
  // A group of its own: Ctrl-C must not reach the server before the processes that use it have closed their pools.
  const child = spawn(
    join(home.binaries, 'postgres'),
    ['-D', home.data, ...Object.entries(fixed).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { cwd: '/', uid: home.uid, gid: home.gid, detached: true, stdio: ['ignore', log.fd, log.fd] },
  )
  child.unref()
  await log.close()
  return child
}

/** Undefined once the server answers, else the end of its log. */
async function untilReady(child: ChildProcess, server: ServerFile, home: PostgresHome): Promise<string | undefined> {
  const deadline = Date.now() + startTimeoutMs
  while (Date.now() < deadline) {
    if (await answers(server, home.data)) return undefined
    if (child.exitCode !== null || child.signalCode !== null) break
    await delay(25)
  }
  child.kill('SIGKILL')
  const log = await readFile(`${home.data}.log`, 'utf8').catch(() => '')
  return log.trim().split('\n').slice(-12).join('\n')
}

async function stop(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.ref()
  child.kill('SIGINT')
  await ended
}
