import type pg from 'pg'
import { otherHubs, type PublicHost } from '../config/hosts.ts'
import { knownOfNetwork } from '../db/queries/sources/hub-standing.ts'
import type { Host, Urgency } from '../hosts/host.ts'
import { createHub } from '../social/hub.ts'
import { createRemovals, type Removals } from '../social/hub-grpc.ts'
import { hubHeaders } from '../social/hub-operators.ts'
import { createNeynar } from '../social/neynar.ts'
import type { SocialIndex } from '../social/social-index.ts'
import { createWitness, type Witness } from '../social/witness.ts'
import type { Config } from './config.ts'
import { createSharedHost } from './host-budget.ts'
import { type Candidate, createFollowed, type Followed } from './socialindex/followed.ts'

/** The social network as this installation reads it. */
interface Hubs {
  readonly followed: Followed
  /** The followed hub; with a key for Neynar, addresses are looked up there. */
  readonly social: SocialIndex
  /** Limits of the look-up by address; undefined: all FIDs are swept instead. */
  readonly lookupHost: Host | undefined
  /** Limits that all witnesses share. */
  readonly witnessHost: Host
  /** Hubs that tell of removals over gRPC. */
  readonly removals: readonly Removals[]
  /** The hubs that are not followed now. */
  witnesses(): readonly Witness[]
  /** Host name of the hub that is followed. */
  followedName(): string
  close(): Promise<void>
}

interface HubsOptions {
  readonly config: Config
  readonly pool: pg.Pool
  readonly now: () => Date
}

/** Connects to the hubs of HUB_URL and HUB_GRPC and to Neynar, on first use. */
export function openHubs({ config, pool, now }: HubsOptions): Hubs {
  const { neynar } = config
  const shared = { pool, perDay: null, now }
  const openHub = (url: string, slot?: () => Promise<void>) =>
    createHub({ url, headers: hubHeaders(url, neynar?.apiKey), slot, now })

  function candidateOf(
    name: string,
    { url, requestsPerSecond }: Pick<PublicHost, 'url' | 'requestsPerSecond'>,
  ): Candidate {
    const host = createSharedHost({ name, requestsPerSecond, ...shared })
    const client = (urgency: Urgency) => openHub(url, () => host.slot(urgency))
    return { url, host, clients: { urgent: client('urgent'), usual: client('usual'), spare: client('spare') } }
  }
  const followed = createFollowed([
    candidateOf('hub', config.hub),
    ...config.otherHubs.map((other) => candidateOf(`hub ${new URL(other.url).host}`, other)),
  ])
  const neynarHost = neynar && createSharedHost({ name: 'neynar', ...neynar, ...shared })
  const hub = followed.clients.usual
  const social = neynar && neynarHost ? createNeynar(hub, { ...neynar, slot: () => neynarHost.slot() }) : hub

  const requestsPerSecond = Math.min(
    otherHubs.requestsPerSecond,
    ...config.otherHubs.map((one) => one.requestsPerSecond),
  )
  const witnessHost = createSharedHost({ name: 'witnesses', requestsPerSecond, ...shared })
  const witnessHubs = followed.candidates.map(({ url }) => ({ url, hub: openHub(url) }))
  const witnesses = witnessHubs.map(({ url, hub }) => createWitness(url, hub, () => knownOfNetwork(pool)))
  const removals = config.hubGrpc.map((url) => createRemovals({ url, slot: () => witnessHost.slot() }))
  return {
    followed,
    social,
    lookupHost: neynarHost,
    witnessHost,
    removals,
    witnesses: () => witnesses.filter(({ url }) => url !== followed.url()),
    followedName: () => new URL(followed.url()).host,
    async close() {
      for (const one of removals) one.close()
      const clients = followed.candidates.flatMap(({ clients }) => Object.values(clients))
      await Promise.all([social, ...clients, ...witnessHubs.map(({ hub }) => hub)].map((one) => one.close()))
    },
  }
}
