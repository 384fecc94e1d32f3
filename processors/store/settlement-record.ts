import type { BuilderCode } from '../../db/model/builderCode.model.ts'
import type { Payment } from '../../db/model/payment.model.ts'
import type { StoredSettlement } from '../../db/queries/chain/settlement-arrays.ts'
import { bytesOf } from '../mapping/block.ts'
import type { PaymentRow } from '../mapping/payments.ts'
import type { SettlementRow } from '../mapping/settlements.ts'
import { jsonPages } from './json-rows.ts'

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

/** The columns of a payment's row; its builder codes have a table of their own. */
export function toPayment(row: PaymentRow): Payment {
  const { codes: _, ...columns } = row
  const { chain, blockNumber, logIndex, forwarder } = row
  return {
    ...columns,
    id: `${chain}-${blockNumber}-${logIndex}`,
    blockTimestamp: new Date(row.blockTimestamp),
    token: bytesOf(row.token),
    payer: bytesOf(row.payer),
    payee: bytesOf(row.payee),
    facilitator: bytesOf(row.facilitator),
    txHash: bytesOf(row.txHash),
    forwarder: forwarder === null ? null : bytesOf(forwarder),
  }
}

/** A settlement or payment, as far as its codes go. */
export type CodedRow = Pick<SettlementRow, 'chain' | 'blockNumber' | 'logIndex' | 'codes'>

/** Rows per JSON array: they are small, and there may be as many as settlements. */
const rowsPerPage = 5_000

/** The codes of some settlements and payments as JSON arrays of rows with the columns' names. */
export function codePages(rows: readonly CodedRow[]): string[] {
  return jsonPages(toBuilderCodes(rows), rowsPerPage)
}

/** The codes of some settlements and payments as rows of their table; those without any have none. */
export function toBuilderCodes(rows: readonly CodedRow[]): BuilderCode[] {
  return rows.flatMap(({ chain, blockNumber, logIndex, codes }) => {
    if (!codes) return []
    const { facilitator, app, services } = codes
    const id = `${chain}-${blockNumber}-${logIndex}`
    return { id, chain, blockNumber, logIndex, facilitator, app, services: [...services] }
  })
}
