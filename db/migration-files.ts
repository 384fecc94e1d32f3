import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'

/** First line of a file whose statements cannot run in a transaction, as `create index concurrently` cannot. */
const outsideMark = '-- outside a transaction'

export interface MigrationFile {
  readonly name: string
  readonly sql: string
  /** SHA-256 of the file in hex, which reveals that a file was changed after it ran. */
  readonly sha256: string
  /** Statements to run one by one, each outside a transaction; null: the whole file runs in one transaction. */
  readonly outside: readonly string[] | null
}

/** The migrations of a folder, in the order of their names. */
export async function readMigrations(folder: URL): Promise<MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8')
      const sha256 = createHash('sha256').update(sql).digest('hex')
      return { name, sql, sha256, outside: sql.startsWith(`${outsideMark}\n`) ? statements(name, sql) : null }
    }),
  )
}

/**
 * Splits a file into statements: each ends at a semicolon at the end of a line. Throws for a statement that would block
 * readers or writers, because these run without the lock timeout that statements in transactions have.
 */
function statements(name: string, sql: string): string[] {
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
