/**
 * A transaction as the settlement rule reads it. `V` is how the source represents a value, a string or a place in a
 * text: the rule itself only compares values.
 */
export interface TransactionFields<V> {
  /** AuthorizationUsed and (`transfers`) Transfer logs of the chain's tokens, in log order. */
  readonly authorizations: readonly Authorization<V>[]
  readonly transfers: readonly Transfer<V>[]
  readonly calldata: Calldata<V>
  /** Whether the transaction itself calls this contract. */
  calls(contract: V): boolean
  isSameAddress(one: V, other: V): boolean
  /** An address in lowercase hex. */
  addressAt(address: V): string
  /** Value of a 32-byte word. */
  amountOf(word: V): bigint
}

/** AuthorizationUsed, a token's log that it executed an authorization. */
export interface Authorization<V> {
  readonly logIndex: number
  /** Position of the log in the source's list. */
  readonly position: number
  readonly token: V
  readonly authorizer: V
  readonly nonce: V
}

/** Transfer, a token's log that money moved. */
export interface Transfer<V> {
  readonly logIndex: number
  /** Position of the log in the source's list. */
  readonly position: number
  readonly token: V
  readonly from: V
  readonly to: V
  /** A 32-byte word: base units of the token. */
  readonly amount: V
}

/** Input of a transaction or a call. A place is an offset in hex digits, not counting `0x`. */
export interface Calldata<V> {
  /** Places at which a 32-byte word occurs, ascending, also at odd digits. */
  placesOf(word: V): Iterable<number>
  /** Selector at a place, when it is one of the entry points that pay; else undefined. */
  paymentSelectorAt(place: number): string | undefined
  /**
   * Whether an argument of a call whose selector stands at a place is this address, or this word. Of an address only the
   * last twenty bytes count: older compilers ignore what stands before them.
   */
  hasAddress(place: number, argument: number, address: V): boolean
  hasWord(place: number, argument: number, word: V): boolean
}
