import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, readFile, rm, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../db/migrate.ts'
import { folderOfProcess, foldersLeft } from '../../ops/leftovers.ts'
import { startPostgres } from '../../postgres/embedded.ts'
import { onceARun } from './once-a-run.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser's connection string to the test server. */
    databaseServer: string
    /** Migrated database the tests' databases are cloned from. */
    databaseTemplate: string
    /** Folder for large files, in memory where there is enough; it is removed even after a run that was killed. */
    runFolder: string
  }
}

/** Folder in memory for data and images, used where `enoughBytes` are free, so that no disk slows the tests. */
const inMemory = '/dev/shm'
const enoughBytes = 8 * 1024 ** 3

const prefix = 'agent-directory-test'

/** Makes a folder in `place` for the data of a run of this process, or of the process `pid`. */
export const folderOfRun = (place: string, pid?: number) => folderOfProcess(place, prefix, pid)

/** One server a test run, with a migrated template; `createTestDatabase` clones it. */
export default async function setup(project: TestProject) {
  const { databaseUrl, template, folder, stop } = await onceARun('database server', startWithTemplate)
  project.provide('databaseServer', databaseUrl)
  project.provide('databaseTemplate', template)
  project.provide('runFolder', folder)
  return stop
}

async function startWithTemplate() {
  for (const place of [inMemory, tmpdir()]) await removeLeftovers(place)
  const folder = await folderOfRun(await placeOfData())
  await chmod(folder, 0o755) // as root the server runs as another user, who has to reach its data
  const server = await startPostgres({ dataFolder: join(folder, 'postgres'), durable: false })
  const cleaner = cleanUpAfterUs(server.pid, folder)
  const template = `template_${randomBytes(4).toString('hex')}`
  const client = new pg.Client({ connectionString: server.databaseUrl })
  await client.connect()
  await client.query(`create database ${template}`)
  await client.end()
  await migrate(server.urlOf(template))
  let stopped: Promise<void> | undefined
  const remove = async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
    cleaner.kill()
  }
  return {
    databaseUrl: server.databaseUrl,
    template,
    folder,
    /** Called by every project of the run once all tests are over; stops the server once. */
    stop() {
      stopped ??= remove()
      return stopped
    },
  }
}

async function placeOfData(): Promise<string> {
  const { bavail, bsize } = await statfs(inMemory).catch(() => ({ bavail: 0, bsize: 0 }))
  return Math.min(bavail * bsize, freemem()) > enoughBytes ? inMemory : tmpdir()
}

/** An interrupted or killed vitest runs no teardown: then a shell that outlives it ends the server. */
function cleanUpAfterUs(server: number, folder: string) {
  // The shell waits for the lock file to go: the server's process may stay as a zombie where nothing reaps orphans.
  const script =
    'read -r _; kill -QUIT "$0"; n=0; ' +
    'while [ -e "$1/postgres/postmaster.pid" ] && [ $((n+=1)) -lt 100 ]; do sleep 0.1; done; rm -rf "$1"'
  const cleaner = spawn('sh', ['-c', script, String(server), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'], // nothing is written: the shell's read ends when this process is gone
  })
  cleaner.unref()
  return cleaner
}

/** Ends the servers and removes the data of runs that were killed together with their cleaner. */
export async function removeLeftovers(place: string) {
  for (const folder of await foldersLeft(place, prefix)) {
    const [server] = (await readFile(join(folder, 'postgres/postmaster.pid'), 'utf8').catch(() => '')).split('\n')
    const command = await readFile(`/proc/${server || 0}/cmdline`, 'utf8').catch(() => '')
    if (command.includes(folder)) process.kill(Number(server), 'SIGQUIT')
    await unmountWithin(folder)
    // Another run may be removing it, or a stopping server still writes: then the next run removes it.
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }).catch(() => {})
  }
}

/** Lets go of what a killed build of an image has mounted in a folder, which could not be removed for minutes. */
async function unmountWithin(folder: string) {
  const mounts = (await readFile('/proc/self/mounts', 'utf8').catch(() => '')).split('\n')
  const places = mounts.flatMap((line) => line.split(' ')[1] ?? []).filter((place) => place.startsWith(`${folder}/`))
  for (const place of places.toReversed()) spawnSync('umount', ['--lazy', place], { stdio: 'ignore' })
}
