import { availableParallelism } from 'node:os'
import { chainNames, findChain } from '../../chains.config.ts'
import { type ChainSettings, readChains, settingsOf } from '../../chains.file.ts'
import { UsageError } from '../../ops/cli.ts'
import { readSettings } from '../../settings.read.ts'
import { rpcSource, sourceOf } from '../history/sources.ts'
import type { Scope } from '../scope/scope.ts'
import type { SourceAddress } from './job.ts'

/** The command line as it was parsed; `--help` is not in it. */
interface Arguments {
  readonly chain?: string
  readonly from?: string
  readonly to?: string
  readonly workers?: string
  readonly verify?: boolean
  readonly abandon?: boolean
  readonly legs?: boolean
  readonly portal?: string
  readonly gateway?: string
  readonly rpc?: string
}

export interface BackfillConfig {
  readonly chain: ChainSettings
  readonly tokens: readonly string[]
  readonly fromBlock: number
  /** Inclusive. */
  readonly toBlock: number
  /** Processes at a time. */
  readonly workers: number
  readonly source: SourceAddress
  /** `verify`: only compare what is loaded; `abandon`: take it out again; `legs`: read for payments, whatever the range. */
  readonly task: 'load' | 'verify' | 'abandon' | 'legs'
  /** Another source to compare with. */
  readonly second: SourceAddress | undefined
  /** Undefined: the embedded server. */
  readonly databaseUrl: string | undefined
  /** Whose settlements this installation keeps. */
  readonly scope: Scope
}

const maxWorkers = 256
const maxBlock = 2_147_483_646

/** What the command is to do. Throws a UsageError that names the first bad argument. */
export function readConfig(given: Arguments, env: NodeJS.ProcessEnv, file: unknown): BackfillConfig {
  if (given.chain === undefined) throw new UsageError('--chain is missing (--help shows what is there)')
  const name = findChain(given.chain)
  if (!name) throw new UsageError(`--chain ${given.chain} is not a chain; chains are ${chainNames.join(', ')}`)
  const { legs, from, to } = given
  if (legs && (from ?? to ?? given.workers) !== undefined) {
    throw new UsageError('--legs goes through all blocks that are left: it takes no --from, --to and --workers')
  }
  const fromBlock = legs ? 0 : integer('--from', from, 0, maxBlock)
  const toBlock = legs ? maxBlock : integer('--to', to, fromBlock, maxBlock)
  const workers =
    given.workers === undefined ? availableParallelism() : integer('--workers', given.workers, 1, maxWorkers)
  const { vars, others: chains } = readSettings('backfill', env, () => readChains({ env, file }))
  const chain = settingsOf(chains, name)
  if (chain.tokens.length === 0) throw new UsageError(`--chain ${name} has no settlements, only registrations`)
  const key = vars.PORTAL_API_KEY
  const { portal, gateway, rpc, verify, abandon } = given
  const seconds = [portal, gateway, rpc].filter((address) => address !== undefined).length
  if ([verify, abandon, legs].filter(Boolean).length > 1) {
    throw new UsageError('--verify, --abandon and --legs exclude each other')
  }
  if (!verify && seconds > 0) throw new UsageError('--portal, --gateway and --rpc are second sources for --verify')
  if (seconds > 1) throw new UsageError('--portal, --gateway and --rpc exclude each other')
  return {
    chain,
    tokens: chain.tokens.map(({ address }) => address),
    fromBlock,
    toBlock,
    workers,
    source: sourceOf(chain, key),
    task: verify ? 'verify' : abandon ? 'abandon' : legs ? 'legs' : 'load',
    second: secondSource(chain, given, key),
    databaseUrl: vars.DATABASE_URL,
    scope: vars.SETTLEMENT_SCOPE,
  }
}

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
  if (text === undefined) throw new UsageError(`${option} is missing (--help shows what is there)`)
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  throw new UsageError(`${option} ${text} must be a whole number from ${least} to ${most}`)
}
