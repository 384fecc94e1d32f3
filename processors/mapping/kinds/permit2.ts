import { events as proxy } from '../../../abi/generated/permit2-proxy.ts'
import { toTransfer } from '../hex-fields.ts'
import { askedFor, type ProxyKind } from './proxy-calls.ts'
import { isTransfer, type KindRule } from './rule.ts'

/**
 * Payments of x402's proxies for Permit2. Their logs have no arguments: the payment is the last transfer before the
 * log, of any token, unless the transaction's calldata names an earlier one, because a token that keeps a fee logs
 * it last.
 * The proxies refuse an amount of zero. What they paid is the payee's.
 *
 * Source: x402-foundation/x402, contracts/evm/src.
 */
export const permit2 = (kind: ProxyKind): KindRule => ({
  topic0: [proxy.Settled.topic, proxy.SettledWithPermit.topic],
  read(_, { before, input }) {
    const transfers = before.filter(isTransfer).map((log) => toTransfer(log, 0))
    const transfer = askedFor(kind, input, transfers) ?? transfers.at(-1)
    if (!transfer) return undefined
    const amount = BigInt(transfer.amount)
    return {
      kind,
      payer: transfer.from,
      payee: transfer.to,
      token: transfer.token,
      gross: amount,
      net: amount,
      transfer,
    }
  },
})
