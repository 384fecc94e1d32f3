import type pg from 'pg'
import { type ChainName, settlementChains } from '../../config/chains.ts'
import { inTransaction } from '../../db/pool.ts'
import { readChainState } from '../../db/queries/chain/chain-state.ts'
import {
  addToRollup,
  boundRange,
  lockRollup,
  moveBackfillRollup,
  moveRollup,
  unrolledBackfill,
} from '../../db/queries/rollup/cursor.ts'
import { markMovedRecipients } from '../../db/queries/rollup/recipient-counts.ts'
import { allowLargeSums } from '../../db/queries/server/transaction-settings.ts'
import type { DeriveContext } from '../../derive/derivation.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'

/**
 * Settlements rolled up in one transaction, about. Pairs are spread over the whole of their table, so fewer, larger steps
 * write each page less often. Derivations that hold the roll-up wait for a step: some seconds.
 */
const settlementsPerStep = 500_000

interface RollupOptions {
  readonly pool: pg.Pool
  /** For tests. */
  readonly stepSettlements?: number
}

/** Chains rolled up at once, each over a connection of its own: they share no row, and a step holds the mark of its own alone. */
const chainsAtOnce = 2

/**
 * One bounded pass over the chains: each is rolled up one step further, through final blocks only. Returns how many
 * steps did something; zero: everything final is rolled up. A chain that fails or waits does not stop the others: what
 * failed is thrown at the end.
 */
export async function rollUpSettlements({
  pool,
  stepSettlements = settlementsPerStep,
}: RollupOptions): Promise<number> {
  let work = 0
  const failures: Error[] = []
  const waiting = settlementChains().values()
  const takeChains = async () => {
    for (const chain of waiting) {
      try {
        const further = await inTransaction(pool, (db) => rollUpChain(db, chain, stepSettlements))
        const loaded = await inTransaction(pool, (db) => rollUpBackfill(db, chain, stepSettlements))
        work += further + loaded
      } catch (error) {
        failures.push(new Error(`${chain} is not rolled up: ${(error as Error).message}`, { cause: error }))
      }
    }
  }
  await Promise.all(Array.from({ length: chainsAtOnce }, takeChains))
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures)
  return work
}

/** Writes sums and the block they reach in one transaction, so every settlement counts once, even after a crash. */
async function rollUpChain(db: pg.PoolClient, chain: ChainName, limit: number): Promise<number> {
  const fromBlock = await lockRollup(db, chain)
  const final = (await readChainState(db, chain))?.finalizedBlock ?? -1
  if (final < fromBlock) return 0
  const toBlock = await boundRange(db, chain, { fromBlock, toBlock: final }, limit)
  await allowLargeSums(db)
  const grew = await addToRollup(db, chain, { fromBlock, toBlock })
  await moveRollup(db, chain, toBlock + 1)
  return grew || toBlock < final ? 1 : 0
}

/** Rolls up a backfill's blocks as its rows become complete, from its first block on. */
async function rollUpBackfill(db: pg.PoolClient, chain: ChainName, limit: number): Promise<number> {
  await lockRollup(db, chain)
  const range = await unrolledBackfill(db, chain)
  if (!range) return 0
  const toBlock = await boundRange(db, chain, range, limit)
  await allowLargeSums(db)
  await addToRollup(db, chain, { ...range, toBlock }, range.id)
  await moveBackfillRollup(db, range.id, toBlock + 1)
  return 1
}

const counted = derivations.filter(({ kind }) => ['recipients', 'counts', 'totals'].includes(kind))

/** Counts what all agents were paid, as the facts are now, and sums up the directory, each kind once the one before is done. */
export async function refreshCounts(context: DeriveContext): Promise<void> {
  const { pool, settlementOverloads, now } = context
  await markMovedRecipients(pool, { settlementOverloads, now: now() })
  for (const one of counted) await settle([one], context)
}
