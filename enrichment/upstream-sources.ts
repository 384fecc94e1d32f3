import type pg from 'pg'
import { publicHosts } from '../config/hosts.ts'
import { codehost } from './codehost/source.ts'
import type { Config, UpstreamSettings } from './config.ts'
import { explorer, openLabels } from './explorer/source.ts'
import { identity } from './identity/source.ts'
import type { Source } from './schedule/source.ts'
import { createUpstream, type Upstream } from './upstream.ts'

interface UpstreamSources {
  readonly sources: readonly Source[]
  /** Which sources are on, and which are off and why. */
  readonly description: string
}

/** The configured ones of the sources whose hosts have fixed addresses. */
export function createUpstreamSources(config: Config, pool: pg.Pool, now: () => Date): UpstreamSources {
  const sources: Source[] = []
  const described: string[] = []
  const { userAgent } = config.agentHosts

  function add(
    name: 'blockscout' | 'oli' | 'web3bio' | 'github',
    settings: UpstreamSettings | undefined,
    keyHeaders: (key: string) => Record<string, string>,
    create: (options: { pool: pg.Pool; upstream: Upstream; now: () => Date }) => Source,
  ) {
    if (!settings) {
      described.push(`${name} off: ${publicHosts[name].keySetting} is not set`)
      return
    }
    const { url, key, requestsPerSecond, perDay } = settings
    const headers = { 'user-agent': userAgent, ...(key && keyHeaders(key)) }
    const upstream = createUpstream({ name, url, requestsPerSecond, perDay, headers, pool, now })
    sources.push(create({ pool, upstream, now }))
    described.push(`${name} on (${new URL(url).host}${key ? '' : ', without a key'})`)
  }

  // Keys go into headers, because addresses are logged, here and by proxies.
  add('blockscout', config.blockscout, (key) => ({ authorization: key }), explorer)
  add('oli', config.oli, (key) => ({ 'x-api-key': key }), openLabels)
  add('web3bio', config.web3bio, (key) => ({ 'x-api-key': `Bearer ${key}` }), identity)
  add('github', config.github, (token) => ({ authorization: `Bearer ${token}` }), codehost)
  return { sources, description: described.join('; ') }
}
