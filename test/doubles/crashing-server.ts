import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../db/migrate.ts'
import { createPool } from '../../db/pool.ts'
import { type EmbeddedPostgres, startPostgres } from '../../postgres/embedded.ts'
import type { OwnDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { startTcpLink } from './tcp-link.ts'

/** A Postgres of a test's own, durable as in production, that can be ended in the middle of anything. */
export interface CrashingServer {
  readonly pid: number
  /** Its migrated database, whose URL survives restarts. `drop` only ends the pool. */
  readonly database: OwnDatabase
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
  const link = await startTcpLink(() => Number(new URL(server.databaseUrl).port))
  const url = new URL(server.urlOf(name))
  url.port = String(link.port)
  const pool = createPool({ databaseUrl: url.href, name: 'test' })
  // Not awaited: a client that a test still holds would block the pool's end.
  const database: OwnDatabase = { url: url.href, pool, drop: async () => void pool.end().catch(() => {}) }
  const ended = () => until('the server has ended', () => !isRunning(server.pid))
  return {
    get pid() {
      return server.pid
    },
    database,
    async crash() {
      process.kill(server.pid, 'SIGQUIT')
      await ended()
    },
    async start() {
      if (isRunning(server.pid)) return
      server = await startPostgres(options)
    },
    async remove() {
      await database.drop()
      await link.close()
      if (isRunning(server.pid)) await server.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`)
}
