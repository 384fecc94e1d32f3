import type pg from 'pg'
import { knownOfNetwork } from '../db/queries/sources/hub-standing.ts'
import { createHost, type Host, type Urgency } from '../hosts/host.ts'
import { createDoor, type DoorOptions } from '../net/door.ts'
import { createHub } from '../social/hub.ts'
import { createRemovals } from '../social/hub-grpc.ts'
import { hubHeaders } from '../social/hub-operators.ts'
import { createNeynar } from '../social/neynar.ts'
import { createProofWorld, type ProofChain } from '../social/proof-world.ts'
import type { SocialIndex } from '../social/social-index.ts'
import { createWitness } from '../social/witness.ts'
import { otherHubs, type PublicHost, proofNode, publicHosts, sources } from '../sources.config.ts'
import { createAgentHosts } from './agent-hosts.ts'
import { createContents } from './agent-uri/content.ts'
import { createGateways } from './agent-uri/gateways.ts'
import { createResolver } from './agent-uri/resolve.ts'
import { agentUris } from './agent-uri/source.ts'
import { createManifests } from './claims/manifest.ts'
import { claimChecks } from './claims/source.ts'
import type { Config } from './config.ts'
import { controlReadings } from './control/source.ts'
import { logCosignatures } from './cosignatures/source.ts'
import { createLogWitness } from './cosignatures/witness.ts'
import { facilitatorSigners } from './facilitators/source.ts'
import { feedbackFiles } from './feedback/source.ts'
import { createSharedHost } from './host-budget.ts'
import { socialProofs } from './proofs/source.ts'
import { socialWitnesses } from './proofs/witnesses.ts'
import type { ChainIdentities } from './registries.ts'
import type { Source } from './schedule/source.ts'
import { type Belief, createBelief } from './socialindex/belief.ts'
import { socialEvents } from './socialindex/events.ts'
import { socialFids } from './socialindex/fids.ts'
import { type Candidate, createFollowed } from './socialindex/followed.ts'
import { socialFollows } from './socialindex/follows.ts'
import { socialLookup } from './socialindex/lookup.ts'
import { socialShards } from './socialindex/shards.ts'
import { socialSweep } from './socialindex/sweep.ts'
import { createOnChain } from './specs/findings/on-chain.ts'
import { specs } from './specs/source.ts'
import { createUpstreamSources } from './upstream-sources.ts'
import { webhooks } from './webhooks/source.ts'

