import { events } from '../../abi/generated/dollar-token.ts'
import type { ChainName } from '../../config/chains.ts'
import { Refusal } from '../../ops/cli.ts'
import { type ChainBlock, type ChainLog, transactionsOf } from './block.ts'
import { kindOfLog, type PaymentContracts } from './payment-kinds.ts'
import type { PaymentRow } from './payments.ts'
import type { Tokens } from './scale.ts'
import { type FindCalls, type SettlementRow, settle } from './settlements.ts'

/** Authorizations of one token in one block that moved no money, or logs of one payment contract that prove none. */
export interface UnpaidCount {
  readonly blockNumber: number
  readonly token: string
  readonly count: number
}

/** All that was paid in some blocks. */
export interface SettledBlocks {
  readonly settlements: readonly SettlementRow[]
  readonly payments: readonly PaymentRow[]
  readonly unpaid: readonly UnpaidCount[]
}

/**
 * All settlements and payments of some blocks, each in log order, and what paid nothing. Throws a Refusal when the logs
 * of a block are not numbered in the order of its transactions: an order that is wrong hides what was paid.
 */
export async function settleBlocks(
  chain: ChainName,
  tokens: Tokens,
  blocks: readonly ChainBlock[],
  findCalls: FindCalls,
  contracts: PaymentContracts,
): Promise<SettledBlocks> {
  for (const block of blocks) checkNumbers(chain, block)
  // All at once, so that their traces are looked up together.
  const settled = await Promise.all(
    blocks
      .flatMap((block) => settlingTransactions(block, tokens, contracts))
      .map(async (settling) => ({
        height: settling.block.height,
        ...(await settle(chain, tokens, settling, findCalls, contracts)),
      })),
  )
  const counts = new Map<string, UnpaidCount>()
  for (const { height: blockNumber, unpaid } of settled) {
    for (const { token } of unpaid) {
      const key = `${blockNumber} ${token}`
      counts.set(key, { blockNumber, token, count: (counts.get(key)?.count ?? 0) + 1 })
    }
  }
  return {
    settlements: settled.flatMap(({ settlements }) => settlements),
    payments: settled.flatMap(({ payments }) => payments),
    unpaid: [...counts.values()],
  }
}

function checkNumbers(chain: ChainName, { header, logs }: ChainBlock) {
  let before: ChainLog | undefined
  for (const log of logs) {
    if (before && (log.logIndex <= before.logIndex || log.transactionIndex < before.transactionIndex)) {
      throw new Refusal(
        `${chain}: the source sent block ${header.height} with log ${log.logIndex} of transaction ` +
          `${log.transactionIndex} behind log ${before.logIndex} of transaction ${before.transactionIndex}`,
      )
    }
    before = log
  }
}

/** The transactions of a block in which a token executed an authorization or a contract paid, each with all its logs. */
function settlingTransactions(block: ChainBlock, tokens: Tokens, contracts: PaymentContracts) {
  const settling = new Map<number, ChainLog[]>()
  for (const log of block.logs) {
    const isUsed = tokens.has(log.address) && events.AuthorizationUsed.is(log)
    if (isUsed || kindOfLog(log, contracts)) settling.set(log.transactionIndex, [])
  }
  if (settling.size === 0) return []
  for (const log of block.logs) settling.get(log.transactionIndex)?.push(log)
  const transactionOf = transactionsOf(block)
  return [...settling].map(([index, logs]) => ({ block: block.header, transaction: transactionOf(index), logs }))
}
