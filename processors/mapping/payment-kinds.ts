import { events as token } from '../../abi/generated/dollar-token.ts'
import { events as proxy } from '../../abi/generated/permit2-proxy.ts'
import type { ContractKind, PaymentContract } from '../../chains.row.ts'
import type { ChainLog, SettlingTransaction } from './block.ts'
import type { Transfer } from './fields.ts'
import { toTransfer } from './hex-fields.ts'
import { askedFor } from './proxy-calls.ts'

/** Payment that a contract's log proves. Addresses are lowercase hex, amounts base units of the token. */
interface ContractPayment {
  readonly payer: string
  readonly payee: string
  readonly token: string
  readonly gross: bigint
  readonly net: bigint
  /** Transfer that moved the money; undefined: it moves in another transaction. */
  readonly transfer: Transfer<string> | undefined
}

interface KindRule {
  /** Topics of the logs that prove a payment each. */
  readonly topic0: readonly string[]
  /**
   * The payment that a log proves; undefined: none, and the log is only counted. `before`: the transaction's logs since
   * the previous log of a payment contract, without transfers of settlements. `input`: the transaction's calldata.
   */
  read(log: ChainLog, before: readonly ChainLog[], input: string): ContractPayment | undefined
}

/**
 * Payments of x402's proxies for Permit2. Their logs have no arguments: the payment is the last transfer before the
 * log, of any token, unless the transaction's calldata names an earlier one, because a token that keeps a fee logs
 * it last.
 * The proxies refuse an amount of zero.
 *
 * Source: x402-foundation/x402, contracts/evm/src.
 */
const permit2 = (kind: ContractKind): KindRule => ({
  topic0: [proxy.Settled.topic, proxy.SettledWithPermit.topic],
  read(_, before, input) {
    const transfers = before.filter(isTransfer).map((log) => toTransfer(log, 0))
    const transfer = askedFor(kind, input, transfers) ?? transfers.at(-1)
    if (!transfer) return undefined
    const amount = BigInt(transfer.amount)
    return { payer: transfer.from, payee: transfer.to, token: transfer.token, gross: amount, net: amount, transfer }
  },
})

/** The table of kinds: a row is all that indexing a kind needs, besides its contracts. */
const kinds: Readonly<Record<ContractKind, KindRule>> = {
  permit2_exact: permit2('permit2_exact'),
  permit2_upto: permit2('permit2_upto'),
}

/** Whether a log is a Transfer of money, of any token: three topics and a word of data; an NFT's has four topics. */
export function isTransfer(log: ChainLog): boolean {
  return token.Transfer.is(log) && log.data.length === wordCharacters
}

/** Characters of a 32-byte word: `0x` and 64 digits. */
const wordCharacters = 66

/** Kinds of a chain's payment contracts, by lowercase address. */
export type PaymentContracts = ReadonlyMap<string, ContractKind>

export function paymentContractsOf(contracts: readonly PaymentContract[]): PaymentContracts {
  return new Map(contracts.map(({ address, kind }) => [address, kind]))
}

/** Filter for the logs that prove payments by some contracts; undefined: there are no contracts. */
export function paymentLogs(contracts: readonly Pick<PaymentContract, 'address' | 'kind'>[]) {
  if (contracts.length === 0) return undefined
  const topic0 = [...new Set(contracts.flatMap(({ kind }) => kinds[kind].topic0))]
  return { address: contracts.map(({ address }) => address), topic0 }
}

/** Kind of the payment that a log proves; undefined: it proves none. */
export function kindOfLog({ address, topics }: ChainLog, contracts: PaymentContracts): ContractKind | undefined {
  const kind = contracts.get(address)
  return kind && kinds[kind].topic0.includes(topics[0] ?? '') ? kind : undefined
}

/** A log of a payment contract with the payment it proves; `payment` undefined: it proves none. */
interface Proven {
  readonly log: ChainLog
  readonly kind: ContractKind
  readonly payment: ContractPayment | undefined
}

/** Payments that one transaction's logs prove, in log order. `taken`: log indexes of the transfers of settlements. */
export function provenPayments(
  { transaction, logs }: Pick<SettlingTransaction, 'transaction' | 'logs'>,
  contracts: PaymentContracts,
  taken: ReadonlySet<number>,
): Proven[] {
  const proven: Proven[] = []
  let before: ChainLog[] = []
  for (const log of logs) {
    const kind = kindOfLog(log, contracts)
    if (!kind) {
      if (!taken.has(log.logIndex)) before.push(log)
      continue
    }
    proven.push({ log, kind, payment: kinds[kind].read(log, before, transaction.input) })
    before = []
  }
  return proven
}
