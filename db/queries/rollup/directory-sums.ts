import { lockKeys } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'
import { countedParts, directorySums, dirtyParts } from './directory-parts.ts'

/**
 * Recounts and stores the parts of the directory's sums that are dirty or missing, in the caller's transaction. It is
 * one statement, so that it removes only the marks of changes it has seen. When another process is doing it, this one
 * skips it: neither would see the other's work.
 */
export async function storeDirectorySums(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ locked: boolean }>({
    name: 'lock-directory-sums',
    text: 'select pg_try_advisory_xact_lock($1) as locked',
    values: [lockKeys.directorySums],
  })
  if (rows[0]?.locked) await db.query({ name: 'store-directory-sums', text })
}

const stored = Object.values(directorySums).map((sums) => {
  const { table, key, columns } = sums
  return `
${table}_stored as (
  insert into ${table} (${[...key, ...columns].join(', ')})
  ${countedParts(sums)}
      on conflict (${key.join(', ')}) do update
     set (${columns.join(', ')}) = row(${columns.map((name) => `excluded.${name}`).join(', ')})
)`
})
const text = `
with ${[dirtyParts, ...stored].join(',')}
delete from directory_moved`
