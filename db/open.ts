import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startPostgres } from '../postgres/embedded.ts'
import { findHome, restoringPath } from '../postgres/home.ts'
import { loadingLine, refuseWithoutItsChains, runningWorld } from './local-world.ts'
import { migrate } from './migrate.ts'
import { createPool } from './pool.ts'

export interface OpenDatabase {
  readonly databaseUrl: string
  /** Where the database is, without its password, for the start-up line. */
  readonly description: string
  /** Data folder of the embedded server; undefined: DATABASE_URL names the server. */
  readonly dataFolder?: string
  /** Names of the migrations that opening ran; always empty with DATABASE_URL, where the operator migrates. */
  readonly migrated: readonly string[]
  /** Stops using the embedded server, which shuts down with its last user; a server of DATABASE_URL is left alone. */
  close(): Promise<void>
}

const stateFolder = '.data'
/** Data folder of the embedded server, relative to the working directory: the project's, for every npm script. */
export const embeddedFolder = `${stateFolder}/postgres`

/**
 * The database that DATABASE_URL names, or else the embedded server under `.data/`, started or adopted, and migrated; `name`
 * picks another of its databases, `onServer` is given its process. Throws one line if DATABASE_URL is not an address of a
 * Postgres; if a restore of the embedded database has not ended (unless to `restore`), because its log would give out numbers
 * again; and if a local world with other chains runs at that address.
 */
export async function openDatabase(
  databaseUrl: string | undefined,
  onServer?: (pid: number) => void,
  to: 'use' | 'look' | 'restore' = 'use',
  name?: string,
): Promise<OpenDatabase> {
  if (databaseUrl) {
    const description = describe(databaseUrl)
    await refuseWithoutItsChains(databaseUrl, stateFolder)
    return { databaseUrl, description, migrated: [], close: async () => {} }
  }
  const home = await findHome(resolve(embeddedFolder))
  if (to !== 'restore' && existsSync(restoringPath(home))) {
    throw new Error(`a restore into ${home.data} was interrupted or still runs; run npm run restore again`)
  }
  if (to === 'look' && !existsSync(join(home.data, 'PG_VERSION'))) {
    throw new Error(`there is no embedded database yet: ${await remedy()}`)
  }
  const server = await startPostgres({ dataFolder: embeddedFolder, onServer })
  const own = name === undefined ? server.databaseUrl : server.urlOf(name)
  try {
    if (to === 'look' && !(await isMigrated(own))) {
      throw new Error(`the embedded database is empty, as npm start keeps its data in another: ${await remedy()}`)
    }
    return {
      databaseUrl: own,
      dataFolder: server.dataFolder,
      description: `embedded Postgres in ${server.dataFolder}${server.adopted ? ' (already running)' : ''}`,
      migrated: await migrate(own),
      close: () => server.stop(),
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/**
 * The same for a command that has nothing to do in an empty database: throws one line, and creates nothing, when there
 * is no embedded one or it was never migrated. Its answer would look like that of a database that has nothing.
 */
export function openExisting(databaseUrl: string | undefined): Promise<OpenDatabase> {
  return openDatabase(databaseUrl, undefined, 'look')
}

/** How to get a database, for errors: of the local world, where one runs. */
async function remedy(): Promise<string> {
  const world = await runningWorld(stateFolder)
  if (world) return `for the data of npm start, which runs here: ${loadingLine(world.path)}`
  return 'set DATABASE_URL (.env is read by start:mainnet alone), or make it with npm run migrate'
}

async function isMigrated(databaseUrl: string): Promise<boolean> {
  const pool = createPool({ databaseUrl, name: 'open', max: 1 })
  try {
    const { rows } = await pool.query(`select to_regclass('schema_migration') is not null as migrated`)
    return rows[0].migrated
  } finally {
    await pool.end()
  }
}

function describe(databaseUrl: string): string {
  // The address may contain a password, so the message does not repeat it.
  const url = URL.parse(databaseUrl)
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new Error('DATABASE_URL must be postgres://user:password@host:port/database')
  }
  return `Postgres at ${url.host}${url.pathname}`
}
