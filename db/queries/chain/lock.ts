import { lockClasses } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'

/** Whether the chain's lock is this session's now. It ends with the connection, however that ends. */
export async function tryLockChain(session: Queryable, chainId: number): Promise<boolean> {
  const { rows } = await session.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', [
    lockClasses.processor,
    chainId,
  ])
  return rows[0]?.locked === true
}

/** Backend process id of a session; the query also shows that the session is alive. Undefined: no answer. */
export async function readSessionId(session: Queryable): Promise<number | undefined> {
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}
