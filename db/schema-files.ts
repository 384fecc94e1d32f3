import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { markTriggers } from './due/triggers.ts'

/** First line of a migration whose statements cannot run in a transaction, as `create index concurrently` cannot. */
const outsideMark = '-- outside a transaction'

export interface SqlFile {
  /** Name in `schema_migration`: of a migration its file's, of the schema its path in `db/`. */
  readonly name: string
  readonly sql: string
  /** SHA-256 of the file in hex, which reveals that it has changed since it ran. */
  readonly sha256: string
}

export interface MigrationFile extends SqlFile {
  /** Statements to run one by one, each outside a transaction; null: the whole file runs in one transaction. */
  readonly outside: readonly string[] | null
}

/** Files of the schema, each list in the order in which they run. */
export interface SchemaFiles {
  /** Tables with their indexes, functions and triggers: what a new database gets once. */
  readonly tables: readonly SqlFile[]
  /**
   * What runs again, over what it made before, when its text is new: who reads the SQL contract, its views, and the
   * triggers that mark what is due, made of the list of kinds and named after their tables.
   */
  readonly repeatable: readonly SqlFile[]
}

const folder = new URL('./schema/', import.meta.url)

/** The schema of this program. Views are in the order of their files' paths. */
export async function readSchema(): Promise<SchemaFiles> {
  const groups = await readdir(new URL('directory/', folder))
  const views = await Promise.all(groups.sort().map((group) => readFolder(`directory/${group}`)))
  const marks = [...markTriggers()].map(([table, sql]) => toFile(`schema/marks/${table}`, sql))
  return { tables: await readFolder('tables'), repeatable: [await readSql('readers.sql'), ...views.flat(), ...marks] }
}

async function readFolder(path: string): Promise<SqlFile[]> {
  const names = await readdir(new URL(`${path}/`, folder))
  return Promise.all(names.sort().map((name) => readSql(`${path}/${name}`)))
}

async function readSql(path: string): Promise<SqlFile> {
  return toFile(`schema/${path}`, await readFile(new URL(path, folder), 'utf8'))
}

/** The migrations of a folder, in the order of their names. */
export async function readMigrations(of: URL): Promise<MigrationFile[]> {
  const names = (await readdir(of)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const file = toFile(name, await readFile(new URL(name, of), 'utf8'))
      return { ...file, outside: file.sql.startsWith(`${outsideMark}\n`) ? statements(file) : null }
    }),
  )
}

/** A file of this name and text, which need not be on disk. */
export function toFile(name: string, sql: string): SqlFile {
  return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') }
}

/**
 * Splits a file into statements: each ends at a semicolon at the end of a line. Throws for a statement that would block
 * readers or writers, because these run without the lock timeout that statements in transactions have.
 */
function statements({ name, sql }: SqlFile): string[] {
  const found = sql
    .replace(/^--.*$/gm, '')
    .split(/;\s*$/m)
    .map((text) => text.trim())
    .filter(Boolean)
  const wrong = found.find((text) => !/\bconcurrently\b/i.test(text))
  if (wrong)
    throw new Error(`migration ${name} runs outside a transaction, where this may not: ${wrong.split('\n')[0]}`)
  return found
}
