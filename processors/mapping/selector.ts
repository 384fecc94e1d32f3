import { functions } from '../../abi/generated/dollar-token.ts'
import { listedSelectors } from '../../abi/selectors.ts'
import type { ChainLog, ChainTransaction } from './block.ts'
import type { Authorization, Calldata, TransactionFields, Transfer } from './fields.ts'

/** The four entry points that move money by an authorization; the latter two take the signature as bytes. */
export const paymentSelectors: ReadonlySet<string> = new Set(Object.values(functions).map((entry) => entry.selector))

/** Hex digits of a selector, and of a word. */
export const selectorDigits = 8
export const wordDigits = 64
/**
 * Most places in a transaction's calldata that are tried for one authorization: 128 KiB of zeros hold a nonce of zeros
 * at 262,000 digits. Past this bound the traces decide.
 */
const maxPlaces = 256
/** All four entry points begin with the same words: from, to, value, validAfter, validBefore, nonce. */
const argument = { from: 0, to: 1, value: 2, nonce: 5 } as const

/**
 * Where the calldata names the entry point that executed an authorization: the four bytes in front of the arguments
 * that hold its nonce, at any byte offset, so that calls inside a batch or a forwarder are found too.
 *
 * Undefined when the calldata does not say, when it says two different things, because the same arguments can also stand
 * in a call that failed or that went to another contract, and when the nonce stands in too many places to look at.
 *
 * Source: EIP-3009 for the layout of the arguments.
 */
export function findCall<V>(
  fields: Pick<TransactionFields<V>, 'calldata' | 'calls'>,
  authorization: Pick<Authorization<V>, 'token' | 'authorizer' | 'nonce'>,
  transfer: Pick<Transfer<V>, 'to' | 'amount'>,
): number | undefined {
  const { calldata } = fields
  // The transaction itself calls the token: no other part of the calldata can have been the call.
  if (fields.calls(authorization.token) && isCall(calldata, 0, authorization, transfer)) return 0
  let found: number | undefined
  let places = 0
  for (const nonce of calldata.placesOf(authorization.nonce)) {
    if (++places > maxPlaces) return undefined
    const place = nonce - argument.nonce * wordDigits - selectorDigits
    if (place < 0 || place % 2 !== 0 || !isCall(calldata, place, authorization, transfer)) continue
    if (found === undefined) found = place
    else if (calldata.paymentSelectorAt(place) !== calldata.paymentSelectorAt(found)) return undefined
  }
  return found
}

/** Whether one of the four calls, with these very arguments, stands at this place. */
function isCall<V>(
  calldata: Calldata<V>,
  place: number,
  authorization: Pick<Authorization<V>, 'authorizer' | 'nonce'>,
  { to, amount }: Pick<Transfer<V>, 'to' | 'amount'>,
): boolean {
  return (
    isExecutionOf(calldata, place, authorization) &&
    calldata.hasAddress(place, argument.to, to) &&
    calldata.hasWord(place, argument.value, amount)
  )
}

/** Whether one of the four calls stands at this place, with the authorizer and the nonce of an authorization. */
export function isExecutionOf<V>(
  calldata: Calldata<V>,
  place: number,
  { authorizer, nonce }: Pick<Authorization<V>, 'authorizer' | 'nonce'>,
): boolean {
  return (
    calldata.paymentSelectorAt(place) !== undefined &&
    calldata.hasWord(place, argument.nonce, nonce) &&
    calldata.hasAddress(place, argument.from, authorizer)
  )
}

/**
 * receiveWithAuthorization pays nobody but its caller. So a recipient that can have called the token (it sent the
 * transaction, was called by it, or logged something in it) was most likely paid by receive, any other by transfer.
 */
export function inferSelector(
  { from, to }: ChainTransaction,
  logs: readonly ChainLog[],
  { to: recipient }: Transfer<string>,
): string {
  const canCall = recipient === from || recipient === to || logs.some((log) => log.address === recipient)
  return canCall ? listedSelectors.receiveWithAuthorization : listedSelectors.transferWithAuthorization
}
