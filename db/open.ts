import { startPostgres } from '../postgres/embedded.ts'
import { migrate } from './migrate.ts'

export interface OpenDatabase {
  readonly databaseUrl: string
  /** Where the database is, without its password, for the start-up line. */
  readonly description: string
  /** Where the embedded server has its data; undefined: the server is named. */
  readonly dataFolder?: string
  /** Migrations that opening ran; a named database is migrated by its operator. */
  readonly migrated: readonly string[]
  /** Leaves the embedded server, which ends with the last process that does; a named server is left alone. */
  close(): Promise<void>
}

/** Below the working directory, which is the project's for every npm script. */
export const embeddedFolder = '.data/postgres'

/**
 * The database this installation uses: the one DATABASE_URL names, as it is; otherwise the embedded server under
 * `.data/`, started or adopted, and migrated; `onServer` is told of its process. Throws one line when DATABASE_URL is no
 * address of a Postgres.
 */
export async function openDatabase(
  databaseUrl: string | undefined,
  onServer?: (pid: number) => void,
): Promise<OpenDatabase> {
  if (databaseUrl) return { databaseUrl, description: describe(databaseUrl), migrated: [], close: async () => {} }
  const server = await startPostgres({ dataFolder: embeddedFolder, onServer })
  try {
    return {
      databaseUrl: server.databaseUrl,
      dataFolder: server.dataFolder,
      description: `embedded Postgres in ${server.dataFolder}${server.adopted ? ' (already running)' : ''}`,
      migrated: await migrate(server.databaseUrl),
      close: () => server.stop(),
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

function describe(databaseUrl: string): string {
  // The address may hold a password, so the message does not repeat it.
  const url = URL.parse(databaseUrl)
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new Error('DATABASE_URL must be postgres://user:password@host:port/database')
  }
  return `Postgres at ${url.host}${url.pathname}`
}
