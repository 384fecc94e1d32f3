import { keccak256 } from '@subsquid/evm-abi'
import { wordDigits } from '../selector.ts'

/** A struct of static members that a contract names by a hash of it. */
export interface Struct {
  /** Hex digits that each member has at most, in order: 40 for an address, 64 for whatever fills its word. */
  readonly digits: readonly number[]
  /** How a contract names it: as `0x` and hex digits, of its members, 64 hex digits each. `contract`: lowercase. */
  namesOf(chainId: number, contract: string): (words: readonly string[]) => string
}

/**
 * Most places of a transaction's calldata that are hashed, whether or not they hold the same. A block's gas does not pay for
 * so many claims, and a stranger's calldata can hold something of the form at each of 128 Ki bytes.
 */
const maxStructs = 2_048

/**
 * The structs in some calldata by their names, at any byte offset: a call may stand inside a batch or a wallet's call.
 * What has only the form of one is among them, under a name that no log has.
 */
export function structsIn(
  input: string,
  { digits, namesOf }: Struct,
  chainId: number,
  contract: string,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  const length = digits.length * wordDigits
  const zeros = digits.map((own) => '0'.repeat(wordDigits - own))
  const first = zeros[0] ?? ''
  const empty = '0'.repeat(wordDigits)
  const nameOf = namesOf(chainId, contract)
  let tried = 0
  for (let at = input.indexOf(first, 2); at >= 0 && at + length <= input.length; at = input.indexOf(first, at + 1)) {
    // Zeros have the form of every struct, and no contract takes the zero address as its first member.
    if (at % 2 !== 0 || input.startsWith(empty, at)) continue
    if (!zeros.every((padding, word) => input.startsWith(padding, at + word * wordDigits))) continue
    const words = digits.map((_, word) => input.slice(at + word * wordDigits, at + (word + 1) * wordDigits))
    found.set(nameOf(words), words)
    if (++tried === maxStructs) break
  }
  return found
}

/** Keccak-256 of hex digits, as hex digits. */
export function hashOf(digits: string): string {
  return keccak256(Buffer.from(digits, 'hex')).toString('hex')
}

/** Keccak-256 of a text, as hex digits. */
export function textHash(text: string): string {
  return keccak256(Buffer.from(text)).toString('hex')
}

/** A number, or an address in lowercase hex, as a word of 64 hex digits. */
export function wordOf(value: number | string): string {
  const digits = typeof value === 'number' ? value.toString(16) : value.slice(2)
  return digits.padStart(wordDigits, '0')
}
