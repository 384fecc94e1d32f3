import { functions } from '../../abi/generated/dollar-token.ts'
import { addressOf } from './block.ts'

/** The four entry points that move money by an authorization; the latter two take the signature as bytes. */
export const paymentSelectors: ReadonlySet<string> = new Set(Object.values(functions).map((entry) => entry.selector))

/** What a call must say to be the one that executed an authorization. Lowercase hex. */
export interface ExecutedAuthorization {
  readonly authorizer: string
  readonly nonce: string
  readonly recipient: string
  /** Base units. */
  readonly amount: bigint
}

/** Hex digits of a selector, and of a word. */
const selectorDigits = 8
const wordDigits = 64
/**
 * Places in a transaction's calldata that are looked at for one authorization. Calldata of 128 KiB of zeros holds a nonce
 * of zeros at 131,000 of them; past the bound it is for the traces to tell.
 */
const maxPlaces = 256
/** All four entry points begin with the same words: from, to, value, validAfter, validBefore, nonce. */
const nonceWord = 5

/**
 * The entry point a transaction's calldata names for an authorization: the four bytes in front of the arguments that
 * hold its nonce, at any byte offset, so that calls inside a batch or a forwarder are found too.
 *
 * Undefined when the calldata does not say, when it says two different things, because the same arguments can also stand
 * in a call that failed or that went to another contract, and when the nonce stands in too many places to look at.
 *
 * Source: EIP-3009 for the layout of the arguments.
 */
export function findSelector(
  transaction: { readonly to?: string | null; readonly input: string },
  token: string,
  executed: ExecutedAuthorization,
): string | undefined {
  const { input } = transaction
  // The transaction itself calls the token: no other part of the calldata can have been the call.
  if (transaction.to === token && names(input, 2, executed)) return selectorAt(input, 2)
  const found = new Set<string>()
  const nonce = executed.nonce.slice(2)
  let places = 0
  for (let at = input.indexOf(nonce, 2); at >= 0; at = input.indexOf(nonce, at + 1)) {
    if (++places > maxPlaces) return undefined
    const start = at - nonceWord * wordDigits - selectorDigits
    if (start < 2 || start % 2 !== 0) continue
    if (names(input, start, executed)) found.add(selectorAt(input, start))
  }
  return found.size === 1 ? [...found][0] : undefined
}

/** Whether one of the four calls, with these very arguments, stands at this digit of the calldata. */
function names(input: string, start: number, { authorizer, nonce, recipient, amount }: ExecutedAuthorization) {
  return (
    paymentSelectors.has(selectorAt(input, start)) &&
    usesNonce(input, start, authorizer, nonce) &&
    addressOf(wordAt(input, start, 1)) === recipient &&
    wordAt(input, start, 2) === amount.toString(16).padStart(wordDigits, '0')
  )
}

/**
 * Whether calldata from this digit on has the authorizer as its first word and the nonce as its sixth.
 * Only the last twenty bytes of an address count: older compilers ignore what stands before them.
 */
export function usesNonce(input: string, start: number, authorizer: string, nonce: string): boolean {
  return wordAt(input, start, nonceWord) === nonce.slice(2) && addressOf(wordAt(input, start, 0)) === authorizer
}

export function selectorAt(input: string, start: number): string {
  return `0x${input.slice(start, start + selectorDigits)}`
}

function wordAt(input: string, start: number, word: number): string {
  const from = start + selectorDigits + word * wordDigits
  return input.slice(from, from + wordDigits)
}
