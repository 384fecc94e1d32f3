import type pg from 'pg'
import { type MigrationFile, type SqlFile, toFile } from './schema-files.ts'

/** What ran in a database: SHA-256 of files by name. */
type Applied = ReadonlyMap<string, string>

/** Row of a database that has the tables of `db/schema`, whoever made them. Files of the schema begin like it. */
export const baseline = 'schema'

/**
 * The migrations whose work is in `db/schema` and whose files are gone: the last one, and the SHA-256 of the names and digests
 * of all 34, a line each. A database that has them has the tables of the schema as it was then.
 */
const before = {
  last: '5832_payers_alone_renamed.sql',
  sha256: '4e1e1f6e3fdf38c65248968c5ebb6b2624e601b3a241a257c2fd0245e53e4ab3',
}

export async function readApplied(client: pg.ClientBase): Promise<Applied> {
  await client.query(
    `create table if not exists schema_migration (
       name text primary key,
       sha256 text not null,
       applied_at timestamptz not null default now()
     )`,
  )
  const { rows } = await client.query<{ name: string; sha256: string }>('select name, sha256 from schema_migration')
  return new Map(rows.map((row) => [row.name, row.sha256]))
}

/** Records that a file ran, now. */
export async function note(client: pg.ClientBase, { name, sha256 }: Pick<SqlFile, 'name' | 'sha256'>): Promise<void> {
  await client.query(
    `insert into schema_migration (name, sha256) values ($1, $2)
         on conflict (name) do update set sha256 = excluded.sha256, applied_at = excluded.applied_at`,
    [name, sha256],
  )
}

/** Migrations that a database had and that have no file: of before, or of a newer program. In the order of their names. */
function withoutFile(files: readonly MigrationFile[], applied: Applied): string[] {
  const ran = [...applied.keys()].filter((name) => name !== baseline && !name.startsWith(`${baseline}/`))
  return ran.filter((name) => !files.some((file) => file.name === name)).sort()
}

/** Whether a database was made by migrations that have no file any more, so that it has to be taken over. */
export function isOfBefore(files: readonly MigrationFile[], applied: Applied): boolean {
  return !applied.has(baseline) || withoutFile(files, applied).some((name) => name <= before.last)
}

/** Forgets the migrations of before, which are in the schema. Throws when they are not all there. */
export async function takeOver(
  client: pg.ClientBase,
  files: readonly MigrationFile[],
  applied: Applied,
): Promise<void> {
  const names = withoutFile(files, applied).filter((name) => name <= before.last)
  const all = toFile(baseline, names.map((name) => `${name} ${applied.get(name)}`).join('\n'))
  if (all.sha256 !== before.sha256) {
    throw new Error(
      `its migrations, the last of them ${names.at(-1)}, are not all those to ${before.last}, which this program goes on ` +
        'from; migrate the database with the last program that has that migration, then again with this one',
    )
  }
  await client.query('delete from schema_migration where name = any ($1)', [names])
  await note(client, all)
}

/**
 * Migrations that have not run. Throws when one that ran has changed since, or when the database has one that this program
 * does not know.
 */
export function pendingOf(files: readonly MigrationFile[], applied: Applied): MigrationFile[] {
  const unknown = withoutFile(files, applied)
  if (unknown.length > 0) {
    throw new Error(`the database is newer than this program: it holds ${unknown.join(', ')}; update the program`)
  }
  const changed = files.find(({ name, sha256 }) => applied.has(name) && applied.get(name) !== sha256)
  if (changed) {
    throw new Error(
      `migration ${changed.name} was applied with other content; add a new file instead of changing this one`,
    )
  }
  return files.filter(({ name }) => !applied.has(name))
}
