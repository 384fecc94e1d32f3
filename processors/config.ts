import { type ChainSettings, readChains, settingsOf } from '../config/chains.file.ts'
import { type ChainName, chainNames, findChain } from '../config/chains.ts'
import { processorPort } from '../config/settings.chains.ts'
import { readSettings } from '../config/settings.check.ts'
import { Refusal, UsageError } from '../ops/cli.ts'
import type { Scope } from './scope/scope.ts'

export interface ProcessorConfig {
  readonly chain: ChainSettings
  /** Postgres connection string; undefined: the embedded server is used. */
  readonly databaseUrl: string | undefined
  /** API key of the Portal; undefined: requests carry none. */
  readonly portalKey: string | undefined
  /** Whose settlements are kept. */
  readonly scope: Scope
  /** Shortest pause between two audits of blocks that were read at the head. */
  readonly auditPauseMs: number
  readonly host: string
  readonly metricsPort: number
  readonly logLevel: string
}

/**
 * Configuration of one processor. `argument`: the chain's name; `file`: the parsed content of CHAINS_FILE.
 *
 * Throws a UsageError when the argument names no chain, otherwise one error that names every bad value at once.
 */
export function readConfig(argument: string | undefined, env: NodeJS.ProcessEnv, file: unknown): ProcessorConfig {
  const name = toChainName(argument)
  const { vars, others: chains } = readSettings('processor', env, () => readChains({ env, file }))
  const chain = settingsOf(chains, name)
  if (!chain.enabled) throw new Refusal(`${name} is switched off in ${whereOff(env)}`)
  return {
    chain,
    databaseUrl: vars.DATABASE_URL,
    portalKey: vars.PORTAL_API_KEY,
    // Recipients are known only where dollars are counted. Elsewhere all payments are kept, which are few.
    scope: chain.tokens.length === 0 ? 'all' : vars.SETTLEMENT_SCOPE,
    auditPauseMs: vars.AUDIT_PAUSE_SECONDS * 1_000,
    host: vars.HOST,
    metricsPort: vars.METRICS_PORT ?? processorPort(chainNames.indexOf(name)),
    logLevel: vars.LOG_LEVEL,
  }
}

const whereOff = ({ CHAINS }: NodeJS.ProcessEnv) =>
  CHAINS ? 'CHAINS, which does not name it, or in CHAINS_FILE' : 'CHAINS_FILE; remove "enabled": false to index it'

function toChainName(argument: string | undefined): ChainName {
  const name = argument === undefined ? undefined : findChain(argument)
  if (name) return name
  const problem = argument === undefined ? 'name the chain to index' : `${argument} is not a chain`
  throw new UsageError(`${problem}; chains are ${chainNames.join(', ')}`)
}
