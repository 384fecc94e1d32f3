import type pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { readChainState } from '../../db/queries/chain/chain-state.ts'
import {
  addRecipients,
  endRecipients,
  holdScope,
  knownRecipients,
  knownRecipientsWithGaps,
  lockScope,
  readScope,
  type SettlementScope,
} from '../../db/queries/chain/scope.ts'
import { bytesOf } from '../mapping/block.ts'
import type { PaymentRow } from '../mapping/payments.ts'
import type { SettledBlocks } from '../mapping/settle-blocks.ts'

/**
 * The settlements and payments to known recipients. Call it in the transaction that writes them, at READ
 * COMMITTED: a recipient that becomes known while it runs does so after it, and these blocks are then loaded for it.
 */
export async function ofKnownRecipients(
  db: Queryable,
  { name, id }: ChainSettings,
  settled: SettledBlocks,
): Promise<SettledBlocks> {
  const asked = recipientsOf(settled)
  if (asked.length === 0) return settled
  await holdScope(db, id)
  const known = new Set((await knownRecipients(db, name, asked)).map(addressHexOf))
  return ofRecipients(settled, (recipient) => known.has(recipient))
}

/**
 * The settlements and payments whose recipient is wanted in their block. With a forwarded payment also what it is read with, whoever
 * was paid there: the payment that it is of and the hops before it tell whose income it was already. And what was put into
 * jobs, which does not say whom it will pay, and says who paid that.
 */
export function ofRecipients(
  { settlements, payments, unpaid }: SettledBlocks,
  isWanted: (recipient: string, blockNumber: number) => boolean,
): SettledBlocks {
  const isPaid = ({ payee, blockNumber }: PaymentRow) => isWanted(payee, blockNumber)
  const keyOf = ({ blockNumber, logIndex, originLogIndex }: PaymentRow) =>
    `${blockNumber} ${originLogIndex ?? logIndex}`
  const hopsOf = ({ depth }: PaymentRow) => depth ?? 0
  const mostHops = new Map<string, number>()
  for (const one of payments.filter(isPaid)) {
    mostHops.set(keyOf(one), Math.max(mostHops.get(keyOf(one)) ?? 0, hopsOf(one)))
  }
  return {
    settlements: settlements.filter(({ recipient, blockNumber }) => isWanted(recipient, blockNumber)),
    payments: payments.filter(
      (one) => isPaid(one) || one.kind === 'job_funding' || hopsOf(one) < (mostHops.get(keyOf(one)) ?? 0),
    ),
    unpaid,
  }
}

function recipientsOf({ settlements, payments }: SettledBlocks): Buffer[] {
  const recipients = [...settlements.map(({ recipient }) => recipient), ...payments.map(({ payee }) => payee)]
  return [...new Set(recipients)].map(bytesOf)
}

/**
 * The settlements and payments in final blocks to known recipients that should be stored by now: blocks that are still
 * to be loaded for a recipient are left out. Call it in a transaction, like `ofKnownRecipients`.
 */
export async function ofReadRecipients(
  db: Queryable,
  { name, id }: ChainSettings,
  settled: SettledBlocks,
): Promise<SettledBlocks> {
  const asked = recipientsOf(settled)
  if (asked.length === 0) return settled
  await holdScope(db, id)
  const known = new Map((await knownRecipientsWithGaps(db, name, asked)).map((one) => [addressHexOf(one.address), one]))
  return ofRecipients(settled, (recipient, blockNumber) => {
    const gap = known.get(recipient)
    return gap !== undefined && (blockNumber > gap.toBlock || blockNumber < gap.nextBlock)
  })
}

/**
 * Updates the known recipients of a chain to the verified addresses that accounts in the directory have now. The
 * processor keeps the settlements of new ones in every block it has not committed yet; earlier blocks are left to be
 * loaded.
 */
export async function updateRecipients(
  pool: pg.Pool,
  chain: ChainSettings,
): Promise<{ readonly added: number; readonly ended: number }> {
  const { name, id, tokens } = chain
  return inTransaction(pool, async (db) => {
    await lockScope(db, id)
    const { scope, indexedBlock, finalBlock } = await readPosition(db, name)
    const fromBlock = Math.max(scope.completeTo + 1, Math.min(...tokens.map((token) => token.fromBlock)))
    const added = await addRecipients(db, name, { fromBlock, toBlock: indexedBlock })
    const ended = await endRecipients(db, name, finalBlock)
    return { added, ended }
  })
}

interface Position {
  readonly scope: SettlementScope
  /** Whether the processor has written anything. */
  readonly isBegun: boolean
  /** Last indexed block; at least the one before `ownFrom`, below which the processor reads no settlements. */
  readonly indexedBlock: number
  /** Newest final block, with the same lower bound: rows up to it are not written again. */
  readonly finalBlock: number
}

export async function readPosition(db: Queryable, chain: string): Promise<Position> {
  const scope = await readScope(db, chain)
  if (!scope) throw new Error(`settlement_scope has no row of ${chain} any more`)
  const state = await readChainState(db, chain)
  return {
    scope,
    isBegun: state !== undefined,
    indexedBlock: Math.max(state?.indexedBlock ?? -1, scope.ownFrom - 1),
    finalBlock: Math.max(state?.finalizedBlock ?? -1, scope.ownFrom - 1),
  }
}

export function addressHexOf(address: Buffer): string {
  return `0x${address.toString('hex')}`
}
