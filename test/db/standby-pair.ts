import { execFile } from 'node:child_process'
import { chmod, chown, cp, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { migrate } from '../../db/migrate.ts'
import { type EmbeddedPostgres, startPostgres } from '../../postgres/embedded.ts'
import { startTcpLink, type TcpLink } from '../doubles/tcp-link.ts'

/** A migrated server, and a standby that streams from it. */
interface Pair {
  readonly primary: EmbeddedPostgres
  readonly standby: EmbeddedPostgres
  /** TCP link through which the standby streams from the primary. */
  readonly wire: TcpLink
  stop(): Promise<void>
}

/** Commits reach the disk in order here, though nothing forces them there: what is killed is a server, not the machine. */
const settings = { synchronous_commit: 'on', wal_keep_size: '256MB' }

export async function startPair(): Promise<Pair> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-standby-'))
  await chmod(folder, 0o755) // as root the servers run as another user, who has to reach their data
  const primary = await startPostgres({ dataFolder: join(folder, 'primary'), durable: false, settings })
  await migrate(primary.databaseUrl)
  const wire = await startTcpLink(Number(new URL(primary.databaseUrl).port))
  const data = join(folder, 'standby')
  await copyOnline(primary, data)
  const conninfo = `host=127.0.0.1 port=${wire.port} user=postgres password=${new URL(primary.databaseUrl).password}`
  const standby = await startPostgres({
    dataFolder: data,
    durable: false,
    settings: {
      ...settings,
      primary_conninfo: conninfo,
      max_standby_streaming_delay: '0',
      wal_retrieve_retry_interval: '100ms',
    },
  })
  return {
    primary,
    standby,
    wire,
    async stop() {
      await standby.stop()
      await wire.close()
      await primary.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Copies a running server's data with the low-level backup API of Postgres, set up to start as a standby. */
async function copyOnline(server: EmbeddedPostgres, data: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.databaseUrl })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('standby', true)`)
    await promisify(execFile)('cp', ['-a', server.dataFolder, data])
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
    await rm(join(data, 'postmaster.pid'))
    const { uid, gid } = await stat(server.dataFolder)
    for (const [name, text] of Object.entries({ backup_label: rows[0].labelfile, 'standby.signal': '' })) {
      await writeFile(join(data, name), text)
      await chown(join(data, name), uid, gid)
    }
    await cp(`${server.dataFolder}.password`, `${data}.password`)
    await chown(`${data}.password`, uid, gid)
  } finally {
    await client.end()
  }
}
