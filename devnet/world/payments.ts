import { type Hex, keccak256, toBytes } from 'viem'
import { chains, type DefaultChain, defaultChainNames } from '../../config/chains.ts'
import type { Payment, Route } from './deeds.ts'
import { oldestDays, type PastDeed } from './identities.ts'
import type { Wallet } from './keys.ts'
import type { People, Person } from './people.ts'
import type { Random } from './random.ts'

/** Chains with a dollar. */
export const payingChains = defaultChainNames.filter((name) => chains[name].tokens.length > 0)

/** Accounts that pay, and facilitators that broadcast payments of others. */
export interface Payers {
  readonly buyers: readonly Wallet[]
  readonly facilitators: readonly Wallet[]
}

/** Share of each route, out of a hundred. */
const routeShares: Record<Route, number> = {
  direct: 45,
  receive: 14,
  trailer: 10,
  bytes: 6,
  batch: 10,
  columns: 5,
  forwarded: 5,
  pull: 3,
  escrow: 2,
}
const routes = (Object.entries(routeShares) as [Route, number][]).flatMap(([route, share]) =>
  Array.from({ length: share }, () => route),
)
const mostInBatch = 3
const mostValue = 25_000_000
/** Nonces are drawn from a counter: the same seed signs the same authorizations. */
type NextNonce = () => Hex

export function createNonces(seed: string): NextNonce {
  let count = 0
  return () => keccak256(toBytes(`${seed}/nonce/${count++}`))
}

/** A payment to a recipient, by some buyer, on some route. The recipient sends `receive` itself. */
export function planPayment(
  random: Random,
  nextNonce: NextNonce,
  { buyers, facilitators }: Payers,
  recipients: readonly Wallet[],
) {
  const route = random.pick(routes)
  const count = route === 'batch' || route === 'columns' ? random.int(2, mostInBatch) : 1
  const chosen = Array.from({ length: count }, () => random.pick(recipients))
  const payments: Payment[] = chosen.map((recipient) => ({
    payer: random.chance(0.02) ? recipient : random.pick(buyers),
    recipient: recipient.address,
    value: random.chance(0.03) ? 0n : BigInt(random.int(10_000, mostValue)),
    nonce: nextNonce(),
  }))
  const by = route === 'receive' ? (chosen[0] as Wallet) : random.pick(facilitators)
  return { kind: 'pay', by, route, payments } as const
}

/** The payments of the past: every agent was paid, the first one on all chains with a dollar, some by other agents. */
export function planPastPayments(
  random: Random,
  nextNonce: NextNonce,
  payers: Payers,
  { agents }: People,
  strangers: readonly Wallet[],
): PastDeed[] {
  const past: PastDeed[] = []
  const add = (chain: DefaultChain, recipients: readonly Wallet[]) => {
    const daysAgo = random.chance(0.6) ? random.int(0, 6) : random.int(0, oldestDays)
    past.push({ daysAgo, deed: { chain, ...planPayment(random, nextNonce, payers, recipients) } })
  }
  for (const [index, agent] of agents.entries()) {
    const own = walletsOf(agent)
    const where = index === 0 ? payingChains : random.sample(payingChains, random.int(1, 3))
    for (const chain of where) {
      for (let left = random.int(1, 3); left > 0; left--) add(chain, own)
    }
  }
  for (const stranger of strangers) add(random.pick(payingChains), [stranger])
  for (const [index, customer] of agents.entries()) {
    const recipient = agents[index + 1]
    if (index % 3 !== 0 || !recipient) continue
    const buyers = walletsOf(customer)
    const deed = planPayment(random, nextNonce, { ...payers, buyers }, walletsOf(recipient))
    past.push({ daysAgo: random.int(1, 6), deed: { chain: random.pick(payingChains), ...deed } })
  }
  return past
}

/** Days of payments before the earliest registration, and payments on each of them, on each chain with a dollar. */
const historyDays = 30
const mostADay = 4

/** What agents were paid before any of them was registered, oldest first. */
export function planHistory(random: Random, nextNonce: NextNonce, payers: Payers, { agents }: People): PastDeed[] {
  const history: PastDeed[] = []
  for (let daysAgo = oldestDays + historyDays; daysAgo > oldestDays; daysAgo--) {
    for (const chain of payingChains) {
      for (let left = random.int(1, mostADay); left > 0; left--) {
        const recipients = walletsOf(random.pick(agents))
        history.push({ daysAgo, deed: { chain, ...planPayment(random, nextNonce, payers, recipients) } })
      }
    }
  }
  return history
}

export function walletsOf({ verified }: Person): Wallet[] {
  return verified.map(({ wallet }) => wallet)
}
