import pg from 'pg'
import type { Queryable } from '../../pool.ts'

/**
 * How often the cursor in a processor's state schema has been moved. The row stays locked until the transaction ends,
 * so nobody moves it in between.
 */
export async function lockCursor(transaction: Queryable, schema: string): Promise<number | undefined> {
  const { rows } = await transaction.query<{ nonce: number }>(
    `select nonce from ${pg.escapeIdentifier(schema)}.status where id = 0 for update`,
  )
  return rows[0]?.nonce
}
