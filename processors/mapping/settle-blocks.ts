import { events } from '../../abi/generated/dollar-token.ts'
import type { ChainName } from '../../chains.config.ts'
import { type ChainBlock, type ChainLog, transactionsOf } from './block.ts'
import { type FindCalls, type SettlementRow, settle } from './settlements.ts'

/** Authorizations of one token in one block that moved no money. */
export interface UnpaidCount {
  readonly blockNumber: number
  readonly token: string
  readonly count: number
}

/** All settlements of some blocks, in log order, and what paid nothing. */
export async function settleBlocks(
  chain: ChainName,
  tokens: ReadonlySet<string>,
  blocks: readonly ChainBlock[],
  findCalls: FindCalls,
): Promise<{ settlements: SettlementRow[]; unpaid: UnpaidCount[] }> {
  const settlements: SettlementRow[] = []
  const unpaid: UnpaidCount[] = []
  for (const block of blocks) {
    const counts = new Map<string, number>()
    for (const settling of settlingTransactions(block, tokens)) {
      const settled = await settle(chain, tokens, settling, findCalls)
      settlements.push(...settled.settlements)
      for (const { token } of settled.unpaid) counts.set(token, (counts.get(token) ?? 0) + 1)
    }
    for (const [token, count] of counts) unpaid.push({ blockNumber: block.header.height, token, count })
  }
  return { settlements, unpaid }
}

/** The transactions of a block in which a token executed an authorization, each with all its logs. */
function settlingTransactions(block: ChainBlock, tokens: ReadonlySet<string>) {
  const settling = new Map<number, ChainLog[]>()
  for (const log of block.logs) {
    if (tokens.has(log.address) && events.AuthorizationUsed.is(log)) settling.set(log.transactionIndex, [])
  }
  if (settling.size === 0) return []
  for (const log of block.logs) settling.get(log.transactionIndex)?.push(log)
  const transactionOf = transactionsOf(block)
  return [...settling].map(([index, logs]) => ({ block: block.header, transaction: transactionOf(index), logs }))
}
