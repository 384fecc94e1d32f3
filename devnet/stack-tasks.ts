import type { ChainName } from '../chains.config.ts'
import { freePort } from '../ops/ports.ts'
import type { Task } from './stack.ts'

export interface TaskGroups {
  readonly processors: Task[]
  readonly enrichment: Task[]
  readonly api: Task[]
}

/** The first of the ports where processors answer an operator; the job that joins comes after the last chain. */
const firstMetricsPort = 9101
const enrichmentMetricsPort = 9110

/** The project's processes for these chains; each has its metrics on its usual port, or on a free one. */
export async function planTasks(chains: readonly ChainName[], env: NodeJS.ProcessEnv): Promise<TaskGroups> {
  const processors = await Promise.all(
    chains.map(async (chain, index): Promise<Task> => {
      const METRICS_PORT = await metricsPort(firstMetricsPort + index)
      return {
        name: `processor-${chain}`,
        command: ['processors/main.ts', chain],
        env: { ...env, METRICS_PORT },
      }
    }),
  )
  const METRICS_PORT = await metricsPort(enrichmentMetricsPort)
  return {
    processors,
    enrichment: [{ name: 'enrichment', command: ['enrichment/main.ts'], env: { ...env, METRICS_PORT } }],
    api: [{ name: 'api', command: ['api/main.ts'], env }],
  }
}

async function metricsPort(preferred: number): Promise<string> {
  return String(await freePort('127.0.0.1', preferred))
}

/** Variables of this project that say where data comes from or goes to: a local world sets its own or does without. */
const sources =
  /^(DATABASE|REDIS|HOST|PORT|GRAPHQL|BASE|SITE|PORTAL|GATEWAY|RPC|CHAINS|HUB|NEYNAR|BLOCKSCOUT|OLI|WEB3BIO|GITHUB|IPFS|ARWEAVE|EGRESS|METRICS|SETTLEMENT)(_|$)/

/** The environment without what could lead a local world to public networks or to somebody's real data. */
export function withoutSources(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !sources.test(name)))
}
