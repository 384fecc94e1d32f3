import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { connectionTimeouts } from './pool.ts'

/** How long to wait for locks that others hold. */
export interface Patience {
  /** Lock timeout of one try: every statement that queues behind a waiting one waits as long. */
  readonly lockTimeoutMs: number
  /** Mean pause before a new try. */
  readonly pauseMs: number
  /** Tries for this long in all. */
  readonly totalMs: number
}

/** Timeout of the look at who holds a lock. */
const lookMs = 5_000
/** SQLSTATEs of a lock that was not to be had in time, and of a deadlock that was ended. */
const lockFailures = ['55P03', '40P01']

/** Whether something failed for want of a lock, so that it may get it when it is tried again. */
export function isLockFailure(error: unknown): boolean {
  return lockFailures.includes((error as { code?: string }).code ?? '')
}

/**
 * Runs what needs locks until it gets them: again while a try fails for want of one and the patience lasts, `onWait`
 * hearing each time who holds it. Throws the last failure once the patience is over, and any other at once.
 */
export async function patiently<T>(
  { totalMs, pauseMs }: Patience,
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

/** Who a connection waits for at this moment, for a line to an operator; empty: nobody. */
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
