import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { migrate } from '../../db/migrate.ts'
import { createPool } from '../../db/pool.ts'
import { freePort } from '../../ops/ports.ts'
import { type EmbeddedPostgres, startPostgres } from '../../postgres/embedded.ts'
import { findHome } from '../../postgres/home.ts'
import { endLeftovers, ProcessFile } from '../../stack/processes.ts'
import { createStack, type Stack, type Task } from '../../stack/stack.ts'
import { planTasks } from '../../stack/tasks.ts'
import { startTcpLink } from '../../test/doubles/tcp-link.ts'
import { baseUrl, siteUrl } from '../../test/support/api/claims.ts'
import { nowhere } from '../../test/support/enrichment-process.ts'
import { until } from '../../test/support/until.ts'
import { measure, type Run } from '../measured-run.ts'
import { headChains } from './shape.ts'
import { say } from './show.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const settings = { shared_buffers: '1GB', max_wal_size: '4GB' }
const endedMs = 60_000
const readyMs = 180_000

/** An installation of the product on this machine, with its own Postgres, durable as a real one. */
export interface Installation {
  /** Where commands of this installation are run: its database is below. */
  readonly home: string
  /** The server itself. */
  readonly databaseUrl: string
  /** The server through a line that stays when the server moves to another port. */
  readonly steadyUrl: string
  /** Through that line. */
  readonly pool: pg.Pool
  /** Another, migrated database of the server. */
  another(name: string): Promise<string>
  /** Every process of the server ends at once, and it starts again; seconds until it answers. */
  crash(): Promise<number>
  stop(): Promise<void>
}

export async function openInstallation(folder: string): Promise<Installation> {
  const home = join(folder, 'installation')
  await mkdir(join(home, '.data'), { recursive: true })
  // The server, another user when this is root, has to reach its data.
  for (const place of [folder, home, join(home, '.data')]) await chmod(place, 0o755)
  const options = { dataFolder: join(home, '.data/postgres'), settings }
  let server: EmbeddedPostgres = await startPostgres(options)
  await migrate(server.databaseUrl)
  const link = await startTcpLink(() => Number(new URL(server.databaseUrl).port))
  const steady = new URL(server.databaseUrl)
  steady.port = String(link.port)
  const pool = createPool({ databaseUrl: steady.href, name: 'rehearsal', max: 8, statementTimeoutMs: 0 })
  return {
    home,
    get databaseUrl() {
      return server.databaseUrl
    },
    steadyUrl: steady.href,
    pool,
    async another(name) {
      await pool.query(`drop database if exists ${name} with (force)`)
      await pool.query(`create database ${name}`)
      await migrate(server.urlOf(name))
      return server.urlOf(name)
    },
    async crash() {
      const began = performance.now()
      process.kill(server.pid, 'SIGQUIT')
      await until('the server has ended', () => !existsSync(`/proc/${server.pid}`), endedMs)
      server = await startPostgres(options)
      return (performance.now() - began) / 1_000
    },
    async stop() {
      await pool.end()
      await link.close()
      await server.stop()
    },
  }
}

/**
 * Removes the database below a folder. Its files may lie elsewhere, where the folder is closed to others and the server is
 * another user, and outlive the folder.
 */
export async function removeDatabase(home: string): Promise<void> {
  const { data } = await findHome(join(home, '.data/postgres'))
  for (const name of await readdir(dirname(data))) {
    if (name.startsWith(basename(data))) await rm(join(dirname(data), name), { recursive: true, force: true })
  }
}

/** The processes of an installation, kept running. */
export interface Running {
  readonly url: string
  readonly stack: Stack
  /** Sends a signal to the process of a name; throws when it does not run. */
  signal(name: string, signal: NodeJS.Signals): void
}

/** Starts the real processes: a processor a chain, the job that joins, the API. */
export async function runProcesses(
  folder: string,
  {
    chainsFile,
    installation,
    hubUrl,
  }: { chainsFile: string; installation: Pick<Installation, 'databaseUrl' | 'steadyUrl'>; hubUrl: string },
): Promise<Running> {
  const file = join(folder, 'processes.json')
  await endLeftovers(file)
  const pids = new Map<string, number>()
  const processes = new (class extends ProcessFile {
    override add(name: string, pid: number) {
      pids.set(name, pid)
      super.add(name, pid)
    }
  })(file)
  const stack = createStack({ logFolder: join(folder, 'logs'), processes, say: (line) => say(`  ${line}`) })
  const port = String(await freePort())
  const plenty = { LIMIT_PER_MINUTE: '1000000', LIMIT_PER_DAY: '100000000' }
  const { PATH, HOME } = process.env
  const tasks = await planTasks(headChains, {
    PATH,
    HOME,
    DATABASE_URL: installation.steadyUrl,
    CHAINS_FILE: chainsFile,
    HUB_URL: hubUrl,
    HUB_POLL_SECONDS: '0.5',
    PORT: port,
    BASE_URL: baseUrl,
    SITE_URL: siteUrl,
    TRUST_PROXY_HOPS: '1',
    ...plenty,
    ...nowhere,
  })
  for (const group of [tasks.processors, tasks.enrichment]) stack.start(group.map(onAnyPort))
  // Not through this process, whose own work would be in the times of the answers. It does not survive the server's move.
  const direct = { DATABASE_URL: installation.databaseUrl }
  stack.start(tasks.api.map((task) => ({ ...task, env: { ...task.env, ...direct } })))
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('the API answers', answers, readyMs)
  return {
    url,
    stack,
    signal(name, signal) {
      const pid = pids.get(name)
      if (pid === undefined) throw new Error(`${name} was never started`)
      process.kill(pid, signal)
    },
  }
}

/** Other installations of this machine may have the usual ports of metrics. */
const onAnyPort = (task: Task): Task => ({ ...task, env: { ...task.env, METRICS_PORT: '0' } })

/** Processors alone, of another database. */
export async function runProcessors(folder: string, chainsFile: string, databaseUrl: string): Promise<Stack> {
  const { PATH, HOME } = process.env
  const tasks = await planTasks(headChains, { PATH, HOME, DATABASE_URL: databaseUrl, CHAINS_FILE: chainsFile })
  const processes = new ProcessFile(join(folder, 'oracle.json'))
  const stack = createStack({ logFolder: join(folder, 'oracle-logs'), processes, say: (line) => say(`  ${line}`) })
  stack.start(tasks.processors.map(onAnyPort))
  return stack
}

/** That of this process, found from any folder. */
const loader = process.execArgv.map((argument) => (argument === 'tsx' ? import.meta.resolve(argument) : argument))

/** Runs one of the project's commands to its end, with the loader that this process has. */
export function command(
  entry: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  surroundings: { cwd?: string; heard?: (text: string) => void } = {},
): Promise<Run> {
  return measure(process.execPath, [...loader, join(root, entry), ...args], env, surroundings)
}

export async function writeChainsFile(path: string, rows: object): Promise<string> {
  await writeFile(path, JSON.stringify(rows))
  return path
}
