import type { TransactionFields, Transfer } from './fields.ts'

/** A payment that was made: what a forwarder may pass on. */
export interface Paid<V> {
  /** Log index of its row. */
  readonly logIndex: number
  readonly payer: V
  /** The first that moved its money; its `to` is the payee of the row. */
  readonly transfer: Transfer<V>
}

/** Money of a payment that its payee, or who got it from there, passed on in the same transaction. */
interface Leg<V> {
  readonly paid: Paid<V>
  readonly transfer: Transfer<V>
  /** 1: the payee of the payment passed it on. */
  readonly depth: number
}

/** Hops from a payment's payee; what goes on behind them is not followed. */
const maxDepth = 5

/**
 * What was passed on of payments in one transaction. Whoever got money passed it on when later transfers of the token
 * from it come to at least half of what it got, and to no more. More was pooled or its own, less is something else: then
 * it keeps the money, and nothing is taken of these transfers. A transfer back to the payer or to somebody the money
 * went through is change: part of the sum, no leg, and not followed.
 *
 * A transfer belongs to one payment at most. The last payment takes first, so that a contract that passes each of several
 * payments on before it draws the next is seen; one that draws all of them first has pooled them.
 *
 * `transfers`: of the transaction, in log order; those of no money are passed over.
 */
export function followLegs<V>(
  fields: Pick<TransactionFields<V>, 'isSameAddress' | 'amountOf'>,
  transfers: readonly Transfer<V>[],
  payments: readonly Paid<V>[],
): Leg<V>[] {
  // Most transactions pay once and move nothing else.
  if (transfers.length <= payments.length) return []
  const taken = new Set(payments.map(({ transfer }) => transfer.logIndex))
  const legs: Leg<V>[] = []
  const follow = (paid: Paid<V>, incoming: Transfer<V>, path: readonly V[], depth: number) => {
    const outgoing = transfers.filter(
      (transfer) =>
        transfer.logIndex > incoming.logIndex &&
        !taken.has(transfer.logIndex) &&
        fields.isSameAddress(transfer.from, incoming.to) &&
        fields.isSameAddress(transfer.token, incoming.token) &&
        fields.amountOf(transfer.amount) > 0n,
    )
    const got = fields.amountOf(incoming.amount)
    const passed = outgoing.reduce((sum, { amount }) => sum + fields.amountOf(amount), 0n)
    if (passed === 0n || passed > got || 2n * passed < got) return
    for (const { logIndex } of outgoing) taken.add(logIndex)
    const through = [...path, incoming.to]
    const onward = outgoing.filter(({ to }) => !through.some((address) => fields.isSameAddress(address, to)))
    for (const transfer of onward) legs.push({ paid, transfer, depth })
    if (depth === maxDepth) return
    for (const transfer of onward.toReversed()) follow(paid, transfer, through, depth + 1)
  }
  for (const paid of payments.toSorted((a, b) => b.transfer.logIndex - a.transfer.logIndex)) {
    follow(paid, paid.transfer, [paid.payer], 1)
  }
  return legs.sort((a, b) => a.transfer.logIndex - b.transfer.logIndex)
}
