import { hash } from 'node:crypto'
import { isFundedBefore } from '../../config/payments.ts'
import type { PaymentRow } from '../mapping/payments.ts'

/** Totals of some payments, whatever their order. */
export interface PaymentTally {
  readonly payments: number
  /** Sum, modulo 2^64, of the first eight bytes of the SHA-256 of each; `tallyPaymentsWithin` makes the same of rows. */
  readonly paymentChecksum: bigint
}

export const emptyPaymentTally = (): PaymentTally => ({ payments: 0, paymentChecksum: 0n })

export function addPaymentTally(sum: PaymentTally, more: PaymentTally): PaymentTally {
  return {
    payments: sum.payments + more.payments,
    paymentChecksum: BigInt.asUintN(64, sum.paymentChecksum + more.paymentChecksum),
  }
}

export function tallyPayments(payments: readonly PaymentRow[]): PaymentTally {
  let sum = 0n
  for (const payment of payments) sum += hash('sha256', textOf(payment), 'buffer').readBigUInt64BE(0)
  return { payments: payments.length, paymentChecksum: BigInt.asUintN(64, sum) }
}

function textOf(row: PaymentRow): string {
  const { blockNumber, logIndex, blockTimestamp, kind, token, payer, payee, gross, net, facilitator, txHash } = row
  const { forwarder, originLogIndex, depth, subject } = row
  const always = [blockNumber, logIndex, blockTimestamp, kind, token, payee, gross, net, facilitator, txHash]
  return [
    ...always,
    // Found in other rows of the table, not in its transaction.
    ...(kind !== 'forwarded' && isFundedBefore(kind) ? [] : [payer]),
    ...(forwarder === null ? [] : [forwarder, originLogIndex, depth]),
    ...(subject === null ? [] : [subject]),
  ].join(' ')
}
