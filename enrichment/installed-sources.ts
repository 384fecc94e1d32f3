import type pg from 'pg'
import { proofNode, publicHosts } from '../config/hosts.ts'
import { sources } from '../config/sources.ts'
import { createHost, type Host } from '../hosts/host.ts'
import { createDoor, type DoorOptions } from '../net/door.ts'
import { createProofWorld, type ProofChain } from '../social/proof-world.ts'
import { createAgentHosts } from './agent-hosts.ts'
import { createContents } from './agent-uri/content.ts'
import { createGateways } from './agent-uri/gateways.ts'
import { createResolver } from './agent-uri/resolve.ts'
import { agentUris } from './agent-uri/source.ts'
import { Manifests } from './claims/manifest.ts'
import { claimChecks } from './claims/source.ts'
import type { Config } from './config.ts'
import { controlReadings } from './control/source.ts'
import { logCosignatures } from './cosignatures/source.ts'
import { createLogWitness } from './cosignatures/witness.ts'
import { facilitatorSigners } from './facilitators/source.ts'
import { feedbackFiles } from './feedback/source.ts'
import { createSharedHost } from './host-budget.ts'
import { openHubs } from './hubs.ts'
import type { ChainIdentities } from './networks.ts'
import { socialProofs } from './proofs/source.ts'
import { socialWitnesses } from './proofs/witnesses.ts'
import type { AnySource, Source } from './schedule/source.ts'
import { type Belief, createBelief } from './socialindex/belief.ts'
import { socialEvents } from './socialindex/events.ts'
import { socialFids } from './socialindex/fids.ts'
import { socialFollows } from './socialindex/follows.ts'
import { socialLookup } from './socialindex/lookup.ts'
import { socialShards } from './socialindex/shards.ts'
import { socialSweep } from './socialindex/sweep.ts'
import { createOnChain } from './specs/findings/on-chain.ts'
import { specs } from './specs/source.ts'
import { createUpstreamSources } from './upstream-sources.ts'
import { webhooks } from './webhooks/source.ts'

export interface Sources {
  readonly installed: readonly AnySource[]
  readonly hosts: readonly Host[]
  /** Whether holders can be looked up by address. */
  readonly lookups: boolean
  /** Names of the sources that are asked about every agent of the index. */
  readonly perAgent: readonly string[]
  /** Why the hub is not believed; undefined: it is, or it has not been judged yet. */
  hubDoubt(): Promise<string | undefined>
  /** Host name of the hub that is followed. */
  hubFollowed(): string
  readonly acceptHubTotals: Belief['acceptTotals']
  /** Which sources are on, and which are off and why; for the start line. */
  readonly description: string
  close(): Promise<void>
}

export interface SourcesOptions {
  readonly config: Config
  readonly chains: ChainIdentities & Readonly<Record<string, ProofChain>>
  readonly pool: pg.Pool
  readonly now: () => Date
  /** Rate limits of hosts; a test asks its own hosts without a pause. */
  readonly politeness?: DoorOptions['politeness']
}

/**
 * Whoever registered an endpoint wants its messages without a pause. An endpoint has one in flight; a host that many use has
 * more, so that a slow endpoint does not keep the others waiting.
 */
const politeToHooks = { intervalMs: 0, atOnce: 32, maxWaiting: 100, maxWaitMs: 10_000 }

/** The sources that this installation has. */
export function createSources(options: SourcesOptions): Sources {
  const world = openWorld(options)
  const { config, pool, now } = options
  const { hubs, belief, agentHosts, strangersHosts, claimHost, nodeHost, controlHost } = world
  const upstreams = createUpstreamSources(config, pool, now)
  const upstreamHosts = upstreams.sources.map(({ host }) => host)
  const perAgent = [...accountSources(world), ...upstreams.sources]
  return {
    installed: [
      ...networkSources(world),
      ...documentSources(world),
      ...outgoingSources(world),
      ...claimSources(world),
      ...perAgent,
    ],
    hosts: [
      ...hubs.followed.candidates.map(({ host }) => host),
      nodeHost,
      controlHost,
      claimHost,
      hubs.witnessHost,
      ...(hubs.lookupHost ? [hubs.lookupHost] : []),
      agentHosts.host,
      strangersHosts.host,
      ...upstreamHosts,
    ],
    lookups: hubs.lookupHost !== undefined,
    perAgent: perAgent.map(({ name }) => name),
    hubDoubt: () => belief.doubt(),
    hubFollowed: hubs.followedName,
    acceptHubTotals: belief.acceptTotals,
    description: [...describe(world), upstreams.description].join('; '),
    async close() {
      agentHosts.host.stop()
      strangersHosts.host.stop()
      world.hooks.close()
      for (const host of upstreamHosts) host.stop()
      await Promise.all([hubs, world.proofWorld, ...world.logWitnesses].map((one) => one.close()))
    },
  }
}

