import pg from 'pg'
import type { ChainSettings } from '../../chains.file.ts'
import { limitLockWait, lockChain } from '../../db/queries/chain/lock.ts'
import { Refusal } from '../refusal.ts'

/** How long the connection of a processor that was killed may take to be noticed. */
const waitMs = 5_000
const connectTimeoutMs = 10_000
const lockNotAvailable = '55P03'

export interface ChainLock {
  release(): Promise<void>
}

/**
 * Makes this process the only one that indexes the chain into this database. The cursor guards itself; the lock is
 * there so that a second process says why it ends instead of fighting the first. `onLost` is called when the
 * connection that holds it breaks.
 *
 * Throws when another process has the lock and keeps it.
 */
export async function lockForProcessor(
  databaseUrl: string,
  chain: ChainSettings,
  onLost: (error: Error) => void,
): Promise<ChainLock> {
  const session = new pg.Client({
    connectionString: databaseUrl,
    application_name: `processor ${chain.name} lock`,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  })
  let held = true
  session.on('error', (error) => {
    if (held) onLost(error)
  })
  await session.connect()
  try {
    await limitLockWait(session, waitMs)
    await lockChain(session, chain.id)
  } catch (error) {
    held = false
    await session.end()
    if ((error as { code?: string }).code !== lockNotAvailable) throw error
    throw new Refusal(`another processor of ${chain.name} is running on this database; stop it first`)
  }
  return {
    async release() {
      held = false
      await session.end()
    },
  }
}
