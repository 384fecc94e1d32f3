import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { findHome, restoringPath } from '../../postgres/home.ts'

const run = promisify(execFile)
const connectTimeoutMs = 10_000

/** A database server on this machine, and its data folder. */
interface LocalServer {
  readonly databaseUrl: string
  readonly dataFolder: string
}

const dataIn = (folder: string) => join(folder, 'data')
const passwordIn = (folder: string) => join(folder, 'password')
/** Entries of the data folder that are not copied: state of the running server, or made again by the new one. */
const left = ['postmaster.pid', 'postmaster.opts', 'pg_wal', 'pg_replslot', 'pg_stat_tmp']
const segment = /^[0-9A-F]{24}$/

/**
 * Copies the data of a running server into a folder, together with the WAL written meanwhile, so that a server started
 * on the copy has everything that was committed before the copy ended. Writers are not held up.
 */
export async function copyServer({ databaseUrl, dataFolder }: LocalServer, folder: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: connectTimeoutMs })
  client.on('error', () => {}) // the statement in flight says so, or the next one
  await client.connect()
  try {
    // A temporary slot, dropped with the session; until then the server keeps its WAL.
    await client.query(`select pg_create_physical_replication_slot('backup_' || pg_backend_pid(), true, true)`)
    const begun = await client.query<{ segment: string }>(
      `select pg_walfile_name(pg_backup_start('agent-directory', true)) as segment`,
    )
    const target = dataIn(folder)
    await mkdir(target, { mode: 0o700 })
    for (const name of await readdir(dataFolder)) {
      if (!left.includes(name)) await copyMoving(join(dataFolder, name), target)
    }
    for (const name of ['pg_wal', 'pg_wal/archive_status', 'pg_replslot', 'pg_stat_tmp']) {
      await mkdir(join(target, name), { mode: 0o700 })
    }
    const ended = await client.query<{ segment: string; label: string }>(
      'select pg_walfile_name(lsn) as segment, labelfile as label from pg_backup_stop(false)',
    )
    const first = begun.rows[0]?.segment as string
    const last = ended.rows[0]?.segment as string
    for (const name of await readdir(join(dataFolder, 'pg_wal'))) {
      const isNeeded = segment.test(name) && name >= first && name <= last
      if (isNeeded || name.endsWith('.history'))
        await cp(join(dataFolder, 'pg_wal', name), join(target, 'pg_wal', name))
    }
    await writeFile(join(target, 'backup_label'), ended.rows[0]?.label ?? '')
    await cp(`${dataFolder}.password`, passwordIn(folder))
    const { uid, gid } = await stat(dataFolder)
    if (process.getuid?.() === 0) await run('chown', ['-R', `${uid}:${gid}`, target])
    await run('sync', ['-f', folder])
  } finally {
    await client.end()
  }
}

/** Copies a file or folder that may change meanwhile. Files that vanish are no error: the WAL contains the change. */
async function copyMoving(from: string, into: string): Promise<void> {
  try {
    await run('cp', ['-a', from, into], { env: { LC_ALL: 'C' } })
  } catch (error) {
    const lines = ((error as { stderr?: string }).stderr ?? '').split('\n').filter((line) => line !== '')
    if (lines.length === 0 || !lines.every((line) => line.endsWith('No such file or directory'))) throw error
  }
}

/**
 * Puts a backup where the embedded server's data belongs, marked as not to be used before `endRestore`. Leaves it as it
 * is when an interrupted restore has put it there. Throws when there is other data already: a restore must not replace
 * what may be newer.
 */
export async function placeBackup(folder: string, dataFolder: string): Promise<void> {
  const home = await findHome(resolve(dataFolder))
  const { data, uid, gid } = home
  const mark = restoringPath(home)
  if (existsSync(data)) {
    const begun = await readFile(mark, 'utf8').catch(() => undefined)
    if (begun === undefined) throw new Error(`${data} is there already; move it away first`)
    // Checked against the contents of another backup, this one would seem to have lost something, or to be that other.
    if (begun !== resolve(folder))
      throw new Error(`${data} is of a restore of ${begun}; end that, or move it away first`)
    return
  }
  const partial = `${data}.partial-restore`
  await rm(partial, { recursive: true, force: true })
  await run('cp', ['-a', dataIn(folder), partial])
  await cp(passwordIn(folder), `${data}.password`)
  if (uid !== undefined && gid !== undefined) {
    await run('chown', ['-R', `${uid}:${gid}`, partial])
    await chown(`${data}.password`, uid, gid)
  }
  await writeFile(mark, resolve(folder), { flush: true })
  try {
    await rename(partial, data) // whole, or not at all
  } catch (error) {
    await rm(mark) // the data that is in the way is not of this restore
    throw error
  }
}

/** Releases the data that `placeBackup` has put there for use. */
export async function endRestore(dataFolder: string): Promise<void> {
  await rm(restoringPath(await findHome(resolve(dataFolder))), { force: true })
}