/** What the sources ask, and within which limits; connects on first use. */
function openWorld(options: SourcesOptions) {
  const { config, chains, pool, now, politeness } = options
  const { egressAllow, userAgent, ipfsGateways, arweaveUrl } = config.agentHosts
  const hubs = openHubs(options)
  const door = createDoor({ userAgent, egressAllow, politeness })
  const agentHosts = createAgentHosts({ door, egressAllow, now })
  // Anybody can name any host: what comes of that closes it, and takes a turn, for nobody but others who do.
  const strangersDoor = createDoor({ userAgent, egressAllow, politeness })
  const strangersHosts = createAgentHosts({ name: 'strangers', door: strangersDoor, egressAllow, now })
  const gateways = createGateways({ hosts: agentHosts, urls: ipfsGateways })
  const nodeLimits = { requestsPerSecond: proofNode.requestsPerSecond, pool, perDay: null, now }
  return {
    ...options,
    hubs,
    belief: createBelief({ pool, followed: hubs.followed, now }),
    door,
    hooks: createDoor({ userAgent, egressAllow, politeness: politeness ?? politeToHooks }),
    agentHosts,
    strangersHosts,
    /** What an agent's own registrations name, and what anybody else does. */
    documents: {
      own: { hosts: agentHosts, gateways, arweaveUrl },
      foreign: { hosts: strangersHosts, gateways, arweaveUrl },
    },
    proofWorld: createProofWorld(chains),
    nodeHost: createSharedHost({ name: 'proofs', ...nodeLimits }),
    controlHost: createSharedHost({ name: 'nodes', ...nodeLimits }),
    claimHost: createHost({ name: 'claims', requestsPerSecond: Number.POSITIVE_INFINITY, now }),
    logWitnesses: config.logWitnesses.map(createLogWitness),
  }
}
type World = ReturnType<typeof openWorld>

/** Accounts of the whole network: live events first, then rereads, then the sweep of the whole history. */
function networkSources({ config, pool, hubs, belief, now }: World): Source[] {
  const { followed, social, lookupHost } = hubs
  const { fidsByAddress } = social
  const sweeps = fidsByAddress === undefined
  const options = { pool, social, host: followed.host, url: followed.url, now }
  const { urgent, spare } = followed.clients
  // Looks at hubs that do not answer too: not held up by the circuit of the one that is followed.
  const looks = createHost({ name: 'hubs', requestsPerSecond: Number.POSITIVE_INFINITY, now })
  return [
    belief.guard(socialFids(options)),
    socialShards({ ...options, host: looks, belief, sweeps }),
    belief.guard(socialEvents({ ...options, social: urgent, sweeps, pollMs: config.hubPollMs })),
    fidsByAddress && lookupHost
      ? socialLookup({ fidsByAddress, host: lookupHost, now })
      : belief.guard(socialSweep({ ...options, social: spare })),
  ]
}

/** Documents of registrations and feedback, and the contracts and endpoints that they name. */
function documentSources({ config, chains, pool, agentHosts, documents, proofWorld, ...world }: World): Source[] {
  const { strangersHosts, nodeHost, controlHost, now } = world
  const { nodeOf } = proofWorld
  const onChain = createOnChain({ nodeOf, slot: () => nodeHost.slot('spare'), now })
  return [
    agentUris({
      pool,
      host: agentHosts.host,
      resolve: createResolver(documents.own),
      resolveForeign: createResolver(documents.foreign),
      now,
      chains,
    }),
    feedbackFiles({ pool, host: strangersHosts.host, readContent: createContents(documents.foreign), now }),
    controlReadings({ pool, host: controlHost, chains, nodeOf, now }),
    specs({ pool, hosts: agentHosts, chains, onChain, now }),
    ...(config.asksFacilitators ? [facilitatorSigners({ hosts: agentHosts })] : []),
  ]
}

