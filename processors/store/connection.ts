import type { Store } from '@subsquid/typeorm-store'
import type pg from 'pg'
import type { DataSource, EntityManager } from 'typeorm'
import { boundedFailures, Retries, retrying } from '../../hosts/retries.ts'

/**
 * What the store does not offer and this program needs: the connection its transaction runs on, and whether the
 * changes are tracked. The names are those of typeorm-store 1.9.2 and typeorm 0.3.31; all of them are used in this
 * file alone, and `checkConnection` stops the process at its start when they are gone.
 */
interface StoreInside {
  readonly em: () => EntityManager
  readonly changes: unknown
}

interface RunnerInside {
  readonly databaseConnection?: pg.PoolClient
}

/**
 * The connection of the store's transaction. What is written through it is committed with the rows and the cursor,
 * but is not undone when a hot block is.
 */
export function connectionOf(store: Store): pg.PoolClient {
  return clientOf((store as unknown as StoreInside).em())
}

/** Whether the store writes blocks that are final. Changes of hot blocks are tracked, so that they can be undone. */
export function isFinal(store: Store): boolean {
  return (store as unknown as StoreInside).changes === undefined
}

/** Throws when the libraries have changed inside. */
export async function checkConnection(dataSource: DataSource, storeClass: typeof Store): Promise<void> {
  const changes = {}
  await dataSource.transaction(async (manager) => {
    const store = new storeClass(() => manager, changes as never)
    if (clientOf(manager) !== connectionOf(store)) throw new Error('the store has another connection than its manager')
    if (isFinal(store) || !isFinal(new storeClass(() => manager))) {
      throw new Error('the store of this version does not tell whether its changes are tracked')
    }
  })
}

function clientOf(manager: EntityManager): pg.PoolClient {
  const client = (manager.queryRunner as RunnerInside | undefined)?.databaseConnection
  if (typeof client?.query !== 'function') {
    throw new Error('typeorm of this version does not show the connection of its transaction')
  }
  return client
}

/** Whether the database stops, starts, takes no more connections or cannot be reached. */
export function isUnreachable(error: unknown): boolean {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (/^(57P0[123]|53300|08...|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT)$/.test(code)) return true
  return /connection (terminated|error)|timeout (expired|exceeded)|not queryable/i.test(message)
}

/**
 * Does work on the database, again while it cannot be reached and `mayRepeat`. Rejects with any other failure at once, and
 * with a SourceFailure when it stays out of reach for about a minute.
 */
export function untilReached<T>(
  log: { warn(text: string): void },
  work: () => Promise<T>,
  mayRepeat: () => boolean = () => true,
): Promise<T> {
  const retries = new Retries(log, { source: 'the database', attempts: boundedFailures })
  return retrying(retries, work, (error) => isUnreachable(error) && mayRepeat())
}
