import { availableParallelism } from 'node:os'
import { type ChainSettings, readChains, settingsOf } from '../../config/chains.file.ts'
import { chainNames, findChain } from '../../config/chains.ts'
import { readSettings } from '../../config/settings.check.ts'
import type { SettingsOf } from '../../config/settings.ts'
import { maxRangeEnd } from '../../db/block-range.ts'
import { UsageError } from '../../ops/cli.ts'
import { rpcSource, type SourceAddress, sourceOf } from '../history/source-address.ts'
import type { Scope } from '../scope/scope.ts'

/** The command line as it was parsed; `--help` is not in it. */
interface Arguments {
  readonly chain?: string
  readonly from?: string
  readonly to?: string
  readonly workers?: string
  readonly verify?: boolean
  readonly abandon?: boolean
  readonly plan?: boolean
  readonly all?: boolean
  readonly portal?: string
  readonly gateway?: string
  readonly rpc?: string
}

export interface BackfillConfig {
  readonly chain: ChainSettings
  readonly fromBlock: number
  /** Last block, inclusive. */
  readonly toBlock: number
  /** Worker processes that load at a time. */
  readonly workers: number
  readonly source: SourceAddress
  /**
   * `load`: load the range; `verify`: compare loaded rows with their certificate; `abandon`: delete them; `plan`: print
   * what would be loaded.
   */
  readonly task: 'load' | 'verify' | 'abandon' | 'plan'
  /** Second source, which `verify` compares with as well; undefined: it compares with the certificate only. */
  readonly second: SourceAddress | undefined
  /** Postgres connection string; undefined: the embedded server is used. */
  readonly databaseUrl: string | undefined
  /** Whose settlements this installation keeps. */
  readonly scope: Scope
}

const maxWorkers = 256

/** Configuration of a command for one chain. Throws a UsageError that names the first bad argument. */
export function readConfig(given: Arguments, env: NodeJS.ProcessEnv, file: unknown): BackfillConfig {
  if (given.chain === undefined) throw new UsageError('--chain is missing (see --help)')
  const name = findChain(given.chain)
  if (!name) throw new UsageError(`--chain ${given.chain} is not a chain; chains are ${chainNames.join(', ')}`)
  const { portal, gateway, rpc, verify, abandon, plan, from, to } = given
  const isWhole = plan && from === undefined && to === undefined
  const fromBlock = isWhole ? 0 : integer('--from', from, 0, maxRangeEnd)
  const toBlock = isWhole ? maxRangeEnd : integer('--to', to, fromBlock, maxRangeEnd)
  const { vars, others: chains } = readSettings('backfill', env, () => readChains({ env, file }))
  const chain = settingsOf(chains, name)
  if (chain.tokens.length === 0) throw new UsageError(`--chain ${name} has no settlements, only registrations`)
  const seconds = [portal, gateway, rpc].filter((address) => address !== undefined).length
  if ([verify, abandon, plan].filter(Boolean).length > 1) {
    throw new UsageError('--verify, --abandon and --plan cannot be combined')
  }
  if (!verify && seconds > 0) throw new UsageError('--portal, --gateway and --rpc are second sources for --verify')
  if (seconds > 1) throw new UsageError('--portal, --gateway and --rpc cannot be combined')
  const config = configOf(chain, vars, {
    workers: workersOf(given),
    ...(isWhole ? wholeOf(chain) : { fromBlock, toBlock }),
  })
  return {
    ...config,
    task: verify ? 'verify' : abandon ? 'abandon' : plan ? 'plan' : 'load',
    second: secondSource(chain, given, vars.PORTAL_API_KEY),
  }
}

/**
 * Configurations that load, for every enabled chain with tokens, the history before its processor begins. Throws a
 * UsageError for arguments that belong to one chain.
 */
export function readAllConfigs(given: Arguments, env: NodeJS.ProcessEnv, file: unknown): BackfillConfig[] {
  for (const name of ['chain', 'from', 'to', 'verify', 'abandon', 'portal', 'gateway', 'rpc'] as const) {
    if (given[name] !== undefined) throw new UsageError(`--${name} is for one chain and cannot be combined with --all`)
  }
  const workers = workersOf(given)
  const { vars, others: chains } = readSettings('backfill', env, () => readChains({ env, file }))
  return chainNames
    .map((name) => settingsOf(chains, name))
    .filter(({ enabled, tokens }) => enabled && tokens.length > 0)
    .map((chain) => configOf(chain, vars, { workers, ...wholeOf(chain) }))
    .filter(({ fromBlock, toBlock }) => fromBlock <= toBlock)
}

/** From the first block of any token to the last one before the processor's own range, where its registries begin. */
function wholeOf({ tokens, registry, reputation }: ChainSettings) {
  return {
    fromBlock: Math.min(...tokens.map((token) => token.fromBlock)),
    toBlock: Math.min(registry.fromBlock, reputation.fromBlock) - 1,
  }
}

function configOf(
  chain: ChainSettings,
  vars: SettingsOf<'backfill'>,
  range: Pick<BackfillConfig, 'fromBlock' | 'toBlock' | 'workers'>,
): BackfillConfig {
  return {
    chain,
    ...range,
    source: sourceOf(chain, vars.PORTAL_API_KEY),
    task: 'load',
    second: undefined,
    databaseUrl: vars.DATABASE_URL,
    scope: vars.SETTLEMENT_SCOPE,
  }
}

const workersOf = ({ workers }: Arguments) =>
  workers === undefined ? availableParallelism() : integer('--workers', workers, 1, maxWorkers)

function secondSource(
  chain: ChainSettings,
  { portal, gateway, rpc }: Arguments,
  key: string | undefined,
): SourceAddress | undefined {
  if (gateway) return { kind: 'archive', url: httpAddress('--gateway', gateway) }
  if (portal) return { kind: 'portal', url: httpAddress('--portal', portal), dataset: chain.dataset, key }
  if (rpc) return rpcSource(chain, httpAddress('--rpc', rpc))
  return undefined
}

function httpAddress(option: string, text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`${option} must be an http(s) address`)
  return text
}

function integer(option: string, text: string | undefined, least: number, most: number): number {
  if (text === undefined) throw new UsageError(`${option} is missing (see --help)`)
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  throw new UsageError(`${option} ${text} must be a whole number from ${least} to ${most}`)
}
