import pg from 'pg'
import type { Queryable } from '../../pool.ts'

/**
 * Locks the cursor in a processor's state schema until the transaction ends. Returns how often it has been moved;
 * undefined: there is none yet.
 */
export async function lockCursor(transaction: Queryable, schema: string): Promise<number | undefined> {
  const { rows } = await transaction.query<{ nonce: number }>(
    `select nonce from ${pg.escapeIdentifier(schema)}.status where id = 0 for update`,
  )
  return rows[0]?.nonce
}
