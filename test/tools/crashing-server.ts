import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, startPostgres } from '../../db/embedded.ts'
import { migrate } from '../../db/migrate.ts'
import { createPool } from '../../db/pool.ts'
import type { TestDatabase } from './database.ts'
import { until } from './until.ts'

/** A Postgres of a test's own, durable as in production, that can be ended in the middle of anything. */
export interface CrashingServer {
  readonly pid: number
  /** Its migrated database: another address after each start. `drop` ends the pool alone. */
  readonly database: TestDatabase
  /** What `pg_ctl stop -m immediate` does: every process ends at once, and the next start recovers from the log. */
  crash(): Promise<void>
  /** Starts the server again, when it has ended. */
  start(): Promise<void>
  /** Ends the server and removes its data. */
  remove(): Promise<void>
}

const name = 'crashing'

/** `folder`: where its data lives, made when it is not there; one in the place for temporary files unless given. */
export async function startCrashingServer(folder?: string, settings?: Record<string, string>): Promise<CrashingServer> {
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'agent-directory-crash-')))
  await mkdir(home, { recursive: true })
  await chmod(home, 0o755) // as root the server runs as another user, who has to reach its data
  const options = { dataFolder: join(home, 'postgres'), settings }
  let server: EmbeddedPostgres = await startPostgres(options)
  const postgres = createPool({ databaseUrl: server.databaseUrl, name: 'test' })
  await postgres.query(`create database ${name}`)
  await postgres.end()
  await migrate(server.urlOf(name))
  let database = open(server)
  const ended = () => until('the server has ended', () => !isRunning(server.pid), 30_000)
  return {
    get pid() {
      return server.pid
    },
    get database() {
      return database
    },
    async crash() {
      process.kill(server.pid, 'SIGQUIT')
      await ended()
    },
    async start() {
      if (isRunning(server.pid)) return
      await database.drop()
      server = await startPostgres(options)
      database = open(server)
    },
    async remove() {
      await database.drop()
      if (isRunning(server.pid)) await server.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}

function open(server: EmbeddedPostgres): TestDatabase {
  const url = server.urlOf(name)
  const pool = createPool({ databaseUrl: url, name: 'test' })
  pool.on('error', () => {}) // the server ends under it
  // A client that a test still holds would keep the pool's end waiting.
  return { url, pool, drop: async () => void pool.end().catch(() => {}) }
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`)
}
