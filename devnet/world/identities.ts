import type { Hex } from 'viem'
import { type DefaultChain, defaultChainNames } from '../../config/chains.ts'
import type { Metadata } from '../chain/identity.ts'
import type { Deed } from './deeds.ts'
import { type AgentHost, documentOptions, toAgentUri, type UriKind, uriKinds } from './documents.ts'
import type { Wallet } from './keys.ts'
import { lateAgent, movingAgent, type People, type Person, sharingAgents, type VerifiedWallet } from './people.ts'
import type { Random } from './random.ts'

/** A deed of the past. */
export interface PastDeed {
  /** Whole days before the world's start; larger is earlier. */
  readonly daysAgo: number
  readonly deed: Deed
}

/** An identity as it stands once the past is done. */
export interface PlannedToken {
  readonly chain: DefaultChain
  readonly agentId: bigint
  /** Null: burned. */
  readonly owner: Hex | null
}

interface PlannedIdentities {
  /** Deeds of the past, in order of time on each chain. */
  readonly past: readonly PastDeed[]
  readonly tokens: readonly PlannedToken[]
}

/** The earliest registration. */
export const oldestDays = 40
/** Identities that one stranger registered in a single transaction. */
const bulkCount = 20

interface Wish {
  readonly chain: DefaultChain
  readonly daysAgo: number
  readonly by: Wallet
  /** Later deeds on the identity, each after the one before. */
  readonly after?: readonly Step[]
  readonly uris: readonly string[]
  readonly metadata?: readonly Metadata[]
  /** Registered through a contract for `to`, without metadata; absent: registered directly. */
  readonly through?: { readonly kind: 'register-many' | 'register-passing-on'; readonly to: Hex }
}

type Step = { readonly daysAgo: number; readonly by: Wallet } & (
  | { readonly kind: 'transfer'; readonly to: Hex }
  | { readonly kind: 'burn' }
  | { readonly kind: 'set-uri'; readonly uri: string }
)

/**
 * Plans registrations and later deeds on them: every chain has its identity 0, most agents hold on several chains, some
 * sold, some bought back, one burned; strangers hold without any FID.
 */
export function planIdentities(
  random: Random,
  { agents, bystanders }: People,
  strangers: readonly Wallet[],
  agentHost: AgentHost,
): PlannedIdentities {
  const uriOf = (person: Person, index: number, kind: UriKind) =>
    toAgentUri(kind, documentOptions(person, index, agentHost))
  const wishes = agents.flatMap((person, index) => wishesOf(random, person, index, uriOf))
  applyFates(wishes, agents, strangers)

  const held = (by: Wallet, chain: DefaultChain, daysAgo: number): Wish => ({ by, chain, daysAgo, uris: [''] })
  const [custodyOnly, authOnly, seller] = bystanders as [Person, Person, Person]
  wishes.push(
    held(custodyOnly.custody, 'base', 21),
    held((authOnly.auth ?? authOnly.custody) as Wallet, 'celo', 20),
    held((agents[8] as Person).custody, 'ethereum', 19),
  )
  const sold = seller.verified[0]?.wallet as Wallet
  const buyer = strangers[0] as Wallet
  wishes.push({
    ...held(sold, 'gnosis', 18),
    after: [{ kind: 'transfer', daysAgo: 6, by: sold, to: buyer.address }],
  })
  for (const [index, stranger] of strangers.entries()) {
    wishes.push(held(stranger, defaultChainNames[index % defaultChainNames.length] as DefaultChain, random.int(1, 30)))
  }
  wishes.push({
    chain: 'ethereum',
    daysAgo: 12,
    by: strangers[1] as Wallet,
    uris: Array.from({ length: bulkCount }, (_, i) => `data:application/json,{"name":"bulk ${i}"}`),
    through: { kind: 'register-many', to: (strangers[1] as Wallet).address },
  })
  return settle(wishes)
}

function wishesOf(
  random: Random,
  person: Person,
  index: number,
  uriOf: (person: Person, index: number, kind: UriKind) => string,
): Wish[] {
  const first = defaultChainNames[index % defaultChainNames.length] as DefaultChain
  const others = defaultChainNames.filter((chain) => chain !== first)
  const wanted = index === 0 ? defaultChainNames : [first, ...random.sample(others, random.pick([0, 0, 0, 1, 1, 2, 3]))]
  return wanted.map((chain, nth) => ({
    chain,
    // Number 0 of every chain is the first agent's, and nothing else happens on that day.
    daysAgo: index === 0 ? oldestDays : random.int(8, oldestDays - 1),
    by: random.pick(person.verified).wallet,
    uris: [uriOf(person, index, uriKinds[(index + nth) % uriKinds.length] as UriKind)],
    metadata: random.chance(0.2)
      ? [{ key: 'category', value: `0x${Buffer.from('helper').toString('hex')}` }]
      : undefined,
  }))
}

