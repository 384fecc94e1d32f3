import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrate } from '../db/migrate.ts'
import { createDatabase, createPool, dropDatabase } from '../db/pool.ts'
import { connectionLines, loginUrl, makeReader, newPassword, usualRights } from '../db/reader/login.ts'
import { describeError } from '../ops/cli.ts'
import { startPostgres } from '../postgres/embedded.ts'

export interface FreshDatabase {
  readonly url: string
  /** Server and name of the database for people, without the password. */
  readonly description: string
  /** Ends the embedded server; a server of DATABASE_URL is left alone. */
  stop(): Promise<void>
}

/** Port of the embedded server while nobody else has it: what is set up to read the world reads the next one, too. */
export const usualPostgresPort = 15_432
const suffix = '_devnet'
const embeddedName = `agents${suffix}`

/**
 * Creates a database with migrated, empty tables. An earlier one of the same name is dropped.
 *
 * On the embedded server below the state folder; with a DATABASE_URL on its server, next to the database it names, which
 * is not touched. `onServer` gets the pid of the embedded server. Throws when the user of that URL may not create
 * databases.
 */
export async function createFreshDatabase(
  stateFolder: string,
  databaseUrl?: string,
  onServer?: (pid: number) => void,
): Promise<FreshDatabase> {
  if (databaseUrl) {
    const url = new URL(databaseUrl)
    const name = `${decodeURIComponent(url.pathname.slice(1)) || 'postgres'}${suffix}`
    url.pathname = encodeURIComponent(name)
    await recreate(databaseUrl, name)
    await migrate(url.href)
    return {
      url: url.href,
      description: `Postgres at ${url.host}, database ${name}`,
      stop: async () => {},
    }
  }
  const dataFolder = join(stateFolder, 'postgres')
  // Durability is not needed: every start makes the world again.
  const settings = { synchronous_commit: 'off' }
  const server = await startPostgres({ dataFolder, port: usualPostgresPort, settings, onServer })
  try {
    await recreate(server.databaseUrl, embeddedName)
    const url = server.urlOf(embeddedName)
    await migrate(url)
    return {
      url,
      description: `embedded Postgres, database ${embeddedName}`,
      stop: () => server.stop(),
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

const reader = 'devnet_reader'

/**
 * How to connect with SQL, a line per program; one line with the problem when the server refuses to make a login. Its
 * password is kept in the state folder, so that it is the same at every start.
 */
export async function readerLines(
  databaseUrl: string,
  stateFolder: string,
): Promise<[program: string, line: string][]> {
  const pool = createPool({ databaseUrl, name: 'devnet', max: 1 })
  try {
    const password = await makeReader(pool, reader, usualRights, keptPassword(join(stateFolder, 'devnet.password')))
    return connectionLines(loginUrl(databaseUrl, { name: reader, password }))
  } catch (error) {
    return [['SQL', `no login: ${describeError(error)}`]]
  } finally {
    await pool.end()
  }
}

function keptPassword(path: string): string {
  const kept = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (kept.length === newPassword().length) return kept // none that was written in part
  const password = newPassword()
  writeFileSync(path, password, { mode: 0o600 })
  return password
}

async function recreate(serverUrl: string, name: string) {
  const pool = createPool({ databaseUrl: serverUrl, name: 'devnet', max: 1 })
  try {
    await dropDatabase(pool, name)
    await createDatabase(pool, name)
  } catch (cause) {
    const problem = (cause as Error).message
    throw new Error(`the devnet's database ${name} could not be made again: ${problem}`, { cause })
  } finally {
    await pool.end()
  }
}
