import type { PaymentContract } from '../../config/chains.row.ts'
import { type ChainName, chainOf } from '../../config/chains.ts'
import type { ContractKind } from '../../config/payments.ts'
import type { ChainLog, SettlingTransaction } from './block.ts'
import { channels } from './kinds/channels.ts'
import { escrows } from './kinds/escrows.ts'
import { jobs } from './kinds/jobs.ts'
import { permit2 } from './kinds/permit2.ts'
import type { ContractPayment, KindRule } from './kinds/rule.ts'
import { structsIn } from './kinds/structs.ts'

/** The rules of the kinds of contracts: with its row in `config/payments.ts`, all that indexing a kind needs. */
const kinds: Readonly<Record<ContractKind, KindRule>> = {
  permit2_exact: permit2('permit2_exact'),
  permit2_upto: permit2('permit2_upto'),
  batch_settlement: channels,
  auth_capture: escrows,
  jobs,
}

/** What is known of a payment contract: its kind, and of an escrow which collectors draw money from its payer alone. */
interface KnownContract {
  readonly kind: ContractKind
  readonly collectors: ReadonlySet<string>
}

/** A chain's payment contracts, by lowercase address. */
export type PaymentContracts = ReadonlyMap<string, KnownContract>

export function paymentContractsOf(contracts: readonly PaymentContract[]): PaymentContracts {
  return new Map(
    contracts.map(({ address, kind, collectors = [] }) => [address, { kind, collectors: new Set(collectors) }]),
  )
}

/** Filter for the logs that prove payments by some contracts; undefined: there are no contracts. */
export function paymentLogs(contracts: readonly Pick<PaymentContract, 'address' | 'kind'>[]) {
  if (contracts.length === 0) return undefined
  const topic0 = [...new Set(contracts.flatMap(({ kind }) => kinds[kind].topic0))]
  return { address: contracts.map(({ address }) => address), topic0 }
}

/** Kind of the contract whose log this is; undefined: the log does not prove a payment. */
export function kindOfLog({ address, topics }: ChainLog, contracts: PaymentContracts): ContractKind | undefined {
  const kind = contracts.get(address)?.kind
  return kind && kinds[kind].topic0.includes(topics[0] ?? '') ? kind : undefined
}

/** A log of a payment contract with the payment it proves; `payment` undefined: it proves none. */
interface Proven {
  readonly log: ChainLog
  readonly payment: ContractPayment | undefined
}

/** Payments that one transaction's logs prove, in log order. `taken`: log indexes of the transfers of settlements. */
export function provenPayments(
  chain: ChainName,
  { transaction, logs }: Pick<SettlingTransaction, 'transaction' | 'logs'>,
  contracts: PaymentContracts,
  taken: ReadonlySet<number>,
): Proven[] {
  const { input } = transaction
  const structs = new Map<string, ReadonlyMap<string, readonly string[]>>()
  const subjectOf = ({ subject }: KindRule, { address, topics }: ChainLog) => {
    if (!subject) return undefined
    const found = structs.get(address) ?? structsIn(input, subject, chainOf(chain).id, address)
    structs.set(address, found)
    return found.get(topics[1] ?? '')
  }
  const proven: Proven[] = []
  let before: ChainLog[] = []
  for (const log of logs) {
    const kind = kindOfLog(log, contracts)
    if (!kind) {
      if (!taken.has(log.logIndex)) before.push(log)
      continue
    }
    const rule = kinds[kind]
    const collectors = contracts.get(log.address)?.collectors ?? new Set()
    proven.push({ log, payment: rule.read(log, { before, logs, input, subject: subjectOf(rule, log), collectors }) })
    before = []
  }
  return proven
}
