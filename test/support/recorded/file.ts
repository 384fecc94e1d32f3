import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Log, Transaction } from '../../doubles/portal/blocks.ts'

/** What was published, or what the contract's code must have done beside it: see the reader that makes it. */
export type Origin = 'recorded' | 'derived'
export type RecordedLog = Log & { readonly origin: Origin }
export type RecordedTransaction = Transaction & { readonly origin: Origin }

/** Part of a block as one reader found it. */
export interface BlockPart {
  readonly number: number
  /** Undefined where only other things about the block were published. */
  readonly hash?: string
  readonly transactions: readonly RecordedTransaction[]
  readonly logs: readonly RecordedLog[]
}

export type RecordedChain = 'base' | 'ethereum'

/** Text of a recorded file; throws with where the recordings belong when they are not there. */
export function readRecording(name: string): string {
  const path = fileURLToPath(new URL(`../../../../shared/chain/${name}`, import.meta.url))
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`recorded chain data belongs next to the project, but ${path} cannot be read`, { cause: error })
  }
}

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
