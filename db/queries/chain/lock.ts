import { lockClasses } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'

/**
 * Waits for a chain's lock as long as the session's lock_timeout says, then fails with SQLSTATE 55P03.
 * The lock is the session's: it ends with the connection, however that ends.
 */
export async function lockChain(session: Queryable, chainId: number): Promise<void> {
  await session.query('select pg_advisory_lock($1, $2)', [lockClasses.processor, chainId])
}

export async function limitLockWait(session: Queryable, milliseconds: number): Promise<void> {
  await session.query(`select set_config('lock_timeout', $1, false)`, [`${milliseconds}ms`])
}
