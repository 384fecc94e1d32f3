import { startPostgres } from './embedded.ts'
import { migrate } from './migrate.ts'

export interface OpenDatabase {
  readonly databaseUrl: string
  /** Where the database is, without its password, for the start-up line. */
  readonly description: string
  /** Stops the server if this process started it. */
  close(): Promise<void>
}

const embeddedFolder = '.data/postgres'

/**
 * The database this installation uses: the one DATABASE_URL names, as it is; otherwise the embedded server under
 * `.data/`, started or adopted, and migrated.
 */
export async function openDatabase(databaseUrl: string | undefined): Promise<OpenDatabase> {
  if (databaseUrl) {
    const { host, pathname } = new URL(databaseUrl)
    return { databaseUrl, description: `Postgres at ${host}${pathname}`, close: async () => {} }
  }
  const server = await startPostgres({ dataFolder: embeddedFolder })
  await migrate(server.databaseUrl)
  return {
    databaseUrl: server.databaseUrl,
    description: `embedded Postgres in ${embeddedFolder}${server.adopted ? ' (already running)' : ''}`,
    close: () => server.stop(),
  }
}
