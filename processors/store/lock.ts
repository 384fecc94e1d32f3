import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import { connectionTimeouts, type Queryable, sessionOf } from '../../db/pool.ts'
import { refusePooler } from '../../db/pooler.ts'
import { tryLockBackfill } from '../../db/queries/chain/backfill.ts'
import { readSessionId, tryLockChain } from '../../db/queries/chain/chain-state.ts'
import { Refusal } from '../../ops/cli.ts'

/** Milliseconds a processor waits for the lock: twice what the server needs to notice that its owner has vanished. */
export const processorWaitMs = 60_000
/** Milliseconds a command waits for the lock: shorter, because a person is waiting. */
export const commandWaitMs = 5_000
/** Milliseconds between attempts. No statement blocks on the lock: it would hold its snapshot all the time. */
const askAgainMs = 250
const connectTimeoutMs = 10_000
/** Milliseconds between heartbeats of the session that holds the lock; `statementMs`: timeout of one. */
const beatMs = 10_000
const statementMs = 10_000

/**
 * Whether this session is the only one that works on a backfill now, until it ends. Waits a moment for it: for one transaction
 * the loader of late contracts holds those, too, that nobody runs.
 */
export async function lockBackfill(session: Queryable, id: number): Promise<boolean> {
  for (const deadline = Date.now() + commandWaitMs; !(await tryLockBackfill(session, id)); await delay(askAgainMs))
    if (Date.now() > deadline) return false
  return true
}

interface ChainLock {
  release(): Promise<void>
}

interface LockOptions {
  readonly waitMs: number
  /** The connection that holds the lock is broken or does not answer: another process may have it. */
  readonly onLost: (error: Error) => void
  /** Called once when another process has the lock and this one begins to wait. */
  readonly onWait?: () => void
}

/**
 * Makes this process the only one that indexes the chain into this database. The cursor guards itself; the lock is
 * there so that a second process waits, and at last says why it ends, instead of fighting the first. An owner whose host
 * vanished loses it within 25 seconds.
 *
 * Throws a Refusal when another process has the lock and keeps it, and an Error when a pooler stands before the server.
 */
export async function lockForProcessor(
  databaseUrl: string,
  chain: ChainSettings,
  { waitMs, onLost, onWait }: LockOptions,
): Promise<ChainLock> {
  await refusePooler(databaseUrl)
  const session = new pg.Client({
    connectionString: sessionOf(databaseUrl),
    application_name: `processor ${chain.name} lock`,
    connectionTimeoutMillis: connectTimeoutMs,
    ...connectionTimeouts(statementMs),
  })
  let isHeld = true
  const lose = (error: Error) => {
    if (isHeld) onLost(error)
    isHeld = false
  }
  session.on('error', lose)
  await session.connect()
  try {
    for (const deadline = Date.now() + waitMs; !(await tryLockChain(session, chain.id)); await delay(askAgainMs)) {
      if (Date.now() > deadline) {
        throw new Refusal(`another processor of ${chain.name} is running on this database; stop it first`)
      }
      onWait?.()
      onWait = undefined
    }
  } catch (error) {
    isHeld = false
    await session.end()
    throw error
  }
  const beat = setInterval(() => readSessionId(session).catch(lose), beatMs).unref()
  return {
    async release() {
      isHeld = false
      clearInterval(beat)
      await session.end()
    },
  }
}
