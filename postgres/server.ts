import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, open, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../ops/ports.ts'
import { type Backoff, doubledMs } from '../ops/time.ts'
import { type PostgresHome, runAs } from './home.ts'

export interface EmbeddedOptions {
  /** Where the data lives. As root, when that place is closed to others, it moves below /var/lib/agent-directory. */
  readonly dataFolder: string
  /** false: committed rows may be lost with the machine; for tests alone. */
  readonly durable?: boolean
  /** Port for a folder whose server never ran, or whose last port others have; absent, or taken too: any free one. */
  readonly port?: number
  /** Further server settings. */
  readonly settings?: Record<string, string>
  /** Called with the server's process id as soon as it is known; the server outlives this process. */
  readonly onServer?: (pid: number) => void
  /** How long a server may take to show that it starts; recovery is not counted. Absent: a minute; for tests alone. */
  readonly startTimeoutMs?: number
}

/** A running server, with what is needed to connect to it. */
export interface Server {
  readonly port: number
  readonly password: string
  readonly pid: number
}

const defaultStartTimeoutMs = 60_000
const stopTimeoutMs = 60_000
const pollMs = 25
/** Pauses before a server that did not start for a passing reason is started again. */
const starts: Backoff = { baseMs: 50, capMs: 10_000 }
const startAttempts = 5
/** Size of the server's log above which the next start begins a new one, and keeps this one as `.old`. */
const logBytes = 10 * 1024 * 1024
/** Start errors worth a retry: the port was taken meanwhile, or children of a killed server are still ending. */
const passing = /address already in use|could not bind|pre-existing shared memory block/i

/**
 * The server that runs on the folder, once it is ready; undefined when none runs. Waits for one that is still starting,
 * as long as that recovers, and throws when another, one that stops, is not gone in time.
 */
export async function findServer(
  home: PostgresHome,
  { startTimeoutMs = defaultStartTimeoutMs }: EmbeddedOptions,
): Promise<Server | undefined> {
  let deadline = Date.now() + startTimeoutMs
  for (let lock = await readRunning(home); lock; lock = await readRunning(home)) {
    if (lock.state === 'ready')
      return { port: lock.port, pid: lock.pid, password: await readFile(passwordPath(home), 'utf8') }
    if (lock.state === 'starting') deadline = Date.now() + startTimeoutMs // see `untilReady`
    if (Date.now() > deadline) throw new Error(`the embedded Postgres (process ${lock.pid}) does not get ready`)
    await delay(pollMs)
  }
  return undefined
}

/** Starts a server on a folder where none answers, creating its data when there is none. */
export async function startServer(home: PostgresHome, options: EmbeddedOptions): Promise<Server> {
  const password = await initialized(home)
  // The lock file of a killed server: Postgres refuses the folder if another process has got that server's id since.
  await rm(lockPath(home), { force: true })
  for (let attempt = 1; ; attempt++) {
    const port = await freePort('127.0.0.1', await lastPort(home), options.port)
    const child = await launch(home, port, options)
    if (child.pid !== undefined) options.onServer?.(child.pid)
    const problem = await untilReady(child, home, options)
    if (problem === undefined) return { port, password, pid: child.pid as number }
    if (attempt === startAttempts || !passing.test(problem)) {
      throw new Error(`the embedded Postgres did not start; its log ${logPath(home)} ends:\n${problem}`)
    }
    await delay(doubledMs(starts, attempt - 1))
  }
}

/** Fast shutdown of the server with this process id; returns when the data is safely closed. */
export async function shutDown(home: PostgresHome, pid: number) {
  const running = await readRunning(home)
  if (running?.pid !== pid) return
  process.kill(running.pid, 'SIGINT')
  const deadline = Date.now() + stopTimeoutMs
  // The server removes its lock file last. Its process may stay as a zombie where nobody collects orphans.
  while (existsSync(lockPath(home))) {
    if (Date.now() > deadline) throw new Error(`the embedded Postgres (process ${running.pid}) does not stop`)
    await delay(pollMs)
  }
}

const passwordPath = (home: PostgresHome) => `${home.data}.password`
const logPath = (home: PostgresHome) => `${home.data}.log`
const lockPath = (home: PostgresHome) => join(home.data, 'postmaster.pid')