/** Applies what befalls some agents, by index: an identity sold, bought back, burned or registered by a contract. */
function applyFates(wishes: Wish[], agents: readonly Person[], strangers: readonly Wallet[]) {
  const change = (index: number, fate: (wish: Wish, nth: number) => Partial<Wish>) => {
    const addresses = agents[index]?.verified.map(({ wallet }) => wallet.address)
    let nth = 0
    for (const [at, wish] of wishes.entries()) {
      if (addresses?.includes(wish.by.address)) wishes[at] = { ...wish, ...fate(wish, nth++) }
    }
  }
  const addressOf = (index: number) => agents[index]?.verified[0]?.wallet.address as Hex
  const stranger = strangers[2] as Wallet
  // Sold to another agent, or to a stranger: nothing left.
  change(3, ({ by }) => ({ after: [{ kind: 'transfer', daysAgo: 7, by, to: addressOf(4) }] }))
  change(5, ({ by }) => ({ after: [{ kind: 'transfer', daysAgo: 5, by, to: stranger.address }] }))
  // Sold and bought back.
  change(6, ({ by }) => ({
    after: [
      { kind: 'transfer', daysAgo: 6, by, to: stranger.address },
      { kind: 'transfer', daysAgo: 3, by: stranger, to: by.address },
    ],
  }))
  change(7, ({ by }, nth) => (nth === 0 ? { after: [{ kind: 'burn', daysAgo: 4, by }] } : {}))
  change(11, () => ({ through: { kind: 'register-many', to: addressOf(11) }, metadata: undefined }))
  change(12, () => ({ through: { kind: 'register-passing-on', to: addressOf(12) }, metadata: undefined }))
  change(movingAgent, ({ by }) => {
    const other = agents[movingAgent]?.verified.find(({ wallet }) => wallet.address !== by.address)
    return { after: [{ kind: 'transfer', daysAgo: 5, by, to: (other as VerifiedWallet).wallet.address }] }
  })
  change(15, ({ by }) => ({ after: [{ kind: 'set-uri', daysAgo: 2, by, uri: 'https://moved.example/agent.json' }] }))
  change(lateAgent, () => ({ daysAgo: 30 }))
  // The address of two agents holds a token of its own.
  const shared = (agents[sharingAgents[0]] as Person).verified[0]?.wallet as Wallet
  wishes.push({ chain: 'base', daysAgo: 25, by: shared, uris: [''] })
}

/** Numbers the registrations as the contracts will, and orders all deeds by time. */
function settle(wishes: readonly Wish[]): PlannedIdentities {
  const ordered = [...wishes].sort((a, b) => b.daysAgo - a.daysAgo)
  const next = new Map<DefaultChain, bigint>()
  const past: PastDeed[] = []
  const tokens: PlannedToken[] = []
  for (const wish of ordered) {
    const { chain, daysAgo, by, through, uris, after = [] } = wish
    past.push({ daysAgo, deed: toRegistration(wish) })
    let owner: Hex | null = through?.to ?? by.address
    for (const _ of uris) {
      const agentId = next.get(chain) ?? 0n
      next.set(chain, agentId + 1n)
      for (const { daysAgo, ...step } of after) {
        past.push({ daysAgo, deed: { chain, agentId, ...step } })
        if (step.kind === 'transfer') owner = step.to
        if (step.kind === 'burn') owner = null
      }
      tokens.push({ chain, agentId, owner })
    }
  }
  return { past: past.sort((a, b) => b.daysAgo - a.daysAgo), tokens }
}

function toRegistration({ chain, by, uris, metadata, through }: Wish): Deed {
  if (through?.kind === 'register-many') return { kind: 'register-many', chain, by, uris, to: through.to }
  const uri = uris[0] ?? ''
  if (through) return { kind: 'register-passing-on', chain, by, uri, heir: through.to }
  if (metadata) return { kind: 'register', chain, by, uri, metadata }
  return uri === '' ? { kind: 'register', chain, by } : { kind: 'register', chain, by, uri }
}
