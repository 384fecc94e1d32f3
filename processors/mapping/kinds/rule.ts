import { events as token } from '../../../abi/generated/dollar-token.ts'
import type { PaymentKind } from '../../../config/payments.ts'
import type { ChainLog } from '../block.ts'
import type { Transfer } from '../fields.ts'
import type { Struct } from './structs.ts'

/** Payment that a contract's log proves. Addresses are lowercase hex, amounts base units of the token. */
export interface ContractPayment {
  readonly kind: PaymentKind
  readonly payer: string
  readonly payee: string
  readonly token: string
  /** Below zero: it went back to the payer. */
  readonly gross: bigint
  /** What the payee got, without fees. */
  readonly net: bigint
  /** Transfer that moved the money to the payee; undefined: none did in this transaction. */
  readonly transfer: Transfer<string> | undefined
  /** What the rows of a job, of a payment or of a channel have in common, in hex, unique on the chain; undefined: nothing. */
  readonly subject?: string | undefined
}

/** What a log is read with. */
interface LogContext {
  /** The transaction's logs since the previous log of a payment contract, without transfers of settlements. */
  readonly before: readonly ChainLog[]
  /** All logs of the transaction, in order. */
  readonly logs: readonly ChainLog[]
  /** The transaction's calldata. */
  readonly input: string
  /** Words of the struct that the log names by its hash, in hex digits; undefined: the calldata does not have it. */
  readonly subject: readonly string[] | undefined
  /** Contracts that draw money for an escrow from its payer alone, in lowercase hex. */
  readonly collectors: ReadonlySet<string>
}

/** How the logs of one kind of contracts are read. */
export interface KindRule {
  /** Topics of the logs that prove a payment each. */
  readonly topic0: readonly string[]
  /** The struct that the logs name by its hash, as their first indexed argument; absent: they name none. */
  readonly subject?: Struct
  /** The payment that a log proves; undefined: none, and the log is only counted. */
  read(log: ChainLog, context: LogContext): ContractPayment | undefined
}

/** Whether a log is a Transfer of money, of any token: three topics and a word of data; an NFT's has four topics. */
export function isTransfer(log: ChainLog): boolean {
  return token.Transfer.is(log) && log.data.length === wordCharacters
}

/** Characters of a 32-byte word: `0x` and 64 digits. */
const wordCharacters = 66
