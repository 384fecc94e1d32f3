import type { Token } from '../../config/chains.row.ts'

/** Decimals of a chain's dollar tokens, by address in lowercase hex. */
export type Tokens = ReadonlyMap<string, number>

export const tokensOf = ({ tokens }: { readonly tokens: readonly Token[] }): Tokens =>
  new Map(tokens.map(({ address, decimals }) => [address, decimals]))

/** An amount in the token's own units, where these are not millionths of a dollar. */
export interface ExactAmount {
  readonly baseUnits: bigint
  readonly decimals: number
}

/** Decimals of the amounts that rows are stored and summed with. */
const dollarDecimals = 6

/** Whether a token's base units are something else than millionths of a dollar. */
export const isScaled = (decimals: number | undefined): decimals is number =>
  decimals !== undefined && decimals !== dollarDecimals

/** Base units as whole millionths of a dollar, rounded towards zero; as they are when the token is no dollar. */
export function millionths(baseUnits: bigint, decimals: number | undefined): bigint {
  if (!isScaled(decimals)) return baseUnits
  const factor = 10n ** BigInt(Math.abs(decimals - dollarDecimals))
  return decimals > dollarDecimals ? baseUnits / factor : baseUnits * factor
}
