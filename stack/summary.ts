import type { ChainSettings } from '../config/chains.file.ts'
import { chainOf } from '../config/chains.ts'
import type { Settings } from './tasks.ts'

/**
 * What an installation on public networks runs on, a line each: every chain with its sources, and which sources are off
 * and why. Of addresses only the host is shown: the rest may hold keys and passwords.
 */
export function summarize({ chains, api, enrichment }: Settings, env: NodeJS.ProcessEnv): string[] {
  const { hub, neynar, otherHubs } = enrichment
  const width = Math.max(...chains.map(({ name }) => name.length)) + 2
  const line = (name: string, text: string) => `${name.padEnd(width)}${text}`
  return [
    ...chains.map((chain) =>
      line(
        chain.name,
        chain.enabled ? sourcesOf(chain, env) : env.CHAINS ? 'off: CHAINS does not name it' : 'off in CHAINS_FILE',
      ),
    ),
    line('social', `hub ${hostOf(hub.url)}${env.HUB_URL ? '' : ', a public one: HUB_URL is not set'}`),
    line(
      'otherHubs',
      otherHubs.length > 0
        ? otherHubs.map(({ url }) => hostOf(url)).join(', ')
        : 'none: HUB_URL names no second operator',
    ),
    line(
      'look-up',
      neynar
        ? `Neynar ${hostOf(neynar.url)}`
        : 'off: NEYNAR_API_KEY is not set; accounts of new holders are found by reading the whole hub',
    ),
    line(
      'limits',
      api.redisUrl ? `Redis ${hostOf(api.redisUrl)}` : 'in the memory of one API process: REDIS_URL is not set',
    ),
  ]
}

function sourcesOf({ name, gateway, portal, dataset, rpc }: ChainSettings, env: NodeJS.ProcessEnv): string {
  const key = env.PORTAL_API_KEY ? ', with a key' : ''
  const archive = gateway
    ? `history from the archive ${hostOf(gateway)}`
    : portal && `history from the Portal ${hostOf(portal)} (${dataset}${key})`
  const node = rpc ? hostOf(rpc) : undefined
  if (!archive) return `history and tip from ${node}`
  return `${archive}; ${node ? `tip from ${node}` : `final blocks alone: ${chainOf(name).rpcVariable} is not set`}`
}

function hostOf(address: string): string {
  return new URL(address).host
}
