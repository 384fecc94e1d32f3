import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { connectionTimeouts } from './pool.ts'

/** Retry policy for taking locks that others may hold. */
export interface LockRetry {
  /** Lock timeout of one attempt; statements that queue behind the waiting one are held up as long. */
  readonly lockTimeoutMs: number
  /** Mean pause between attempts. */
  readonly pauseMs: number
  /** Time after which a failed attempt is not retried. */
  readonly totalMs: number
}

/** Timeout of the query for who holds a lock. */
const lookMs = 5_000
/** SQLSTATEs of a lock timeout and of a deadlock. */
const lockFailures = ['55P03', '40P01']

/** Whether an error is a lock timeout or a deadlock, so that a retry may succeed. */
export function isLockFailure(error: unknown): boolean {
  return lockFailures.includes((error as { code?: string }).code ?? '')
}

/**
 * Retries `tryOnce` while it fails for lack of a lock, until `totalMs` have passed. `onWait` gets the error of each
 * failed attempt. Throws the last lock failure when the time is over, and any other error at once.
 */
export async function retryLocked<T>(
  { totalMs, pauseMs }: LockRetry,
  tryOnce: () => Promise<T>,
  onWait: (error: Error) => void = () => {},
): Promise<T> {
  for (const deadline = Date.now() + totalMs; ; ) {
    try {
      return await tryOnce()
    } catch (error) {
      if (!isLockFailure(error) || Date.now() >= deadline) throw error
      onWait(error as Error)
    }
    await delay(pauseMs * (0.5 + Math.random()))
  }
}

/** The sessions that block the backend `pid` at this moment, as text for the operator; empty: none. */
export async function blockersOf(databaseUrl: string, pid: number): Promise<string> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'migrate: who blocks',
    connectionTimeoutMillis: lookMs,
    ...connectionTimeouts(lookMs),
  })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<{ text: string | null }>(
      `select string_agg(format('pid %s (%s, %s)', pid, coalesce(nullif(application_name, ''), usename),
                                coalesce(state, backend_type)), ', ' order by pid) as text
         from pg_stat_activity where pid = any(pg_blocking_pids($1))`,
      [pid],
    )
    return rows[0]?.text ?? ''
  } finally {
    await client.end()
  }
}
