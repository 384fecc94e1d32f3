import { lockKeys } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'
import { countedParts, directorySums, dirtyParts } from './directory-parts.ts'

/**
 * Stores the sums of the parts of the directory that have moved or have none, in a transaction of the caller's. One
 * statement, which takes away no other marks than those of changes it has seen. Who finds another at it leaves it to them:
 * neither would see what the other has done.
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
