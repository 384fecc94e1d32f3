import type pg from 'pg'

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
  // The server's counters cover everything that the connection did before.
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
