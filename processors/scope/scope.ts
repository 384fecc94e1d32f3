import type pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import { maxBlock } from '../../db/block-range.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { backfillsWithin } from '../../db/queries/chain/backfill.ts'
import { readChainState } from '../../db/queries/chain/chain-state.ts'
import {
  clipScope,
  deleteScope,
  insertScope,
  lockScope,
  readScope,
  type SettlementScope,
} from '../../db/queries/chain/scope.ts'
import { Refusal } from '../../ops/cli.ts'
import { refuseArchived } from '../checks.ts'

/** Whose settlements are kept: everybody's, or those of recipients that are verified addresses of accounts in the directory. */
export type Scope = 'all' | 'verified'

/**
 * Records that all settlements of a chain are kept from now on. Call it before the processor writes. Throws a
 * Refusal when those of some blocks are missing.
 */
export async function keepAll(pool: pg.Pool, { name, id }: ChainSettings): Promise<void> {
  if (!(await readScope(pool, name))) return
  await inTransaction(pool, async (db) => {
    await lockScope(db, id)
    const scope = await readScope(db, name)
    const state = await readChainState(db, name)
    if (scope && state && state.indexedBlock > scope.completeTo) {
      const range = scope.completeTo < 0 ? '--all' : `--to ${scope.completeTo} (or --all)`
      throw new Refusal(
        `${name} was indexed with SETTLEMENT_SCOPE=verified from block ${scope.completeTo + 1} on: settlements of other ` +
          `recipients are missing; set it again, or index them again with: npm run reset -- --chain ${name} ${range}`,
      )
    }
    await deleteScope(db, name)
  })
}

/**
 * Records that only settlements of known recipients are kept from now on, and repairs the record after a reset. Call it
 * before the processor writes. `finalHeight` is called when nothing of the chain is indexed: blocks that are
 * final by then are loaded by recipient and not read by the processor, so authorizations in them that paid nothing are
 * not counted. Throws a Refusal when settlements are archived: those of future recipients would be missing.
 */
export async function keepVerified(
  pool: pg.Pool,
  chain: ChainSettings,
  finalHeight: () => Promise<number>,
): Promise<SettlementScope> {
  const { name, id } = chain
  const isFresh = (await readChainState(pool, name)) === undefined
  const fresh: SettlementScope = { completeTo: -1, ownFrom: isFresh ? (await finalHeight()) + 1 : 0 }
  return inTransaction(pool, async (db) => {
    await lockScope(db, id)
    const state = await readChainState(db, name)
    if (!state) await deleteScope(db, name)
    // As a reset leaves it: the rows above are deleted. Else loads stay, which are ahead during the first catch-up.
    else if (state.indexedAt === null) await clipScope(db, name, state.indexedBlock)
    const scope = await readScope(db, name)
    if (scope) return scope
    await refuseUnfinished(db, name)
    await refuseArchived(db, chain, 0)
    const begun = state ? { completeTo: state.finalizedBlock, ownFrom: 0 } : fresh
    await insertScope(db, name, begun)
    return begun
  })
}

/** Throws a Refusal when the chain's history is not loaded by ranges of blocks. `scope`: what is set, if anything. */
export async function refuseBackfill(db: Queryable, { name }: ChainSettings, scope: string | undefined): Promise<void> {
  // What is recorded of a chain that was reset is forgotten when its processor starts.
  const isVerified = (await readChainState(db, name)) && (await readScope(db, name))
  if (scope !== 'verified' && !isVerified) return
  throw new Refusal(
    `with SETTLEMENT_SCOPE=verified there is nothing to backfill: the processor of ${name} loads the history of each ` +
      'verified address by itself',
  )
}

/** Throws a Refusal for an incomplete backfill, which loads all settlements of its blocks; the processor skips them. */
async function refuseUnfinished(db: Queryable, chain: string) {
  const open = (await backfillsWithin(db, chain, 0, maxBlock)).find(({ completedAt }) => completedAt === null)
  if (!open) return
  throw new Refusal(
    `a backfill of ${chain} has not loaded all of blocks ${open.fromBlock} to ${open.toBlock}; finish it with ` +
      `--from ${open.fromBlock} --to ${open.toBlock} and SETTLEMENT_SCOPE=all before setting it to verified`,
  )
}
