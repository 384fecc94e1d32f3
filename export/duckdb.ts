import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

/**
 * Settings of the engine. One thread: a statement runs on the one that waits for it, of libuv's four, of which writing
 * and reading files at the same time never takes more than three. Nothing is looked for on the network.
 */
const settings = {
  threads: '1',
  memory_limit: '600MB',
  /** Where row groups go that are larger than the memory; made when it is needed. */
  temp_directory: join(tmpdir(), `agent-directory-duckdb-${process.pid}`),
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
}

let engine: Promise<DuckDBInstance> | undefined

/** Opens a connection to the process's own DuckDB, which stores nothing; the caller closes it. */
export async function connectDuckDb(): Promise<DuckDBConnection> {
  engine ??= DuckDBInstance.create(':memory:', settings)
  const db = await (await engine).connect()
  await db.run(`set TimeZone = 'UTC'`)
  return db
}

/** A text as a literal of SQL: DuckDB takes no parameters where files are named. */
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/** A name as an identifier of SQL. */
export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`
