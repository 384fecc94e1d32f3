import type { Address } from 'viem'
import { type DevChain, funder } from '../../devnet/chain/chain.ts'
import { registerMany } from '../../devnet/chain/identity.ts'
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

const claimants = 40
/** Of claimants of the first attempt; another attempt has others, whose claims are not there yet. */
const firstClaimant = 1_000_000_000
/** Registrations of one transaction, and what they take. */
const atOnce = 100
const gas = 30_000_000n
const yearMs = 365 * 86_400_000

/** A network with all accounts of the rehearsal, whose agents are registered on a chain; nobody is registered twice. */
export async function settlePeople(
  shape: Shape,
  { registry, social, attempt }: { registry: DevChain; social: DevChain; attempt: number },
): Promise<People> {
  const hub = await startHub(new HubState())
  const registeredAt = new Date(Date.now() - yearMs)
  for (let fid = 1; fid <= shape.accounts; fid++) {
    hub.state.addAccount({ fid, custody: accountAddress(fid), registeredAt })
    hub.state.addVerification(fid, addressOf(fid, shape), { at: registeredAt })
  }
  const agents = Array.from({ length: shape.agents }, (_, at) => at + 1)
  const holder = shape.agents + 1
  await Promise.all(agents.map((fid) => registry.execute(funder, registration(addressOf(fid, shape), 1), { gas })))
  for (let left = shape.holdings; left > 0; left -= atOnce) {
    await registry.execute(funder, registration(addressOf(holder, shape), Math.min(left, atOnce)), { gas })
  }
  const claiming = Array.from({ length: claimants }, (_, n) =>
    newClaimant(firstClaimant + attempt * claimants + n, hub, social),
  )
  return { hub, agents: [...agents, holder], claimants: await Promise.all(claiming) }
}

function registration(to: Address, count: number) {
  return registerMany(
    Array.from({ length: count }, (_, n) => `data:,identity ${n}`),
    to,
  )
}

/** Agents verify the addresses that are paid most; the others' are nobody's payees. */
function addressOf(fid: number, { agents }: Shape): Address {
  return (fid <= agents ? recipientAddress(fid) : accountAddress(fid)) as Address
}

const accountAddress = (fid: number) => `0x${fid.toString(16).padStart(40, 'c0')}` as Address
