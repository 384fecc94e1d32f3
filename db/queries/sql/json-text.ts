import { type ChainName, chainNames, chains } from '../../../chains.config.ts'

// Fragments of statements that build JSON. Arguments are SQL expressions written in this folder, never values.

/** ISO 8601, UTC, milliseconds; null stays null. */
export const isoTime = (time: string) => `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Lowercase hex of a bytea with 0x in front; null stays null. */
export const hex = (bytes: string) => `'0x' || encode(${bytes}, 'hex')`

/** Dollars of an amount in millionths: an exact number with all six decimals. A division would round large ones. */
export const dollars = (amount: string) => `(${amount} * 0.000001)`

/** A list that is `[]`, not null, when it has no element. */
export const list = (element: string, order: string) => `coalesce(json_agg(${element} order by ${order}), '[]')`

/** Texts between commas, for `in (…)` and `array[…]`; of this program's own tables, never values. */
export const textList = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(', ')

/** EIP-155 id of a chain by its name. */
export const chainId = (name: string) => byChain(name, (chain) => String(chains[chain].id))

/** Place of a chain in the chain table. */
export const chainPosition = (name: string) => byChain(name, (chain) => String(chainNames.indexOf(chain)))

/** Display label of a chain by its name. */
export const chainLabel = (name: string) => byChain(name, (chain) => `'${chains[chain].label}'`)

function byChain(name: string, value: (chain: ChainName) => string): string {
  return `case ${name} ${chainNames.map((chain) => `when '${chain}' then ${value(chain)}`).join(' ')} end`
}
