import type { StoredSettlement } from '../../db/queries/chain/settlement-arrays.ts'
import { bytesOf } from '../mapping/block.ts'
import type { SettlementRow } from '../mapping/settlements.ts'

/** The row with the types of its columns, but for the chain's name. */
export function toRecord(row: SettlementRow): StoredSettlement {
  return {
    blockNumber: row.blockNumber,
    logIndex: row.logIndex,
    blockTimestamp: new Date(row.blockTimestamp),
    amount: row.amount,
    token: bytesOf(row.token),
    payer: bytesOf(row.payer),
    recipient: bytesOf(row.recipient),
    facilitator: bytesOf(row.facilitator),
    paymentNonce: bytesOf(row.paymentNonce),
    txHash: bytesOf(row.txHash),
    selector: bytesOf(row.selector),
    selectorSource: row.selectorSource,
  }
}
