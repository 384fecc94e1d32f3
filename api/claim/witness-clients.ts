import type { ChainSettings } from '../../config/chains.file.ts'
import type { ChainName } from '../../config/chains.ts'
import { createDoor, type DoorOptions } from '../../net/door.ts'
import type { EgressAllow } from '../../net/egress.ts'
import { userAgentOf } from '../../net/user-agent.ts'
import { createHub } from '../../social/hub.ts'
import type { Known } from '../../social/hub-staleness.ts'
import { createProofWorld } from '../../social/proof-world.ts'
import { createWitness } from '../../social/witness.ts'
import { walletChains } from '../../trust/verification-claim.ts'
import type { ClaimWorld } from './proof-method.ts'

interface HubAddress {
  readonly url: string
  readonly headers: Record<string, string>
}

interface WorldSettings {
  readonly chains: Readonly<Record<ChainName, Pick<ChainSettings, 'id' | 'rpc' | 'social'>>>
  readonly hub: HubAddress
  /** Hubs asked as witnesses whether they know the same messages; default: none. */
  readonly otherHubs?: readonly HubAddress[]
  readonly egressAllow: EgressAllow
  readonly serviceName: string
  readonly siteUrl: string
  /** URL of the hub that the enrichment job follows; undefined: the first. Default: always the first. */
  readonly followedHub?: () => Promise<string | undefined>
  /** What is known of the network, from the hub that is followed. */
  readonly known: () => Promise<Known>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Replaces DNS resolution of hosts; default: the system's. */
  readonly lookup?: DoorOptions['lookup']
}

/** The clients of hubs, chains and hosts that claims are checked with. */
type Witnesses = Pick<ClaimWorld, 'social' | 'witnesses' | 'registries' | 'wallets' | 'door'> & {
  close(): Promise<void>
}

/** Timeout of one hub request. It is short: a claimant waits, and a claim takes several requests. */
const hubTimeoutMs = 3_000
/** Pace of requests to one host, short for the waiting claimant; the claim limiter bounds attempts per host. */
const politeness = { intervalMs: 100, maxWaiting: 6, maxWaitMs: 2_000 }

/**
 * Warnings for the log, a line for each chain without a node: the claims that cannot be judged without it. Such a claim
 * gets 500, logged with the reason.
 */
export function claimsWithoutWitness(chains: WorldSettings['chains']): string[] {
  return Object.entries(chains)
    .filter(([, { id, rpc, social }]) => rpc === null && (social !== null || walletChains.includes(id)))
    .map(([name, { id, social }]) => {
      const claims = [
        ...(social ? ['jfs claims', 'account associations of hosts'] : []),
        ...(walletChains.includes(id) ? ['claims of contract wallets'] : []),
      ]
      return `RPC_${name.toUpperCase()} is unset: ${claims.join(', ')} on ${name} cannot be judged and get 500`
    })
}

/** Creates the clients; each connects at its first request. */
export function createWitnesses(settings: WorldSettings): Witnesses {
  const { chains, egressAllow, serviceName, siteUrl, lookup } = settings
  const proofs = createProofWorld(chains)
  const hubOf = (address: HubAddress) =>
    createHub({ ...address, timeoutMs: hubTimeoutMs, now: () => new Date(settings.now()) })
  const hubs = [settings.hub, ...(settings.otherHubs ?? [])].map((address) => {
    const hub = hubOf(address)
    return { hub, witness: createWitness(address.url, hub, settings.known) }
  })
  const [first, ...others] = hubs as [(typeof hubs)[number], ...typeof hubs]
  let followed = first
  async function current() {
    const url = await settings.followedHub?.()
    followed = hubs.find(({ witness }) => witness.url === url) ?? first
    return followed.hub
  }
  const door = createDoor({ userAgent: userAgentOf({ serviceName, siteUrl }), egressAllow, politeness, lookup })
  return {
    social: {
      verifications: async (fid) => (await current()).verifications(fid),
      statements: async (fid) => (await current()).statements(fid),
      nameHolder: async (name) => (await current()).nameHolder(name),
    },
    // One that is followed itself gives its place to the first.
    witnesses: others.map((other) => {
      const asked = () => (followed === other ? first : other).witness
      return {
        get url() {
          return asked().url
        },
        testify: (...given) => asked().testify(...given),
        confirmsName: (...given) => asked().confirmsName(...given),
      }
    }),
    registries: proofs.registries,
    wallets: proofs.wallets,
    door,
    async close() {
      door.close()
      await Promise.all([proofs, ...hubs.map(({ hub }) => hub)].map((one) => one.close()))
    },
  }
}
