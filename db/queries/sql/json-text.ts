// Fragments of statements that build JSON. Arguments are SQL expressions written in this folder, never values.

/** ISO 8601, UTC, milliseconds; null stays null. */
export const isoTime = (time: string) => `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Lowercase hex of a bytea with 0x in front; null stays null. */
export const hex = (bytes: string) => `'0x' || encode(${bytes}, 'hex')`

/** Dollars of an amount in millionths: an exact number with all six decimals. A division would round large ones. */
export const dollars = (amount: string) => `(${amount} * 0.000001)`

/** Exact dollars of a settlement or payment, whose own `amount` is in millionths; with more decimals where its token has. */
export const exactDollars = (row: string, amount: string) =>
  `case when tokens_are_scaled() then (exact_of(${row}.chain, ${row}.block_number, ${row}.log_index, ${amount})).dollars
        else ${dollars(amount)} end`

/** Its exact base units, as text. */
export const exactUnits = (row: string) =>
  `(case when tokens_are_scaled() then (exact_of(${row}.chain, ${row}.block_number, ${row}.log_index, ${row}.amount)).base_units
         else ${row}.amount end)::text`

/** A list that is `[]`, not null, when it has no element. */
export const list = (element: string, order: string) => `coalesce(json_agg(${element} order by ${order}), '[]')`

/** Texts between commas, for `in (…)` and `array[…]`; of this program's own tables, never values. */
export const textList = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(', ')

// What is known of chains stands in functions of the database that are made of the chain table when migrating, so that a
// statement is the same whichever chains there are.

/** EIP-155 id of a chain by its name. */
export const chainId = (name: string) => `chain_id_of(${name})`

/** Place of a chain in the chain table. */
export const chainPosition = (name: string) => `chain_position_of(${name})`

/** Display label of a chain by its name. */
export const chainLabel = (name: string) => `chain_label_of(${name})`

/**
 * Labels, and names, of the chains in an array of names, in the order of the chain table: what filters take, and what rows
 * of the answers say.
 */
export const labelsOf = (names: string) => listOfChains(chainLabel('name'), names)
export const namesOfChains = (names: string) => listOfChains('name', names)
const listOfChains = (element: string, names: string) =>
  `(select ${list(element, chainPosition('name'))} from unnest(${names}) as chain (name))`

/** A member of a JSON object: its name and the expression of its value. */
export type Member = readonly [name: string, expression: string]

/** Arguments of json_build_object for the members named in `fields`, in their own order; null: for all. */
export const members = (all: readonly Member[], fields: readonly string[] | null = null) =>
  all
    .filter(([name]) => fields === null || fields.includes(name))
    .map(([name, expression]) => `'${name}', ${expression}`)
    .join(',\n  ')
