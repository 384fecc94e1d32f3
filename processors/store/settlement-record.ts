import type { BuilderCode } from '../../db/model/builderCode.model.ts'
import type { ExactAmount } from '../../db/model/exactAmount.model.ts'
import type { Payment } from '../../db/model/payment.model.ts'
import type { Attached, AttachedTable } from '../../db/queries/chain/payments/attached.ts'
import type { StoredSettlement } from '../../db/queries/chain/settlement-arrays.ts'
import { bytesOf } from '../mapping/block.ts'
import type { PaymentRow } from '../mapping/payments.ts'
import type { SettlementRow } from '../mapping/settlements.ts'
import { jsonPages, jsonRows } from './json-rows.ts'

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

/** The columns of a payment's row; its builder codes and its exact amount have tables of their own. */
export function toPayment(row: PaymentRow): Payment {
  const { codes: _, exact: __, ...columns } = row
  const { chain, blockNumber, logIndex, forwarder, subject } = row
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
    subject: subject === null ? null : bytesOf(subject),
    funder: null,
    fractionSign: row.fractionSign ?? null,
  }
}

/** A settlement or payment, as far as it has more than its row: builder codes, or an exact amount. */
export type AttachedRow = Pick<SettlementRow, 'chain' | 'blockNumber' | 'logIndex' | 'codes' | 'exact'>

export const hasAttached = ({ codes, exact }: AttachedRow) => codes !== undefined || exact !== undefined

/** Rows per JSON array: they are small, and there may be as many as settlements. */
const rowsPerPage = 5_000

/** What some settlements and payments have besides their rows, as JSON arrays of rows with the columns' names, by table. */
export function attachedPages(
  rows: readonly AttachedRow[],
): { readonly table: AttachedTable; readonly rows: string }[] {
  const pages = (table: AttachedTable, found: readonly object[]) =>
    jsonPages(found, rowsPerPage).map((page) => ({ table, rows: page }))
  return [...pages('builder_code', toBuilderCodes(rows)), ...pages('exact_amount', toExactAmounts(rows))]
}

/** The same in one list for each table, to compare with what is stored. */
export function attachedLists(rows: readonly AttachedRow[]): Attached {
  return { builder_code: jsonRows(toBuilderCodes(rows)), exact_amount: jsonRows(toExactAmounts(rows)) }
}

/** The codes of some settlements and payments as rows of their table; those without any have none. */
export function toBuilderCodes(rows: readonly AttachedRow[]): BuilderCode[] {
  return rows.flatMap(({ chain, blockNumber, logIndex, codes }) => {
    if (!codes) return []
    const { facilitator, app, services } = codes
    const id = `${chain}-${blockNumber}-${logIndex}`
    return { id, chain, blockNumber, logIndex, facilitator, app, services: [...services] }
  })
}

/** The amounts of those whose tokens have other units than millionths of a dollar, as rows of their table. */
export function toExactAmounts(rows: readonly AttachedRow[]): ExactAmount[] {
  return rows.flatMap(({ chain, blockNumber, logIndex, exact }) =>
    exact ? [{ id: `${chain}-${blockNumber}-${logIndex}`, chain, blockNumber, logIndex, ...exact }] : [],
  )
}
