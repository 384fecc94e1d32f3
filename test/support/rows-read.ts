import type pg from 'pg'
import type { Queryable } from '../../db/pool.ts'

/**
 * Rows that a statement fetches from tables whose names are like one of `tables`, by an index or not. It is run in a
 * transaction that is undone, on a connection of its own: with a plan that is made the first time.
 */
export async function rowsRead(
  pool: pg.Pool,
  statement: (db: Queryable) => Promise<unknown>,
  tables: readonly string[] = ['%'],
): Promise<number> {
  const client = await pool.connect()
  // The server counts for the connection, what it did before included.
  const count = async () => {
    const { rows } = await client.query(
      `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
         from pg_stat_xact_user_tables where relname like any ($1)`,
      [tables],
    )
    return rows[0].read as number
  }
  try {
    await client.query('begin')
    const before = await count()
    await statement(client)
    return (await count()) - before
  } finally {
    await client.query('rollback')
    client.release(true)
  }
}
