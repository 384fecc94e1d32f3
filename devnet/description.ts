import type { DefaultChain } from '../config/chains.ts'
import type { RunningWorld } from './running-world.ts'

interface Places {
  /** Base address of the API. */
  readonly api: string
  /** Base address of the GraphQL process. */
  readonly graphql: string
  readonly databaseUrl: string
}

/**
 * Content of `devnet.json`: where everything is, and the keys of this toy world, so that anybody can try claims and
 * payments by hand. What does not exist yet is null.
 */
export function describeWorld(
  { world, chains, hub, agentHosts, upstreams }: RunningWorld,
  { api, graphql, databaseUrl }: Places,
) {
  return {
    api,
    site: api,
    graphql,
    database_url: databaseUrl,
    chains: Object.fromEntries(
      Object.values(chains).map(({ name, rpc, chainId, addresses }) => {
        const contracts = Object.entries(addresses).map(([contract, address]) => [toSnakeCase(contract), address])
        return [name, { rpc, chain_id: chainId, ...Object.fromEntries(contracts) }]
      }),
    ),
    hub: hub.url,
    explorer: upstreams?.explorer.url ?? null,
    identity: upstreams?.identity.url ?? null,
    codehost: upstreams?.codehost.url ?? null,
    agent_hosts: agentHosts
      ? {
          ipfs_gateway: agentHosts.gateway.url,
          agents: Object.fromEntries(
            world.people.agents.flatMap((person, index) => {
              const url = agentHosts.hostOf(person, index)
              return url ? [[person.fid, url]] : []
            }),
          ),
        }
      : null,
    funder_private_key: world.funder.privateKey,
    agents: world.people.agents.map(({ fid, profile, custody, verified, appKey }) => {
      const own = verified.map(({ wallet }) => wallet)
      return {
        fid,
        handle: profile.username ?? null,
        custody: { address: custody.address, private_key: custody.privateKey },
        addresses: own.map(({ address, privateKey }) => ({ address, private_key: privateKey })),
        app_keys: [{ public_key: appKey.publicKey, private_key: appKey.privateKey }],
        chains: chainsOf(world.tokens, addressesOf(verified)),
      }
    }),
  }
}

/** FIDs of the agents whose addresses held an identity at the world's start. */
export function holders({ people, tokens }: RunningWorld['world']): number[] {
  return people.agents
    .filter(({ verified }) => chainsOf(tokens, addressesOf(verified)).length > 0)
    .map(({ fid }) => fid)
}

const addressesOf = (verified: RunningWorld['world']['people']['agents'][number]['verified']): string[] =>
  verified.map(({ wallet }) => wallet.address)

/** Chains on which these addresses held an identity at the world's start. */
function chainsOf(tokens: RunningWorld['world']['tokens'], addresses: readonly string[]): DefaultChain[] {
  const held = tokens.filter(({ owner }) => owner !== null && addresses.includes(owner))
  return [...new Set(held.map(({ chain }) => chain))]
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
