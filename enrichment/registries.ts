import type { ChainName } from '../chains.config.ts'
import type { Chain } from '../chains.row.ts'

/** Identity registry and dollar tokens of each chain. */
export type ChainIdentities = Readonly<Record<ChainName, Pick<Chain, 'id' | 'registry' | 'tokens'>>>

/** CAIP-10 address of a chain's identity registry, lowercase. */
export function registryOf({ id, registry }: Pick<Chain, 'id' | 'registry'>): string {
  return `eip155:${id}:${registry.address}`
}
