import { type Config as ApiConfig, readConfig as readApiConfig } from '../api/config.ts'
import type { ChainSettings } from '../config/chains.file.ts'
import type { ChainName } from '../config/chains.ts'
import { enrichmentPort, exportPort, processorPort } from '../config/settings.chains.ts'
import { type Config as EnrichmentConfig, readConfig as readEnrichmentConfig } from '../enrichment/config.ts'
import { describeMove, freePort } from '../ops/ports.ts'
import type { Task } from './supervisor.ts'

interface TaskGroups {
  readonly processors: Task[]
  readonly enrichment: Task[]
  readonly api: Task[]
  /** GraphQL over the same database, for data teams. */
  readonly graphql: Task[]
  /** A clause for each whose usual port of metrics others had taken. */
  readonly moved: string[]
}

/** Settings of all processes, as read from one environment. */
export interface Settings {
  readonly chains: readonly ChainSettings[]
  readonly api: ApiConfig
  readonly enrichment: EnrichmentConfig
}

/**
 * Reads an environment as the processes will; `chainsFile` is the parsed content of CHAINS_FILE. Throws with every bad
 * variable, so that nothing is started that could not run.
 */
export function readSettings(env: NodeJS.ProcessEnv, chainsFile: unknown): Settings {
  const problems: string[] = []
  const collect = <T>(read: () => T) => {
    try {
      return read()
    } catch (error) {
      problems.push((error as Error).message)
      return undefined
    }
  }
  const api = collect(() => readApiConfig(env, chainsFile)) // the chains' settings are among these
  const enrichment = collect(() => readEnrichmentConfig(env))
  if (!api || !enrichment) throw new Error(problems.join('\n'))
  return { chains: Object.values(api.chains), api, enrichment }
}

/** Tasks of the project for these chains; each serves metrics on its usual port, or on a free one. */
export async function planTasks(chains: readonly ChainName[], env: NodeJS.ProcessEnv): Promise<TaskGroups> {
  const processors = await Promise.all(
    chains.map(async (chain, index): Promise<Task> => {
      const METRICS_PORT = await metricsPort(processorPort(index))
      return {
        name: `processor-${chain}`,
        command: ['processors/main.ts', chain],
        env: { ...env, METRICS_PORT },
      }
    }),
  )
  const METRICS_PORT = await metricsPort(enrichmentPort)
  return {
    processors,
    enrichment: [{ name: 'enrichment', command: ['enrichment/main.ts'], env: { ...env, METRICS_PORT } }],
    api: [{ name: 'api', command: ['api/main.ts'], env: { ...env, METRICS_PORT: '' } }],
    graphql: [{ name: 'graphql', command: ['api/graphql/main.ts'], env: { ...env, METRICS_PORT: '' } }],
    moved: [
      ...processors.flatMap(({ name, env: its }, index) => moveOf(name, processorPort(index), its)),
      ...moveOf('enrichment', enrichmentPort, { METRICS_PORT }),
    ],
  }
}

/** The task that writes the files under `/exports/`, and again every hour what is new. */
export async function exportTask(env: NodeJS.ProcessEnv): Promise<Task> {
  const METRICS_PORT = await metricsPort(exportPort)
  return { name: 'export', command: ['export/main.ts', '--served', '--every', '60'], env: { ...env, METRICS_PORT } }
}

const moveOf = (name: string, usual: number, { METRICS_PORT }: NodeJS.ProcessEnv) =>
  describeMove(`/metrics of ${name}`, usual, Number(METRICS_PORT))

async function metricsPort(preferred: number): Promise<string> {
  return String(await freePort('127.0.0.1', preferred))
}

/** Variables that name sources or destinations of data: a local world sets its own or does without. */
const sources =
  /^(DATABASE|REDIS|HOST|PORT|GRAPHQL|BASE|SITE|PORTAL|GATEWAY|RPC|CHAINS|HUB|NEYNAR|BLOCKSCOUT|OLI|WEB3BIO|GITHUB|IPFS|ARWEAVE|EGRESS|METRICS|SETTLEMENT_OVERLOADS)(_|$)/

/** The environment without what could lead a local world to public networks or to somebody's real data. */
export function withoutSources(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !sources.test(name)))
}
