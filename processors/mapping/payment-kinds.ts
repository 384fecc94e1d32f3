import { events as token } from '../../abi/generated/dollar-token.ts'
import { events as proxy } from '../../abi/generated/permit2-proxy.ts'
import type { ContractKind, PaymentContract } from '../../chains.row.ts'
import type { ChainLog, SettlingTransaction } from './block.ts'
import type { Transfer } from './fields.ts'
import { askedFor } from './proxy-calls.ts'
import { toTransfer } from './text-fields.ts'

/** What a contract's log proves. Addresses are lowercase hex, amounts base units of the token. */
interface ContractPayment {
  readonly payer: string
  readonly payee: string
  readonly token: string
  readonly gross: bigint
  readonly net: bigint
  /** What moved the money; undefined: it moves in another transaction. */
  readonly transfer: Transfer<string> | undefined
}

interface KindRule {
  /** Topics of the logs that prove a payment each. */
  readonly topic0: readonly string[]
  /**
   * What a log proves; undefined: nothing, it is counted alone. `before`: the transaction's logs before it that moved no
   * other payment and are behind the last log of a contract of the table. `input`: the transaction's calldata.
   */
  read(log: ChainLog, before: readonly ChainLog[], input: string): ContractPayment | undefined
}

/**
 * Payments of x402's proxies for Permit2. Their logs have no arguments: the payment is the last transfer before, of any
 * token, unless the calldata of the transaction names an earlier one, because a token that keeps a part logs that behind.
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

/** Money that moved, of any token: three topics and a word, as every token logs it; an NFT's has four topics. */
export function isTransfer(log: ChainLog): boolean {
  return token.Transfer.is(log) && log.data.length === wordCharacters
}

/** `0x` and 64 digits. */
const wordCharacters = 66

/** The contracts of a chain by their address. */
export type PaymentContracts = ReadonlyMap<string, ContractKind>

export function paymentContractsOf(contracts: readonly PaymentContract[]): PaymentContracts {
  return new Map(contracts.map(({ address, kind }) => [address, kind]))
}

/** The logs that prove payments by some contracts; undefined: there are none. */
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

/** A payment, or a log that proves none. */
interface Proven {
  readonly log: ChainLog
  readonly kind: ContractKind
  readonly payment: ContractPayment | undefined
}

/** What one transaction's logs prove. `taken`: log indexes of transfers that are settlements. */
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