/** What this installation sends: checkpoints of its log to witnesses, events to webhooks. */
function outgoingSources({ config, pool, logWitnesses, hooks, now }: World): AnySource[] {
  return [
    ...(logWitnesses.length > 0 ? [logCosignatures({ pool, witnesses: logWitnesses, now })] : []),
    ...(config.webhooks ? [webhooks({ pool, door: hooks, ...config.webhooks, now })] : []),
  ]
}

function claimSources({ config, pool, hubs, belief, door, proofWorld, claimHost, now }: World): Source[] {
  if (!config.claims) return []
  const believe = async () => {
    const doubt = await belief.doubt()
    if (doubt !== undefined) throw new Error(`the hub is not believed: ${doubt}`)
  }
  const checking = { ...proofWorld, database: pool, social: hubs.followed.clients.urgent, believe }
  const { witnesses } = hubs
  const { egressAllow } = config.agentHosts
  const manifests = new Manifests({ ...config.claims, ...checking, witnesses, door, egressAllow, now })
  return [claimChecks({ pool, world: { ...checking, hub: hubs.followedName, manifests }, host: claimHost, now })]
}

/** What is read of the account of every agent in the index. */
function accountSources({ config, pool, hubs, belief, proofWorld, nodeHost, now }: World): Source[] {
  const { social, followed, witnesses, witnessHost, removals } = hubs
  const world = proofWorld
  return [
    belief.guard(socialFollows({ social, host: followed.host })),
    ...(world.registries.canAnswer ? [socialProofs({ pool, world, host: nodeHost, now })] : []),
    ...(config.otherHubs.length > 0
      ? [socialWitnesses({ pool, world, removals, witnesses, host: witnessHost, now })]
      : []),
  ]
}

/** Which sources are on, and which are off and why. */
function describe({ config, hubs, proofWorld }: World): string[] {
  const namesOf = (hosts: readonly { readonly url: string }[]) => hosts.map(({ url }) => new URL(url).host).join(', ')
  const { otherHubs } = config
  return [
    describeReading(config, hubs.lookupHost === undefined),
    `${sources.claims.name} ${config.claims ? 'on' : 'off: CLAIM_LAPSE is off'}`,
    `${sources.proofs.name} ${proofWorld.registries.canAnswer ? 'on' : 'off: RPC_OPTIMISM is not set'}`,
    `${sources.facilitators.name} ${config.asksFacilitators ? 'on' : 'off: FACILITATOR_HOSTS is off'}`,
    otherHubs.length > 0
      ? `witnesses, followed if it fails: ${namesOf(otherHubs)}`
      : 'no second hub: HUB_URL names one operator, whose word nobody checks',
    `removals ${hubs.removals.length > 0 ? `asked of ${namesOf(hubs.removals)}` : 'not asked for: HUB_GRPC is not set'}`,
    `${sources.cosignatures.name} ${config.logWitnesses.length > 0 ? `of ${namesOf(config.logWitnesses)}` : 'off: LOG_WITNESSES is not set'}`,
    `${sources.webhooks.name} ${config.webhooks ? 'on' : 'off: WEBHOOK_SECRET is not set'}`,
  ]
}

function describeReading({ hub, neynar, hubPollMs, agentHosts }: Config, sweeps: boolean): string {
  const found = sweeps
    ? `sweep of all FIDs on; look-up by address off: ${publicHosts.neynar.keySetting} is not set`
    : `look-up by address on (${new URL(neynar!.url).host}); sweep of all FIDs off: it is not needed with the look-up`
  const gateways = agentHosts.ipfsGateways.map((url) => new URL(url).host).join(', ')
  const documents = `${sources.agentUri.name} and ${sources.specs.name} on (IPFS from ${gateways || 'nowhere: IPFS_GATEWAYS is empty'})`
  return `${sources.fids.name} on (${new URL(hub.url).host}, events every ${hubPollMs / 1_000} s); ${found}; ${documents}`
}
