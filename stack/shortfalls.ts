import { connect } from 'node:net'
import type { ChainSettings } from '../config/chains.file.ts'
import { coverageLimits } from '../config/limits.ts'
import type { Queryable } from '../db/pool.ts'
import { readCoverage } from '../db/queries/log/coverage.ts'
import type { Settings } from './tasks.ts'

/** Milliseconds for a connection: longer, and a host is no use to a processor either. */
const timeoutMs = 5_000

/**
 * The hosts that cannot be connected to, a line each, with what would come from them. A host that is reached may still
 * refuse what it is asked: the log of the process that asks says so.
 */
export async function unreached({ chains, api, enrichment }: Settings): Promise<string[]> {
  const uses = new Map<string, string[]>()
  const use = (url: string | null | undefined, what: string) => {
    if (!url) return
    const { protocol, hostname, port } = new URL(url)
    const host = `${hostname}:${port || defaultPorts[protocol] || 443}`
    uses.set(host, [...(uses.get(host) ?? []), what])
  }
  for (const { name, enabled, gateway, portal, rpc } of chains) {
    if (!enabled) continue
    use(gateway ?? portal, `history of ${name}`)
    use(rpc, `tip of ${name}`)
  }
  const { hub, otherHubs, neynar, blockscout, oli, web3bio, github } = enrichment
  for (const { url } of [hub, ...otherHubs]) use(url, 'accounts')
  use(neynar?.url, 'look-up of accounts')
  for (const one of [blockscout, oli, web3bio, github]) use(one?.url, 'labels and profiles')
  use(api.redisUrl, 'limits')
  const lines = await Promise.all(
    [...uses].map(async ([host, whats]) => {
      const problem = await problemOf(host)
      return problem === undefined ? [] : [`${host} (${problem}): ${[...new Set(whats)].join(', ')}`]
    }),
  )
  return lines.flat()
}

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'redis:': 6_379, 'rediss:': 6_379 }

/** Why no connection to a host comes about; undefined: one does. */
function problemOf(host: string): Promise<string | undefined> {
  const [, name = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(host) ?? []
  return new Promise((resolve) => {
    const socket = connect({ host: name, port: Number(port), timeout: timeoutMs })
    const end = (problem?: string) => {
      socket.destroy()
      resolve(problem)
    }
    socket.once('connect', () => end())
    socket.once('timeout', () => end(`no answer in ${timeoutMs / 1_000} s`))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  })
}

/** Names of the enabled chains of whose settlements before the registry some are not loaded. */
export async function withoutHistory(db: Queryable, chains: readonly ChainSettings[]): Promise<string[]> {
  const settings = Object.fromEntries(chains.map((chain) => [chain.name, chain]))
  const covered = await readCoverage(db, settings, coverageLimits.members)
  const lacking = covered.chains.filter(({ chain, gaps }) => {
    const { enabled, registry } = settings[chain] as ChainSettings
    return enabled && gaps.some(({ from_block }) => from_block < registry.fromBlock)
  })
  return lacking.map(({ chain }) => chain)
}
