import type { ChainName } from '../../../config/chains.ts'

/**
 * What response bodies contain about this installation. Passed as JSON in $1 to every statement that builds profiles or
 * parts of them.
 */
export interface Installation {
  /** Address of each chain's identity registry. */
  readonly registries: Record<ChainName, string>
  /** BASE_URL, the public address of the API. */
  readonly baseUrl: string
}

/** SQL: address of the identity registry of a chain; `chain` is an expression of its name. */
export const registryOf = (chain: string) => `$1::jsonb -> 'registries' ->> ${chain}`

/** SQL: URL of the income of the agent `a`. */
export const incomeUrl = `($1::jsonb ->> 'baseUrl') || '/api/agent/' || a.fid || '/income'`
