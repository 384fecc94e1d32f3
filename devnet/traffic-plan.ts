import { type DefaultChain, defaultChainNames } from '../config/chains.ts'
import type { Deed } from './world/deeds.ts'
import { type DocumentOptions, toAgentUri, uriKinds } from './world/documents.ts'
import { feedbackTags } from './world/feedback.ts'
import type { Wallet } from './world/keys.ts'
import { createNonces, payingChains, planPayment, walletsOf } from './world/payments.ts'
import { type World, walletsOfWorld } from './world/plan.ts'
import { createRandom } from './world/random.ts'

/** An identity whose owner's key is at hand. */
interface Holding {
  readonly chain: DefaultChain
  readonly agentId: bigint
  readonly owner: Wallet
}

/** Chooses the deeds of a world after its start, one at a time. */
interface TrafficPlan {
  /** The next deed that is possible if those before it succeed. Identities in an unfinished deed are left alone. */
  next(): Deed
  /** Records the outcome of a deed; `registered` is the identity it made. */
  ended(deed: Deed, outcome: { readonly success: boolean; readonly registered?: bigint }): void
}

/** Kinds of deeds, each as often as its share out of a hundred. */
const kinds: readonly Deed['kind'][] = [
  ...Array<Deed['kind']>(70).fill('pay'),
  ...Array<Deed['kind']>(8).fill('register'),
  ...Array<Deed['kind']>(8).fill('feedback'),
  ...Array<Deed['kind']>(6).fill('transfer'),
  ...Array<Deed['kind']>(5).fill('set-uri'),
  ...Array<Deed['kind']>(3).fill('set-wallet'),
]
const strangerShare = 0.1

/** Plans the deeds after the start. Deterministic for a seed, as long as deeds end in the same order. */
export function planTraffic(world: World): TrafficPlan {
  const random = createRandom(`${world.seed}/traffic`)
  const nextNonce = createNonces(`${world.seed}/traffic`)
  const recipients = world.people.agents.flatMap(walletsOf)
  const wallets = new Map(walletsOfWorld(world).map((wallet) => [wallet.address, wallet]))
  const everybody = [...wallets.values()]
  // The first agent keeps its identities, so that examples in documents stay true.
  const firstAgent = new Set(
    (world.people.agents[0] ? walletsOf(world.people.agents[0]) : []).map((one) => one.address),
  )
  const idle = world.tokens.flatMap(({ chain, agentId, owner }): Holding[] => {
    const wallet = owner === null || firstAgent.has(owner) ? undefined : wallets.get(owner)
    return wallet ? [{ chain, agentId, owner: wallet }] : []
  })
  const moving = new Map<Deed, Holding>()

  const take = (deedOf: (holding: Holding) => Deed): Deed => {
    const [holding] = idle.splice(random.int(0, idle.length - 1), 1) as [Holding]
    const deed = deedOf(holding)
    moving.set(deed, holding)
    return deed
  }
  const planPay = (): Deed => {
    const to = random.chance(strangerShare) ? world.strangers : recipients
    return { chain: random.pick(payingChains), ...planPayment(random, nextNonce, world, to) }
  }
  const uriOf = (by: Wallet) => {
    const words: DocumentOptions = {
      name: `Newcomer ${by.address.slice(2, 8)}`,
      description: 'Registered while you were watching.',
      host: null,
      x402: random.chance(0.5),
      studio: false,
    }
    return toAgentUri(random.pick(uriKinds), words)
  }

  return {
    next() {
      const kind = random.pick(kinds)
      if (kind === 'register') {
        const by = random.pick(everybody)
        return { kind, chain: random.pick(defaultChainNames), by, uri: uriOf(by) }
      }
      if (kind === 'pay' || idle.length === 0) return planPay()
      if (kind === 'feedback') {
        const { chain, agentId, owner } = random.pick(idle)
        const by = random.pick(everybody.filter((wallet) => wallet !== owner))
        return { kind, chain, by, agentId, value: BigInt(random.int(-20, 1000)), tag: random.pick(feedbackTags) }
      }
      return take(({ chain, agentId, owner }) => {
        if (kind === 'set-uri') return { kind, chain, by: owner, agentId, uri: uriOf(owner) }
        if (kind === 'set-wallet') return { kind, chain, by: owner, agentId, wallet: random.pick(everybody) }
        const to = random.pick(everybody.filter((wallet) => wallet !== owner))
        return { kind: 'transfer', chain, by: owner, agentId, to: to.address }
      })
    },
    ended(deed, { success, registered }) {
      const holding = moving.get(deed)
      moving.delete(deed)
      if (holding) {
        const owner = success && deed.kind === 'transfer' ? wallets.get(deed.to) : holding.owner
        if (owner) idle.push({ ...holding, owner })
      }
      if (success && registered !== undefined) idle.push({ chain: deed.chain, agentId: registered, owner: deed.by })
    },
  }
}
