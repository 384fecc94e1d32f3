/**
 * A transaction as the settlement rule reads it. `V` is a value as it stands in the source, a string or a place in a
 * text: the rule only asks whether two are the same.
 */
export interface TransactionFields<V> {
  /** What the listed tokens logged, in log order. */
  readonly authorizations: readonly Authorization<V>[]
  readonly transfers: readonly Transfer<V>[]
  readonly calldata: Calldata<V>
  /** Whether the transaction itself calls this contract. */
  calls(contract: V): boolean
  isSameAddress(one: V, other: V): boolean
  /** The number that a word is. */
  amountOf(word: V): bigint
}

/** A token's note that it executed an authorization. */
export interface Authorization<V> {
  readonly logIndex: number
  /** Position of the log in the source's list. */
  readonly position: number
  readonly token: V
  readonly authorizer: V
  readonly nonce: V
}

/** Money that moved in the same transaction. */
export interface Transfer<V> {
  readonly logIndex: number
  /** Position of the log in the source's list. */
  readonly position: number
  readonly token: V
  readonly from: V
  readonly to: V
  /** A word: base units. */
  readonly amount: V
}

/** A transaction's input, or that of a call. A place is the number of hex digits in front, without `0x`. */
export interface Calldata<V> {
  /** Where these 32 bytes stand, ascending, at any digit. */
  placesOf(word: V): Iterable<number>
  /** The entry point among those that pay; undefined: it is none of them. */
  paymentSelectorAt(place: number): string | undefined
  /**
   * Whether an argument of a call whose selector stands at a place is this address, or this word. Of an address only the
   * last twenty bytes count: older compilers ignore what stands before them.
   */
  hasAddress(place: number, argument: number, address: V): boolean
  hasWord(place: number, argument: number, word: V): boolean
}
