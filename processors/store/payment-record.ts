import type { Payment } from '../../db/model/payment.model.ts'
import { bytesOf } from '../mapping/block.ts'
import type { PaymentRow } from '../mapping/payments.ts'

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