/** State from the lock file; undefined when there is none, or its process id is no longer a Postgres on this folder. */
async function readRunning(home: PostgresHome) {
  const lines = (await readFile(lockPath(home), 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  const port = Number(lines[3])
  const state = lines[7]?.trim()
  if (!pid) return undefined
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const args = commandLine.split('\0')
  // By its real path: a server may have been told its folder by a link.
  const [theirs, ours] = await Promise.all(
    [args[args.indexOf('-D') + 1] ?? '', home.data].map((path) => realpath(path).catch(() => undefined)),
  )
  return theirs !== undefined && theirs === ours ? { pid, port, state } : undefined
}

/** Port of the last server on the folder, which those who read it know; undefined: none ran. */
async function lastPort(home: PostgresHome): Promise<number | undefined> {
  const started = await readFile(join(home.data, 'postmaster.opts'), 'utf8').catch(() => '')
  return Number(/"port=(\d+)"/.exec(started)?.[1]) || undefined
}

/** Password of the superuser. Creates the data when there is none, or only the rest of an interrupted creation. */
async function initialized(home: PostgresHome): Promise<string> {
  const known = await readFile(passwordPath(home), 'utf8').catch(() => undefined)
  if (existsSync(join(home.data, 'PG_VERSION'))) {
    if (known !== undefined) return known
    throw new Error(`${home.data} is there and its password file is not; remove the folder to start over`)
  }
  const password = randomBytes(24).toString('base64url')
  await removePartials(home)
  // Created next to it and renamed, so that a folder with PG_VERSION is a whole one.
  const partial = `${home.data}.partial-${randomBytes(4).toString('hex')}`
  await mkdir(partial, { mode: 0o700 })
  await handOver(home, partial)
  await writeFile(passwordPath(home), password, { mode: 0o600 })
  await handOver(home, passwordPath(home))
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--locale=C.UTF-8'] // the same order on every host
  const access = ['-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordPath(home)}`]
  await runAs(home, 'initdb', ['-D', partial, '--no-sync', ...locale, ...access])
  await rename(partial, home.data)
  return password
}

/** Removes what killed processes left. Their initdb may still be writing: what resists is removed next time. */
async function removePartials({ data }: PostgresHome) {
  for (const name of await readdir(dirname(data))) {
    if (!name.startsWith(`${basename(data)}.partial-`)) continue
    await rm(join(dirname(data), name), { recursive: true, force: true }).catch(() => {})
  }
}

/** Gives a path that root has made to the server's user. */
async function handOver(home: PostgresHome, path: string) {
  if (home.uid !== undefined) await chown(path, home.uid, home.gid as number)
}

async function launch(home: PostgresHome, port: number, { durable = true, settings = {} }: EmbeddedOptions) {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
    max_connections: '200',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
    ...settings,
  }
  const { size } = await stat(logPath(home)).catch(() => ({ size: 0 }))
  if (size > logBytes) await rename(logPath(home), `${logPath(home)}.old`)
  const log = await open(logPath(home), 'a')
  await handOver(home, logPath(home))
  // A session of its own: Ctrl-C must not reach the server before the processes that use it have closed their pools.
  const child = spawn(
    join(home.binaries, 'postgres'),
    ['-D', home.data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { cwd: '/', env: { LC_ALL: 'C' }, uid: home.uid, gid: home.gid, detached: true, stdio: ['ignore', log.fd, log.fd] },
  )
  child.on('error', (error) => log.write(`${error.message}\n`).catch(() => {}))
  child.unref()
  await log.close()
  return child
}

/**
 * Undefined once the server takes connections, else the end of its log.
 *
 * A server that has shown its lock file is never killed: it may have hours of WAL to replay after a crash or from a
 * backup, would start over with it at the next start, and ends by itself when something is wrong.
 */
async function untilReady(
  child: ChildProcess,
  home: PostgresHome,
  { startTimeoutMs = defaultStartTimeoutMs }: EmbeddedOptions,
): Promise<string | undefined> {
  let deadline = Date.now() + startTimeoutMs
  while (Date.now() < deadline && child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const running = await readRunning(home)
    if (running?.pid === child.pid) {
      if (running.state === 'ready') return undefined
      deadline = Number.POSITIVE_INFINITY
    }
    await delay(pollMs)
  }
  child.kill('SIGKILL')
  return endOfLog(home, 12)
}

/** The last lines of the server's log; empty when there is none. */
export async function endOfLog(home: PostgresHome, lines: number): Promise<string> {
  const log = await readFile(logPath(home), 'utf8').catch(() => '')
  return log.trim().split('\n').slice(-lines).join('\n')
}
