import type { ChainName } from '../../chains.config.ts'
import type { ChainSettings } from '../../chains.file.ts'
import { createDoor, type DoorOptions } from '../../net/door.ts'
import type { EgressAllow } from '../../net/egress.ts'
import { createHub } from '../../social/hub.ts'
import { createProofWorld } from '../../social/proof-world.ts'
import { createWitness } from '../../social/witness.ts'
import { walletChains } from '../../trust/verification-claim.ts'
import type { ClaimWorld } from './verifier.ts'

interface HubAddress {
  readonly url: string
  readonly headers: Record<string, string>
}

interface WorldSettings {
  readonly chains: Readonly<Record<ChainName, Pick<ChainSettings, 'id' | 'rpc' | 'social'>>>
  readonly hub: HubAddress
  /** Asked whether they know the same; default: none. */
  readonly otherHubs?: readonly HubAddress[]
  readonly egressAllow: EgressAllow
  readonly serviceName: string
  readonly siteUrl: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** For hosts that have to resolve without name servers. */
  readonly lookup?: DoorOptions['lookup']
}

/** Whom claims are checked with. */
type Witnesses = Pick<ClaimWorld, 'social' | 'witnesses' | 'registries' | 'wallets' | 'door'> & {
  close(): Promise<void>
}

/** A claimant waits for the answer, and other questions are asked before and after this one. */
const hubTimeoutMs = 3_000
/** A claimant is waiting too; the attempts a host gets are bounded by the claim limiter. */
const politeness = { intervalMs: 100, maxWaiting: 6, maxWaitMs: 2_000 }

/**
 * Which claims this installation cannot judge, for want of a node to ask; a line each. Such a claim is a failure of
 * ours (500), logged with the reason.
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

/** Connects when first asked; nothing is asked for being created. */
export function createWitnesses(settings: WorldSettings): Witnesses {
  const { chains, egressAllow, serviceName, siteUrl, lookup } = settings
  const proofs = createProofWorld(chains)
  const hubOf = (address: HubAddress) =>
    createHub({ ...address, timeoutMs: hubTimeoutMs, now: () => new Date(settings.now()) })
  const hub = hubOf(settings.hub)
  const others = (settings.otherHubs ?? []).map((address) => ({ url: address.url, hub: hubOf(address) }))
  const door = createDoor({ userAgent: `${serviceName}/1.0 (+${siteUrl})`, egressAllow, politeness, lookup })
  return {
    social: hub,
    witnesses: others.map((other) => createWitness(other.url, other.hub)),
    registries: proofs.registries,
    wallets: proofs.wallets,
    door,
    async close() {
      door.close()
      await Promise.all([hub, proofs, ...others.map((other) => other.hub)].map((one) => one.close()))
    },
  }
}
