import type { TransactionFields, Transfer } from './fields.ts'

/** A settlement or a contract's payment, whose money a forwarder may pass on. */
export interface Paid<V> {
  /** Log index of its row. */
  readonly logIndex: number
  readonly payer: V
  /** Transfer that moved its money; its `to` is the recipient. */
  readonly transfer: Transfer<V>
}

/** Money of a payment that its recipient, or an address further on, passed on in the same transaction. */
interface Forwarded<V> {
  readonly paid: Paid<V>
  readonly transfer: Transfer<V>
  /** Hops from the payment; 1: its recipient passed the money on. */
  readonly depth: number
}

/** Most hops from a payment's recipient; money that goes further is not followed. */
const maxDepth = 5
/** Most transfers that one payment is forwarded in: an address that would pass it on in more keeps the money. */
const mostForwarded = 256

/**
 * What was forwarded of the payments in one transaction. An address has forwarded what it received when its later transfers
 * of the token add up to at least half of that and not to more. More means pooled or own money, less something else:
 * then the address keeps the money, and none of these transfers is followed. A transfer back to the payer or to an address
 * that the money went through is change: it counts in the sum, and is neither listed nor followed.
 *
 * A transfer belongs to one payment at most. The last payment is followed first, so that a contract that forwards each
 * of several payments before it draws the next is recognised; one that draws all of them first has pooled them.
 *
 * `transfers`: those of the transaction, in log order; transfers of zero are ignored.
 */
export function followForwarded<V>(
  fields: Pick<TransactionFields<V>, 'isSameAddress' | 'addressAt' | 'amountOf'>,
  transfers: readonly Transfer<V>[],
  payments: readonly Paid<V>[],
): Forwarded<V>[] {
  // Most transactions pay once and move nothing else.
  if (transfers.length <= payments.length) return []
  const taken = new Set(payments.map(({ transfer }) => transfer.logIndex))
  const forwarded: Forwarded<V>[] = []
  const sent = new Map<string, Transfer<V>[]>()
  for (const transfer of transfers) {
    const sender = fields.addressAt(transfer.from)
    const others = sent.get(sender)
    if (others) others.push(transfer)
    else sent.set(sender, [transfer])
  }
  /** Transfers that the payment in hand may still have. */
  let room = mostForwarded
  const follow = (paid: Paid<V>, incoming: Transfer<V>, path: readonly V[], depth: number) => {
    const outgoing = (sent.get(fields.addressAt(incoming.to)) ?? []).filter(
      (transfer) =>
        transfer.logIndex > incoming.logIndex &&
        !taken.has(transfer.logIndex) &&
        fields.isSameAddress(transfer.token, incoming.token) &&
        fields.amountOf(transfer.amount) > 0n,
    )
    const got = fields.amountOf(incoming.amount)
    const passed = outgoing.reduce((sum, { amount }) => sum + fields.amountOf(amount), 0n)
    if (passed === 0n || passed > got || 2n * passed < got) return
    const through = [...path, incoming.to]
    const onward = outgoing.filter(({ to }) => !through.some((address) => fields.isSameAddress(address, to)))
    if (onward.length > room) return
    room -= onward.length
    for (const { logIndex } of outgoing) taken.add(logIndex)
    for (const transfer of onward) forwarded.push({ paid, transfer, depth })
    if (depth === maxDepth) return
    for (const transfer of onward.toReversed()) follow(paid, transfer, through, depth + 1)
  }
  for (const paid of payments.toSorted((a, b) => b.transfer.logIndex - a.transfer.logIndex)) {
    room = mostForwarded
    follow(paid, paid.transfer, [paid.payer], 1)
  }
  return forwarded.sort((a, b) => a.transfer.logIndex - b.transfer.logIndex)
}
