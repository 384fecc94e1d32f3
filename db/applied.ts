import type pg from 'pg'
import { type MigrationFile, type SqlFile, toFile } from './schema-files.ts'

/** What ran in a database: SHA-256 of files by name. */
type Applied = ReadonlyMap<string, string>

/** Row of a database that has the tables of `db/schema`, whoever made them. Files of the schema begin like it. */
export const baseline = 'schema'

/**
 * The migrations that made databases before there was `db/schema`: the last one, and the SHA-256 of the names and digests
 * of all 116, a line each. A database that has them has the tables of the schema as it was then.
 */
const before = {
  last: '1930_confirmed_loads.sql',
  sha256: 'f2cd6a2229c7be8ca331aef94d321497649d548c264cbc617dededf44d29924c',
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

/** Replaces the migrations of before there was `db/schema` by one row. Throws when they are not all there. */
export async function takeOver(client: pg.ClientBase, applied: Applied): Promise<void> {
  const names = [...applied.keys()].sort()
  const all = toFile(baseline, names.map((name) => `${name} ${applied.get(name)}`).join('\n'))
  if (all.sha256 !== before.sha256) {
    throw new Error(
      `its migrations, the last of them ${names.at(-1)}, are not all those to ${before.last}, which this program goes on ` +
        'from; migrate the database with the last program that has that migration, then again with this one',
    )
  }
  await client.query('delete from schema_migration')
  await note(client, all)
}

/**
 * Migrations that have not run. Throws when one that ran has changed since, or when the database has one that this program
 * does not know.
 */
export function pendingOf(files: readonly MigrationFile[], applied: Applied): MigrationFile[] {
  const ran = [...applied.keys()].filter((name) => !name.startsWith(baseline))
  const unknown = ran.filter((name) => !files.some((file) => file.name === name))
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
