import { addressOf } from '../block.ts'
import type { Transfer } from '../fields.ts'
import { selectorDigits, wordDigits } from '../selector.ts'

/** Most places in a transaction's calldata that are tried for one selector. */
const maxPlaces = 256
/** Hex digits in front of an address in its 32-byte word. */
const padding = '0'.repeat(24)
/** Words of the EIP-2612 permit, which come first in the arguments of `settleWithPermit`. */
const permitWords = 5

interface Form {
  /** Selectors of `settle` and of `settleWithPermit`, without `0x`. */
  readonly selectors: readonly [string, string]
  /** Positions of these arguments among the words of `settle`, counted from zero. */
  readonly token: number
  readonly owner: number
  readonly to: number
}

/** Source: x402-foundation/x402, contracts/evm/src: x402ExactPermit2Proxy and x402UptoPermit2Proxy. */
const forms = {
  permit2_exact: { selectors: ['13cd3b53', 'fa340378'], token: 0, owner: 4, to: 5 },
  permit2_upto: { selectors: ['ff11e7b4', '016c1748'], token: 0, owner: 5, to: 6 },
} as const satisfies Record<string, Form>

/** Kinds of proxies for Permit2. */
export type ProxyKind = keyof typeof forms

/**
 * The last of `transfers` that a call to a proxy asks for, compared by token, owner and recipient; undefined: the
 * calldata asks for none of them. A call is found at any byte offset, so inside a batch or a forwarder too. Amounts are
 * not compared: a token may keep a fee, and a price up to a limit is another word.
 */
export function askedFor(
  kind: ProxyKind,
  input: string,
  transfers: readonly Transfer<string>[],
): Transfer<string> | undefined {
  const calls = [...callsOf(forms[kind], input)]
  return transfers.findLast((transfer) =>
    calls.some(({ token, owner, to }) => token === transfer.token && owner === transfer.from && to === transfer.to),
  )
}

function* callsOf({ selectors, ...words }: Form, input: string) {
  for (const [permits, selector] of selectors.entries()) {
    let at = input.indexOf(selector, 2)
    for (let places = 0; at >= 0 && places < maxPlaces; places++) {
      const argument = (word: number) => {
        const from = at + selectorDigits + (word + permits * permitWords) * wordDigits
        const digits = input.slice(from, from + wordDigits)
        return digits.length === wordDigits && digits.startsWith(padding) ? addressOf(digits) : undefined
      }
      const call = { token: argument(words.token), owner: argument(words.owner), to: argument(words.to) }
      if (at % 2 === 0) yield call
      at = input.indexOf(selector, at + 1)
    }
  }
}