export interface Sources {
  readonly installed: readonly Source[]
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

/** Messages to one host go one at a time; whoever registered an endpoint wants them without a pause. */
const politeToHooks = { intervalMs: 0, maxWaiting: 100, maxWaitMs: 10_000 }

/** The sources that this installation has. */
export function createSources({ config, chains, pool, now, politeness }: SourcesOptions): Sources {
  const { hub: hubSettings, neynar: neynarSettings } = config
  const shared = { pool, perDay: null, now }
  function candidateOf(
    { url, requestsPerSecond }: Pick<PublicHost, 'url' | 'requestsPerSecond'>,
    name: string,
  ): Candidate {
    const host = createSharedHost({ name, requestsPerSecond, ...shared })
    const client = (urgency: Urgency) =>
      createHub({ url, headers: hubHeaders(url, neynarSettings?.apiKey), slot: () => host.slot(urgency), now })
    return { url, host, clients: { urgent: client('urgent'), usual: client('usual'), spare: client('spare') } }
  }
  const followed = createFollowed([
    candidateOf(hubSettings, 'hub'),
    ...config.otherHubs.map((other) => candidateOf(other, `hub ${new URL(other.url).host}`)),
  ])
  const hubHost = followed.host
  const neynarHost = neynarSettings && createSharedHost({ name: 'neynar', ...neynarSettings, ...shared })
  // Priorities: live events first, then rereads, then the sweep of the whole history.
  const { urgent: urgentHub, usual: hub, spare: spareHub } = followed.clients
  const social: SocialIndex =
    neynarSettings && neynarHost ? createNeynar(hub, { ...neynarSettings, slot: () => neynarHost.slot() }) : hub
  const { fidsByAddress } = social
  const sweeps = fidsByAddress === undefined

  const { egressAllow, userAgent, ipfsGateways, arweaveUrl } = config.agentHosts
  const door = createDoor({ userAgent, egressAllow, politeness })
  const agentHosts = createAgentHosts({ door, egressAllow, now })
  const gateways = createGateways({ hosts: agentHosts, urls: ipfsGateways })
  const reading = { hosts: agentHosts, gateways, arweaveUrl }
  const resolve = createResolver(reading)

  const upstreams = createUpstreamSources(config, pool, now)
  const belief = createBelief({ pool, followed, now })

  const proofWorld = createProofWorld(chains)
  const nodeHost = createSharedHost({ name: 'proofs', requestsPerSecond: proofNode.requestsPerSecond, ...shared })
  const controlHost = createSharedHost({ name: 'nodes', requestsPerSecond: proofNode.requestsPerSecond, ...shared })
  const onChain = createOnChain({ nodeOf: proofWorld.nodeOf, slot: () => nodeHost.slot('spare'), now })
  const proofs = proofWorld.registries.canAnswer ? [socialProofs({ pool, world: proofWorld, host: nodeHost, now })] : []
  const allUrls = followed.candidates.map(({ url }) => url)
  const witnessHubs = allUrls.map((url) => ({
    url,
    hub: createHub({ url, headers: hubHeaders(url, neynarSettings?.apiKey), now }),
  }))
  const witnessPace = Math.min(otherHubs.requestsPerSecond, ...config.otherHubs.map((one) => one.requestsPerSecond))
  const witnessHost = createSharedHost({ name: 'witnesses', requestsPerSecond: witnessPace, ...shared })
  const clients = witnessHubs.map(({ url, hub }) => createWitness(url, hub, () => knownOfNetwork(pool)))
  const witnesses = () => clients.filter(({ url }) => url !== followed.url())
  const removals = config.hubGrpc.map((url) => createRemovals({ url, slot: () => witnessHost.slot() }))
  const asking = { pool, world: proofWorld, removals, now }
  const asked = config.otherHubs.length > 0 ? [socialWitnesses({ ...asking, witnesses, host: witnessHost })] : []
  const options = { pool, social, host: hubHost, url: followed.url, now }
  const perAgent = [belief.guard(socialFollows({ social, host: hubHost })), ...proofs, ...asked, ...upstreams.sources]
  const hubDoubt = () => belief.doubt()
  const claimHost = createHost({ name: 'claims', requestsPerSecond: Number.POSITIVE_INFINITY, now })
  const looks = createHost({ name: 'hubs', requestsPerSecond: Number.POSITIVE_INFINITY, now })
  const believe = async () => {
    const doubt = await belief.doubt()
    if (doubt !== undefined) throw new Error(`the hub is not believed: ${doubt}`)
  }
  const checking = { ...proofWorld, database: pool, social: urgentHub, believe }
  const manifests =
    config.claims && createManifests({ ...config.claims, ...checking, witnesses, door, egressAllow, now })
  const checkWorld = manifests && { ...checking, hub: () => new URL(followed.url()).host, manifests }
  const logWitnesses = config.logWitnesses.map(createLogWitness)
  const hooks = createDoor({ userAgent, egressAllow, politeness: politeness ?? politeToHooks })
  const installed = [
    belief.guard(socialFids(options)),
    // Looks at hubs that do not answer too: not held up by the circuit of the one that is followed.
    socialShards({ ...options, host: looks, belief, sweeps }),
    belief.guard(socialEvents({ ...options, social: urgentHub, sweeps, pollMs: config.hubPollMs })),
    ...(fidsByAddress && neynarHost
      ? [socialLookup({ fidsByAddress, host: neynarHost, now })]
      : [belief.guard(socialSweep({ ...options, social: spareHub }))]),
    agentUris({ pool, host: agentHosts.host, resolve, now, chains }),
    feedbackFiles({ pool, host: agentHosts.host, readContent: createContents(reading), now }),
    controlReadings({ pool, host: controlHost, chains, nodeOf: proofWorld.nodeOf, now }),
    specs({ pool, hosts: agentHosts, chains, onChain, now }),
    ...(config.asksFacilitators ? [facilitatorSigners({ hosts: agentHosts })] : []),
    ...(logWitnesses.length > 0 ? [logCosignatures({ pool, witnesses: logWitnesses, now })] : []),
    ...(config.webhooks ? [webhooks({ pool, door: hooks, ...config.webhooks, now })] : []),
    ...(checkWorld ? [claimChecks({ pool, world: checkWorld, host: claimHost, now })] : []),
    ...perAgent,
  ]
  const upstreamHosts = upstreams.sources.map(({ host }) => host)
  return {
    installed,
    hosts: [
      ...followed.candidates.map(({ host }) => host),
      nodeHost,
      controlHost,
      claimHost,
      witnessHost,
      ...(neynarHost ? [neynarHost] : []),
      agentHosts.host,
      ...upstreamHosts,
    ],
    lookups: !sweeps,
    perAgent: perAgent.map(({ name }) => name),
    hubDoubt,
    hubFollowed: () => new URL(followed.url()).host,
    acceptHubTotals: belief.acceptTotals,
    description: [
      describe(config, sweeps),
      `${sources.claims.name} ${config.claims ? 'on' : 'off: CLAIM_LAPSE is off'}`,
      `${sources.proofs.name} ${proofs.length > 0 ? 'on' : 'off: RPC_OPTIMISM is not set'}`,
      `${sources.facilitators.name} ${config.asksFacilitators ? 'on' : 'off: FACILITATOR_HOSTS is off'}`,
      config.otherHubs.length > 0
        ? `witnesses, followed if it fails: ${config.otherHubs.map(({ url }) => new URL(url).host).join(', ')}`
        : 'no second hub: HUB_URL names one operator, whose word nobody checks',
      `removals ${removals.length > 0 ? `asked of ${removals.map(({ url }) => new URL(url).host).join(', ')}` : 'not asked for: HUB_GRPC is not set'}`,
      `${sources.cosignatures.name} ${logWitnesses.length > 0 ? `of ${logWitnesses.map(({ url }) => new URL(url).host).join(', ')}` : 'off: LOG_WITNESSES is not set'}`,
      `${sources.webhooks.name} ${config.webhooks ? 'on' : 'off: WEBHOOK_SECRET is not set'}`,
      upstreams.description,
    ].join('; '),
    async close() {
      agentHosts.host.stop()
      hooks.close()
      for (const host of upstreamHosts) host.stop()
      for (const one of removals) one.close()
      await Promise.all(
        [
          social,
          proofWorld,
          ...followed.candidates.flatMap(({ clients }) => Object.values(clients)),
          ...witnessHubs.map(({ hub }) => hub),
          ...logWitnesses,
        ].map((one) => one.close()),
      )
    },
  }
}

function describe({ hub, neynar, hubPollMs, agentHosts }: Config, sweeps: boolean): string {
  const found = sweeps
    ? `sweep of all FIDs on; look-up by address off: ${publicHosts.neynar.keySetting} is not set`
    : `look-up by address on (${new URL(neynar!.url).host}); sweep of all FIDs off: it is not needed beside the look-up`
  const gateways = agentHosts.ipfsGateways.map((url) => new URL(url).host).join(', ')
  const documents = `${sources.agentUri.name} and ${sources.specs.name} on (IPFS from ${gateways || 'nowhere: IPFS_GATEWAYS is empty'})`
  return `${sources.fids.name} on (${new URL(hub.url).host}, events every ${hubPollMs / 1_000} s); ${found}; ${documents}`
}
