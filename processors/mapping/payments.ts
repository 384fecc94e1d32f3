import type { ChainName } from '../../config/chains.ts'
import type { PaymentKind } from '../../config/payments.ts'
import type { SettlingTransaction } from './block.ts'
import { type BuilderCodes, builderCodesOf } from './builder-codes.ts'
import type { Transfer } from './fields.ts'
import { followForwarded, type Paid } from './forwarded-payments.ts'
import { TextFields, toTransfer } from './hex-fields.ts'
import { isTransfer } from './kinds/rule.ts'
import { type PaymentContracts, provenPayments } from './payment-kinds.ts'
import { type ExactAmount, isScaled, millionths, type Tokens } from './scale.ts'

/** Money that an address received other than as a settlement's recipient. Addresses and hashes are lowercase hex. */
export interface PaymentRow {
  readonly chain: ChainName
  readonly blockNumber: number
  /** Index of a forwarded payment's Transfer, or of the payment contract's log. */
  readonly logIndex: number
  /** Milliseconds since 1970. */
  readonly blockTimestamp: number
  readonly kind: 'forwarded' | PaymentKind
  readonly token: string
  readonly payer: string
  readonly payee: string
  /** Base units; of a dollar token whole millionths of a dollar, whatever its units are. */
  readonly gross: bigint
  readonly net: bigint
  /** Where `net` is 0 though something moved, less than a millionth of a dollar: 1, it came to the payee; -1, it went back. */
  readonly fractionSign?: 1 | -1 | undefined
  readonly facilitator: string
  readonly txHash: string
  /** Set for forwarded payments, else null: who passed it on, the log index of the original payment, and hops from it. */
  readonly forwarder: string | null
  readonly originLogIndex: number | null
  readonly depth: number | null
  /** What the rows of a job, of a payment or of a channel have in common, in hex; null: nothing, or a forwarded payment. */
  readonly subject: string | null
  /** Builder codes of the transaction; undefined: it has none. */
  readonly codes?: BuilderCodes | undefined
  /** Of what the payee got, or gave up: of `net`, or of `gross` where that is 0. Undefined: `net` is exact. */
  readonly exact?: ExactAmount | undefined
}

/** What all rows of one transaction share. */
type Place = Pick<PaymentRow, 'chain' | 'blockNumber' | 'blockTimestamp' | 'facilitator' | 'txHash' | 'codes'>

/**
 * What one transaction paid besides its settlements: payments that payment contracts log, and forwarded payments of these
 * and of the settlements. `settled`: the settlements. `unpaid`: logs of payment contracts that prove no payment.
 *
 * `tokens`: money is followed only in these, because a stranger's token can log any number of transfers for little gas;
 * absent: in every token.
 */
export function paymentsOf(
  chain: ChainName,
  settling: SettlingTransaction,
  settled: readonly Paid<string>[],
  contracts: PaymentContracts,
  tokens?: Tokens,
): { payments: PaymentRow[]; unpaid: { logIndex: number; token: string }[] } {
  const { block, transaction, logs } = settling
  const place: Place = {
    chain,
    blockNumber: block.height,
    blockTimestamp: block.timestamp,
    facilitator: transaction.from,
    txHash: transaction.hash,
    codes: builderCodesOf(transaction.input),
  }
  const isFollowed = (token: string) => tokens?.has(token) ?? true
  const payments: PaymentRow[] = []
  const paid = [...settled]
  const unpaid: { logIndex: number; token: string }[] = []
  const taken = new Set(settled.map(({ transfer }) => transfer.logIndex))
  for (const { log, payment } of provenPayments(chain, settling, contracts, taken)) {
    const { logIndex } = log
    if (!payment) {
      unpaid.push({ logIndex, token: log.address })
      continue
    }
    const { transfer, subject = null, ...row } = payment
    const scaled = inMillionths(row, tokens)
    payments.push({
      ...place,
      logIndex,
      ...row,
      ...scaled,
      subject,
      forwarder: null,
      originLogIndex: null,
      depth: null,
    })
    if (transfer && isFollowed(transfer.token)) paid.push({ logIndex, payer: payment.payer, transfer })
  }
  // What a payment contract pays out of what it holds is told by its logs.
  const isPassed = ({ from }: Transfer<string>) => !contracts.has(from)
  const transfers =
    paid.length === 0
      ? []
      : logs
          .filter((log) => isTransfer(log) && isFollowed(log.address))
          .map(toTransfer)
          .filter(isPassed)
  for (const { paid: origin, transfer, depth } of followForwarded(words, transfers, paid)) {
    const { logIndex: originLogIndex, payer } = origin
    const amount = words.amountOf(transfer.amount)
    const row = toForwardedRow(place, { ...transfer, amount, depth, originLogIndex, payer })
    payments.push({ ...row, ...inMillionths(row, tokens) })
  }
  return { payments: payments.sort((a, b) => a.logIndex - b.logIndex), unpaid }
}

/** What changes in a payment when the base units of its token are no millionths of a dollar. */
function inMillionths({ token, gross, net }: Pick<PaymentRow, 'token' | 'gross' | 'net'>, tokens: Tokens | undefined) {
  const decimals = tokens?.get(token)
  if (!isScaled(decimals)) return {}
  const exact: ExactAmount = { baseUnits: net === 0n ? gross : net, decimals }
  const whole = millionths(net, decimals)
  const fractionSign = net === 0n || whole !== 0n ? undefined : net > 0n ? 1 : -1
  return { gross: millionths(gross, decimals), net: whole, fractionSign, exact } as const
}

const words = new TextFields({ input: '0x' }, [], new Map())

/** A forwarded payment with its values in lowercase hex. */
interface ForwardedValues {
  readonly logIndex: number
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly depth: number
  readonly originLogIndex: number
  readonly payer: string
}

export function toForwardedRow(place: Place, values: ForwardedValues): PaymentRow {
  const { logIndex, token, from, to, amount, depth, originLogIndex, payer } = values
  return {
    ...place,
    logIndex,
    kind: 'forwarded',
    token,
    payer,
    payee: to,
    gross: amount,
    net: amount,
    forwarder: from,
    originLogIndex,
    depth,
    subject: null,
  }
}
