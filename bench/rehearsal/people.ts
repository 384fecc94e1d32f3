import type { Address } from 'viem'
import { type DevChain, funder } from '../../devnet/chain/chain.ts'
import { registerMany } from '../../devnet/chain/identity.ts'
import { aggregate } from '../../devnet/chain/payments.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { recipientAddress } from '../../test/doubles/portal/generated-source.ts'
import { type Claimant, newClaimant } from '../../test/support/api/claims.ts'
import type { Shape } from './shape.ts'

export interface People {
  readonly hub: Hub
  /** Accounts that must be found as agents. */
  readonly agents: readonly number[]
  readonly claimants: readonly Claimant[]
}

/** First fid of the first attempt's claimants; each attempt has its own, who have no claims yet. */
const firstClaimant = 1_000_000_000
/** Registrations per transaction, and its gas limit. */
const atOnce = 100
const gas = 30_000_000n
const yearMs = 365 * 86_400_000

interface Places {
  /** Chain on which agents are registered. */
  readonly registry: DevChain
  /** Chain with Farcaster's registries of accounts and keys. */
  readonly social: DevChain
  readonly attempt: number
  /** Number of claimants. */
  readonly claiming?: number
}

/** Starts a hub with all accounts of the rehearsal and registers its agents on a chain, each once in all attempts. */
export async function settlePeople(
  shape: Pick<Shape, 'accounts' | 'agents' | 'holdings'>,
  { registry, social, attempt, claiming = 40 }: Places,
): Promise<People> {
  const hub = await startHub(new HubState())
  const registeredAt = new Date(Date.now() - yearMs)
  for (let fid = 1; fid <= shape.accounts; fid++) {
    hub.state.addAccount({ fid, custody: accountAddress(fid), registeredAt })
    hub.state.addVerification(fid, addressOf(fid, shape), { at: registeredAt })
  }
  const agents = Array.from({ length: shape.agents }, (_, at) => at + 1)
  const holder = shape.agents + 1
  const owners = [...agents, ...Array.from({ length: shape.holdings }, () => holder)].map((fid) =>
    addressOf(fid, shape),
  )
  await register(registry, owners)
  const claimants: Claimant[] = []
  for (let fid = firstClaimant + attempt * claiming; claimants.length < claiming; fid++) {
    claimants.push(await newClaimant(fid, hub, social))
  }
  return { hub, agents: [...agents, holder], claimants }
}

/**
 * Registers an identity for each owner, in their order, one transaction after the other: every awaited transaction is
 * polled for, and thousands at once would keep the node from mining.
 */
async function register(chain: DevChain, owners: readonly Address[]): Promise<void> {
  for (let first = 0; first < owners.length; first += atOnce) {
    const calls = owners.slice(first, first + atOnce).map((owner, n) => ({
      ...registerMany([`data:,identity ${first + n}`], owner),
      allowFailure: false,
    }))
    await chain.execute(funder, aggregate(chain, calls), { gas })
  }
}

/** Agents verify the addresses that are paid most; the other accounts verify addresses that nobody pays. */
function addressOf(fid: number, { agents }: Pick<Shape, 'agents'>): Address {
  return (fid <= agents ? recipientAddress(fid) : accountAddress(fid)) as Address
}

const accountAddress = (fid: number) => `0x${fid.toString(16).padStart(40, 'c0')}` as Address
