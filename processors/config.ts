import { z } from 'zod'
import { type ChainName, chainNames, findChain } from '../chains.config.ts'
import { type ChainSettings, readChains } from '../chains.file.ts'
import { UsageError } from '../ops/cli.ts'
import { Refusal } from './refusal.ts'
import type { Scope } from './scope/scope.ts'

export interface ProcessorConfig {
  readonly chain: ChainSettings
  /** Undefined: the embedded server. */
  readonly databaseUrl: string | undefined
  /** Key of the Portal; undefined: asked without one. */
  readonly portalKey: string | undefined
  /** Whose settlements are kept. */
  readonly scope: Scope
  readonly host: string
  readonly metricsPort: number
  readonly logLevel: string
}

/** Metrics ports of the processors unless METRICS_PORT is set: this one and the following, in the table's order. */
const firstMetricsPort = 9101

const environment = z.object({
  DATABASE_URL: z.string().optional(),
  PORTAL_API_KEY: z.string().optional(),
  SETTLEMENT_SCOPE: z.enum(['all', 'verified'] satisfies Scope[]).default('all'),
  HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
})

/**
 * What this process is to do. `file` is the parsed content of CHAINS_FILE.
 *
 * Throws a UsageError when the argument names no chain, otherwise one error that names every bad value at once.
 */
export function readConfig(argument: string | undefined, env: NodeJS.ProcessEnv, file: unknown): ProcessorConfig {
  const name = toChainName(argument)
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const vars = environment.safeParse(given)
  if (!vars.success) {
    const problems = vars.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)
    throw new Refusal(`the settings are wrong: ${problems.join('; ')}`)
  }
  const chain = readChains({ env, file })[name]
  if (!chain.enabled) throw new Refusal(`${name} is switched off in CHAINS_FILE; remove "enabled": false to index it`)
  return {
    chain,
    databaseUrl: vars.data.DATABASE_URL,
    portalKey: vars.data.PORTAL_API_KEY,
    scope: vars.data.SETTLEMENT_SCOPE,
    host: vars.data.HOST,
    metricsPort: vars.data.METRICS_PORT ?? firstMetricsPort + chainNames.indexOf(name),
    logLevel: vars.data.LOG_LEVEL,
  }
}

function toChainName(argument: string | undefined): ChainName {
  const name = argument === undefined ? undefined : findChain(argument)
  if (name) return name
  const problem = argument === undefined ? 'name the chain to index' : `${argument} is not a chain`
  throw new UsageError(`${problem}; chains are ${chainNames.join(', ')}`)
}
