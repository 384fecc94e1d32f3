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

/**
 * Makes the server end a session whose client vanished without a word within 25 seconds, and free its locks. Servers
 * wait for hours otherwise.
 */
export async function noticeLostClient(session: Queryable): Promise<void> {
  await session.query(
    `select set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
            set_config('tcp_keepalives_count', '3', false), set_config('client_connection_check_interval', '10s', false)`,
  )
}

/** Number of the server's process behind a session; asked to see that there is one. */
export async function readSessionId(session: Queryable): Promise<number | undefined> {
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}
