import type pg from 'pg'
import type { Queryable } from '../../db/pool.ts'

/**
 * Number of rows that a statement fetches, by an index or not, from tables whose names match one of `tables` (LIKE). It
 * runs in a transaction that is rolled back, on a connection of its own: with the plan of a first run.
 */
export async function rowsRead(
  pool: pg.Pool,
  statement: (db: pg.PoolClient) => Promise<unknown>,
  tables: readonly string[] = ['%'],
): Promise<number> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const before = await rowsFetched(client, tables)
    await statement(client)
    return (await rowsFetched(client, tables)) - before
  } finally {
    await client.query('rollback')
    client.release(true)
  }
}

/** Rows that the transaction, and the connection before it, fetched from tables whose names match one of `tables` (LIKE). */
export async function rowsFetched(db: Queryable, tables: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ read: number }>(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
       from pg_stat_xact_user_tables where relname like any ($1)`,
    [tables],
  )
  return rows[0]!.read
}
