import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type pg from 'pg'
import { migrate } from '../../db/migrate.ts'
import { createPool } from '../../db/pool.ts'
import { type EmbeddedPostgres, startPostgres } from '../../postgres/embedded.ts'
import { findHome } from '../../postgres/home.ts'
import { until } from '../../test/support/until.ts'
import type { Line, Lines } from './lines.ts'

const run = promisify(execFile)
export const serverSettings = { shared_buffers: '1GB', max_wal_size: '4GB' }
/** Options of pools that wait for a server that is starved, or has just been ended. */
export const patient = { statementTimeoutMs: 0, connectTimeoutMs: 120_000 }

/** The database of an installation: a Postgres of its own, durable as a real one. */
export interface Installation {
  /** Working folder of this installation's commands; its database lies below. */
  readonly home: string
  /** Direct connection string of the server. */
  readonly databaseUrl: string
  /** Process id of the server. */
  readonly pid: number
  /** The server through a TCP link with controlled faults; its port stays when the server moves to another one. */
  readonly line: { readonly url: string; readonly link: Line }
  /** Pool of the benchmark, through a TCP link of its own whose port stays as well. */
  readonly pool: pg.Pool
  /** Creates and migrates another database on the server; resolves with its URL. */
  another(name: string): Promise<string>
  /** Kills every process of the server and starts it again; resolves with the seconds until it answers. */
  crash(): Promise<number>
  /** Drops the database's files from the page cache. */
  forgetFiles(): Promise<void>
  stop(): Promise<void>
}

export async function openInstallation(folder: string, lines: Lines): Promise<Installation> {
  const home = join(folder, 'installation')
  await mkdir(join(home, '.data'), { recursive: true })
  // The server, another user when this is root, has to reach its data.
  for (const place of [folder, home, join(home, '.data')]) await chmod(place, 0o755)
  const options = { dataFolder: join(home, '.data/postgres'), settings: serverSettings }
  let server: EmbeddedPostgres = await startPostgres(options)
  await migrate(server.databaseUrl)
  const port = () => Number(new URL(server.databaseUrl).port)
  const openLine = async () => {
    const link = await lines.open(port())
    const url = new URL(server.databaseUrl)
    url.port = String(link.port)
    return { url: url.href, link }
  }
  const line = await openLine()
  const steady = await openLine()
  const pool = createPool({ databaseUrl: steady.url, name: 'rehearsal', max: 16, ...patient })
  return {
    home,
    get databaseUrl() {
      return server.databaseUrl
    },
    get pid() {
      return server.pid
    },
    line,
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
      await until('the server has ended', () => !existsSync(`/proc/${server.pid}`))
      server = await startPostgres(options)
      for (const { link } of [line, steady]) await link.aim(port())
      return (performance.now() - began) / 1_000
    },
    async forgetFiles() {
      // Of no bytes from a file's beginning: all of it. It needs no rights but to read.
      // A running server's files come and go: one that is gone needs nothing.
      const forget = 'find "$1" -type f -exec dd if={} iflag=nocache count=0 status=none ";" 2>/dev/null; true'
      await run('sh', ['-c', forget, 'sh', server.dataFolder])
    },
    async stop() {
      await pool.end()
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
