import type { ChainName } from '../../../chains.config.ts'

/**
 * What bodies tell of the installation that gives them: as JSON the first parameter of every statement that builds
 * profiles, or parts of them.
 */
export interface Installation {
  /** Address of each chain's identity registry. */
  readonly registries: Record<ChainName, string>
  /** Where the API is reached. */
  readonly baseUrl: string
}

/** Expression of the identity registry of the chain that an expression names. */
export const registryOf = (chain: string) => `$1::jsonb -> 'registries' ->> ${chain}`

/** Expression of the address at which the income of the agent `a` is told. */
export const incomeUrl = `($1::jsonb ->> 'baseUrl') || '/api/agent/' || a.fid || '/income'`
