import { type DefaultChain, defaultChainNames } from '../config/chains.ts'
import { type DevChain, startDevChain } from './chain/chain.ts'
import { compileContracts } from './contracts/compile.ts'
import { type AgentHosts, startAgentHosts } from './hosts/agent-hosts.ts'
import { type Hub, startHub } from './hub/server.ts'
import { HubState } from './hub/state.ts'
import { startUpstreams, type Upstreams } from './upstreams/upstreams.ts'
import { populateHub } from './world/hub.ts'
import { genesisTimeOf, layHistory, layPast, type PastOptions } from './world/past.ts'
import { planWorld, type World, walletsOfWorld } from './world/plan.ts'

interface WorldOptions {
  readonly seed: string
  /** Default: now. */
  readonly startedAt?: Date
  /** Ports to take when they are free: one for the hub, seven in a row for the chains. */
  readonly hubPort?: number
  readonly firstChainPort?: number
  /** Whether agents have web hosts that answer; else their addresses lead nowhere. Default: no. */
  readonly agentHosts?: boolean
  /** Whether to start an explorer, an identity service and a code host that know this world's people. Default: no. */
  readonly upstreams?: boolean
  /** Whether agents were paid before the registries were there, in blocks that a backfill loads. Default: no. */
  readonly history?: boolean
}

/** A world whose chains and hub answer. */
export interface RunningWorld {
  readonly world: World
  readonly chains: Readonly<Record<DefaultChain, DevChain>>
  readonly hub: Hub
  readonly agentHosts: AgentHosts | undefined
  readonly upstreams: Upstreams | undefined
  /** By chain, the last block of its history; empty: there is none. */
  readonly historyEnds: ReadonlyMap<DefaultChain, number>
  /** Executes the past on the chains, which then mine by themselves. Call it once. */
  layPast(options: Omit<PastOptions, 'startedAt'>): Promise<void>
  stop(): Promise<void>
}

/** Starts seven chains, a hub and agents' hosts for the world of a seed. Nothing but the history has happened on the chains yet. */
export async function startWorld(options: WorldOptions): Promise<RunningWorld> {
  const { seed, startedAt = new Date(), hubPort, firstChainPort } = options
  const agentHosts = options.agentHosts ? await startAgentHosts() : undefined
  const world = planWorld(seed, agentHosts?.hostOf, options)
  agentHosts?.publish(world)
  const upstreams = options.upstreams ? await startUpstreams(world, startedAt) : undefined
  const state = new HubState()
  populateHub(state, world, startedAt)

  await compileContracts() // cached first: seven chains that start at once would compile seven times
  const funded = walletsOfWorld(world).map(({ address }) => address)
  const genesisTime = genesisTimeOf(startedAt, world)
  const started = await Promise.allSettled([
    startHub(state, { port: hubPort }),
    ...defaultChainNames.map((name, index) => {
      const port = firstChainPort === undefined ? undefined : firstChainPort + index
      return startDevChain(name, { genesisTime, funded, port })
    }),
  ])
  const stop = async () => {
    await agentHosts?.stop()
    await upstreams?.stop()
    await Promise.all(started.map((one) => (one.status === 'fulfilled' ? one.value.stop() : undefined)))
  }
  const failed = started.find((one) => one.status === 'rejected')
  if (failed) {
    await stop()
    throw failed.reason
  }
  const [hub, ...list] = started.map((one) => (one as PromiseFulfilledResult<Hub | DevChain>).value) as [
    Hub,
    ...DevChain[],
  ]
  const chains = Object.fromEntries(list.map((chain) => [chain.name, chain])) as Record<DefaultChain, DevChain>
  const historyEnds = new Map<DefaultChain, number>()
  await layHistory(chains, world, { startedAt, onEnd: (name, lastBlock) => historyEnds.set(name, lastBlock) })
  return {
    world,
    chains,
    hub,
    agentHosts,
    upstreams,
    historyEnds,
    layPast: (options) => layPast(chains, world, { ...options, startedAt }),
    stop,
  }
}
