import type pg from 'pg'
import { inTransaction, type Queryable } from './pool.ts'

/** How long a commit may wait for a standby; shorter than any statement timeout. */
const standbyTimeoutMs = 4_000
/** The server's routine that gives up waiting for a standby, and commits all the same. */
const givesUpOnStandby = 'SyncRepWaitForLSN'

/**
 * `inTransaction` for data that cannot be re-derived: where the server has synchronous standbys, it returns once one of
 * them has the transaction on disk. Throws when none has after `timeoutMs`: the transaction is then committed on the
 * primary, but a failover may lose it. No server timeout ends that wait, so it is cancelled by the client.
 */
export async function inSafeTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  timeoutMs = standbyTimeoutMs,
): Promise<T> {
  const client = await pool.connect()
  const { release } = client
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid').catch((error) => {
    release(error)
    throw error
  })
  let isUnsafe = false
  let timer: NodeJS.Timeout | undefined
  let cancelling: Promise<unknown> | undefined
  const hear = ({ routine }: { routine?: string | undefined }) => {
    isUnsafe ||= routine === givesUpOnStandby
  }
  const cancel = () => {
    cancelling = pool.query('select pg_cancel_backend($1)', [rows[0]?.pid]).catch(() => {})
  }
  client.on('notice', hear)
  client.release = (broken) => {
    clearTimeout(timer)
    client.off('notice', hear)
    release(broken || cancelling !== undefined) // a late cancellation would hit the next user's statement
  }
  const result = await inTransaction({ connect: (async () => client) as pg.Pool['connect'] }, async (transaction) => {
    await transaction.query(`select set_config('synchronous_commit', 'on', true)`)
    const done = await work(transaction)
    timer = setTimeout(cancel, timeoutMs)
    return done
  })
  if (isUnsafe) throw new Error('no standby has what was written: it may not outlive this server')
  return result
}

/** Lets the transaction wait at its end, where there are synchronous standbys, until one has all that was written so far. */
export async function waitForStandby(db: Queryable): Promise<void> {
  await db.query({
    name: 'wait-for-standby',
    text: `
select pg_logical_emit_message(true, 'agent-directory', '') where current_setting('synchronous_standby_names') <> ''`,
  })
}
