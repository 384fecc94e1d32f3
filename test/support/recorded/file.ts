import type { Log, Transaction } from '../../doubles/portal/blocks.ts'

/** `recorded`: published; `derived`: what the contract's code must have emitted along with it, as its reader says. */
export type Origin = 'recorded' | 'derived'
export type RecordedLog = Log & { readonly origin: Origin }
export type RecordedTransaction = Transaction & { readonly origin: Origin }

/** Part of a block as one reader found it. */
export interface BlockPart {
  readonly number: number
  /** Undefined where the block's hash was not published. */
  readonly hash?: string
  readonly transactions: readonly RecordedTransaction[]
  readonly logs: readonly RecordedLog[]
}

export type RecordedChain = 'base' | 'ethereum'

/** The items by a key, keys and items in the order they came. */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
