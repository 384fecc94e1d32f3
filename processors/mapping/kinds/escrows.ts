import { events } from '../../../abi/generated/auth-capture.ts'
import { events as first } from '../../../abi/generated/auth-capture-first.ts'
import type { PaymentKind } from '../../../config/payments.ts'
import { addressOf, type ChainLog } from '../block.ts'
import { toTransfer } from '../hex-fields.ts'
import { wordDigits } from '../selector.ts'
import { type ContractPayment, isTransfer, type KindRule } from './rule.ts'
import { hashOf, type Struct, textHash, wordOf } from './structs.ts'

const infoType = textHash(
  'PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,' +
    'uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)',
)

/** Terms of a payment; their name is a hash of them, of the chain and of the contract. */
const terms: Struct = {
  // operator, payer, receiver, token, maxAmount, three expiries, minFeeBps, maxFeeBps, feeReceiver, salt
  digits: [40, 40, 40, 40, 30, 12, 12, 12, 4, 4, 40, 64],
  namesOf(chainId, contract) {
    const place = [wordOf(chainId), wordOf(contract)].join('')
    return (words) => `0x${hashOf(place + hashOf([infoType, ...words].join('')))}`
  },
}

/** Hundredths of a per cent in the whole. */
const wholeBps = 10_000n

/**
 * Escrows of commerce-payments, which x402's auth-capture uses. An operator holds what a payer authorizes, and captures it
 * for the receiver, at once or in parts; what is not captured is voided or reclaimed. A charge is both at once. Income is
 * what was captured, without the fee; a refund takes from it all that goes back to the payer, whoever funds it.
 *
 * Logs that hold money carry the terms of the payment; the others name them by their hash, and every call of the contract
 * is given them whole. They come before the transfers that they tell of.
 *
 * The terms are the operator's words: a collector of its choosing may draw the money from anybody. So the payer is the one of
 * the terms only behind a collector that is known to draw from nobody else; otherwise it is the operator, who called. Logs
 * of what was held or paid before do not name the collector: the table finds their payer in the row of the log that did.
 *
 * Source: base/commerce-payments, src/AuthCaptureEscrow.sol, 1.0 and 1.1.
 */
export const escrows: KindRule = {
  topic0: [...Object.values(events), ...Object.values(first)].map(({ topic }) => topic),
  subject: terms,
  read(log, { logs, subject: named, collectors }) {
    const { kind, amount, fee = 0n } = movedBy(log)
    const words = isTold(log) ? wordsOf(log, 0, terms.digits.length) : named
    if (!words || amount === 0n) return undefined
    const [operator = '', payer = '', payee = '', token = ''] = words.map(addressOf)
    const isPaid = kind === 'escrow_charge' || kind === 'escrow_capture'
    const payment = {
      kind,
      payer: isTold(log) && collectors.has(collectorOf(log)) ? payer : operator,
      payee,
      token,
      gross: kind === 'escrow_refund' ? -amount : amount,
      // A contract that an installation names may log anything: a fee never takes from other payments.
      net: isPaid ? (fee < amount ? amount - fee : 0n) : kind === 'escrow_refund' ? -amount : 0n,
    }
    const subject = `${operator}${log.topics[1]?.slice(2) ?? ''}`
    return { ...payment, transfer: isPaid ? transferOf(payment, log, logs) : undefined, subject }
  },
}

const isTold = (log: ChainLog) =>
  [events.PaymentAuthorized, events.PaymentCharged, first.PaymentCharged].some((event) => event.is(log))

/** Words of a log's data: the terms before all else, then the amount and the collector. */
const wordsOf = ({ data }: ChainLog, from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, at) =>
    data.slice(2 + (from + at) * wordDigits, 2 + (from + at + 1) * wordDigits),
  )

const collectorPlace = terms.digits.length + 1
const collectorOf = (log: ChainLog) => addressOf(wordsOf(log, collectorPlace, collectorPlace + 1)[0] ?? '')

function movedBy(log: ChainLog): { kind: PaymentKind; amount: bigint; fee?: bigint } {
  if (events.PaymentAuthorized.is(log))
    return { kind: 'escrow_authorization', amount: events.PaymentAuthorized.decode(log).amount }
  if (events.PaymentRefunded.is(log))
    return { kind: 'escrow_refund', amount: events.PaymentRefunded.decode(log).amount }
  if (events.PaymentVoided.is(log)) return { kind: 'escrow_return', amount: events.PaymentVoided.decode(log).amount }
  if (events.PaymentReclaimed.is(log))
    return { kind: 'escrow_return', amount: events.PaymentReclaimed.decode(log).amount }
  const isCharge = events.PaymentCharged.is(log) || first.PaymentCharged.is(log)
  const kind = isCharge ? 'escrow_charge' : 'escrow_capture'
  // 1.1 tells the fee, 1.0 what part it is.
  for (const event of [events.PaymentCharged, events.PaymentCaptured]) {
    if (!event.is(log)) continue
    const { amount, feeAmount } = event.decode(log)
    return { kind, amount, fee: feeAmount }
  }
  const { amount, feeBps } = (isCharge ? first.PaymentCharged : first.PaymentCaptured).decode(log)
  return { kind, amount, fee: (amount * BigInt(feeBps)) / wholeBps }
}

/** The transfer to the payee that follows its log; undefined: nothing moved, or otherwise. */
function transferOf(
  { payee, token, net }: Pick<ContractPayment, 'payee' | 'token' | 'net'>,
  { logIndex }: ChainLog,
  logs: readonly ChainLog[],
): ContractPayment['transfer'] {
  return logs
    .filter((log) => log.logIndex > logIndex && log.address === token && isTransfer(log))
    .map((log) => toTransfer(log, 0))
    .find(({ to, amount }) => to === payee && BigInt(amount) === net)
}
