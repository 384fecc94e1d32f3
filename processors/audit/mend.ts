import type pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import type { BlockRange } from '../../db/block-range.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { deleteOthers, readUnpaid } from '../../db/queries/chain/audit.ts'
import { insertUnpaid } from '../../db/queries/chain/backfill.ts'
import { deleteWithin } from '../../db/queries/chain/block-rows.ts'
import { replaceAttached } from '../../db/queries/chain/payments/attached.ts'
import { replacePayments } from '../../db/queries/chain/payments/payments.ts'
import { addSettlements } from '../../db/queries/chain/scope.ts'
import { addMovedToRollup, lockPayments, subtractFromRollup } from '../../db/queries/rollup/cursor.ts'
import { withoutBackfilled } from '../backfilled.ts'
import type { History } from '../history/history.ts'
import type { ChainBlock } from '../mapping/block.ts'
import { paymentContractsOf } from '../mapping/payment-kinds.ts'
import { tokensOf } from '../mapping/scale.ts'
import { type SettledBlocks, settleBlocks, type UnpaidCount } from '../mapping/settle-blocks.ts'
import type { FindCalls } from '../mapping/settlements.ts'
import { ofReadRecipients } from '../scope/recipients.ts'
import type { Scope } from '../scope/scope.ts'
import { jsonRows } from '../store/json-rows.ts'
import { attachedLists, toPayment, toRecord } from '../store/settlement-record.ts'
import { readBlocks } from './range-blocks.ts'

/** Numbers of rows that differed from the source and were mended: settlements, payments and builder codes. */
export interface Mended {
  readonly missing: number
  readonly surplus: number
  readonly changed: number
  readonly unpaid: number
}

export interface Mendable {
  readonly pool: pg.Pool
  readonly chain: ChainSettings
  readonly scope: Scope
}

/** A short range of final blocks, and what the history source has of it. */
export interface Piece {
  readonly range: BlockRange
  readonly found: SettledBlocks
}

export interface SettledPiece extends Piece {
  /** Hashes of the blocks in which something was found, lowercase hex. */
  readonly hashes: ReadonlyMap<number, string>
}

/** Reads the settlements and payments of a short range of final blocks. */
export async function readSettled(
  history: History,
  chain: ChainSettings,
  range: BlockRange,
  findCalls: FindCalls,
  warn: (text: string) => void,
): Promise<SettledPiece> {
  const blocks: ChainBlock[] = []
  await readBlocks(history, range, warn, (block) => void blocks.push(block))
  const hashes = new Map(blocks.map(({ header }) => [header.height, header.hash]))
  const contracts = paymentContractsOf(chain.paymentContracts)
  const found = await settleBlocks(chain.name, tokensOf(chain), blocks, findCalls, contracts)
  return { range, found, hashes }
}

/** The rows that the processor keeps: in blocks that no backfill loads, to recipients within the scope. */
export async function keptOf(
  db: Queryable,
  chain: ChainSettings,
  scope: Scope,
  found: SettledBlocks,
): Promise<SettledBlocks> {
  const ours = await withoutBackfilled(db, chain, found)
  return scope === 'all' ? ours : ofReadRecipients(db, chain, ours)
}

/**
 * Adds the rows that a range lacks and makes those of the agreed blocks equal to the source's, with their sums. `isWhole`: no row
 * of the range is disputed.
 */
export function mendRange(
  { pool, chain, scope }: Mendable,
  { range, found }: Piece,
  { agreed, isWhole }: { readonly agreed: readonly number[]; readonly isWhole: boolean },
): Promise<Mended> {
  const { name } = chain
  return inTransaction(pool, async (db) => {
    const kept = await keptOf(db, chain, scope, found)
    const rows = kept.settlements.map(toRecord)
    await lockPayments(db, name)
    const deleted = await deleteOthers(db, name, range, { rows, known: scope === 'verified' }, agreed)
    const added = await addSettlements(db, name, rows)
    await subtractFromRollup(db, name, deleted)
    await addMovedToRollup(db, name, added)
    const keys = new Set(rows.map(({ blockNumber, logIndex }) => `${blockNumber}-${logIndex}`))
    const changed = deleted.filter(({ key }) => keys.has(key)).length
    const payments = await replacePayments(db, name, range, expectedPayments(scope, kept), agreed)
    const attached = await replaceAttached(
      db,
      name,
      range,
      attachedLists([...found.settlements, ...found.payments]),
      agreed,
    )
    // All of them, not only the kept ones: a backfill is complete by the time its blocks are audited, and has stored the
    // counts of each. Those of its blocks would be deleted here without being inserted again.
    const wrong = isWhole ? differingUnpaid(found.unpaid, await readUnpaid(db, name, range)) : 0
    if (wrong > 0) {
      await deleteWithin(db, name, range, ['unpaid_authorization'])
      await insertUnpaid(db, name, found.unpaid)
    }
    return {
      missing: added.length - changed + payments.missing + attached.missing,
      surplus: deleted.length - changed + payments.surplus + attached.surplus,
      changed: changed + payments.changed + attached.changed,
      unpaid: wrong,
    }
  })
}

/** Payments as JSON rows to compare with the table; `known`: no others to unknown recipients are compared. */
export const expectedPayments = (scope: Scope, { payments }: Pick<SettledBlocks, 'payments'>) => ({
  rows: jsonRows(payments.map(toPayment)),
  known: scope === 'verified',
})

/** Number of (block, token) pairs for which two lists of counts differ. */
export function differingUnpaid(a: readonly UnpaidCount[], b: readonly UnpaidCount[]): number {
  const texts = (counts: readonly UnpaidCount[]) =>
    new Map(counts.map(({ blockNumber, token, count }) => [`${blockNumber} ${token}`, count]))
  const left = texts(a)
  const right = texts(b)
  return [...new Set([...left.keys(), ...right.keys()])].filter((key) => left.get(key) !== right.get(key)).length
}
