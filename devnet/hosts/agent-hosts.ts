import { type AgentHost, documentOptions, registrationDocument } from '../world/documents.ts'
import type { World } from '../world/plan.ts'
import { agentWords } from '../world/texts.ts'
import { pagesOf } from './agent-pages.ts'
import { publishFaultySellers } from './faulty-sellers.ts'
import { type IpfsGateway, startGateway } from './gateway.ts'
import { startWebHost, type WebHost } from './web-host.ts'

/** The web hosts of the agents of a world, and a gateway to what they keep on IPFS. */
export interface AgentHosts {
  readonly gateway: IpfsGateway
  /** Base URL of a host with every faulty seller, which lists them. */
  readonly faultySellers: string
  /** Base URL of an agent's host, for planning the world; null: it has none. */
  readonly hostOf: AgentHost
  /** Serves what the agents of a world publish. */
  publish(world: World): void
  /** Hosts as EGRESS_ALLOW takes them, without which requests to this machine are blocked. */
  readonly names: readonly string[]
  stop(): Promise<void>
}

/** Every third agent has no host of its own, and the host of one in seven has nothing to say. */
const hasHost = (index: number) => index % 3 !== 2
const isSilent = (index: number) => index % 7 === 6
/** Of one in seven the card can be read, and nobody answers where it says. */
const isDeaf = (index: number) => index % 7 === 3

/** Starts the hosts, each on a port of its own, with nothing on them yet. */
export async function startAgentHosts(): Promise<AgentHosts> {
  const gateway = await startGateway()
  const sellers = await startWebHost()
  publishFaultySellers(sellers)
  const hosts = new Map<number, WebHost>()
  for (const index of agentWords.keys()) if (hasHost(index)) hosts.set(index, await startWebHost())
  const hostOf: AgentHost = (_, index) => hosts.get(index)?.url ?? null
  return {
    gateway,
    faultySellers: sellers.url,
    hostOf,
    publish(world) {
      for (const [index, person] of world.people.agents.entries()) {
        const options = documentOptions(person, index, hostOf)
        gateway.add(JSON.stringify(registrationDocument(options)))
        const host = hosts.get(index)
        if (!host || isSilent(index)) continue
        const own = person.verified.map(({ wallet }) => wallet.address as string)
        const tokens = world.tokens.filter(({ owner }) => owner !== null && own.includes(owner))
        const registration = registrationDocument(options)
        for (const [path, page] of pagesOf({ ...options, url: host.url, registration, tokens, deaf: isDeaf(index) })) {
          host.pages.set(path, page)
        }
      }
    },
    names: [gateway, sellers, ...hosts.values()].map(({ name }) => name),
    async stop() {
      await Promise.all([gateway, sellers, ...hosts.values()].map((host) => host.stop()))
    },
  }
}
