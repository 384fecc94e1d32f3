import type { AgentHost } from './documents.ts'
import { planPastFeedback } from './feedback.ts'
import { type PastDeed, type PlannedToken, planIdentities } from './identities.ts'
import { type Wallet, walletOf } from './keys.ts'
import { createNonces, type Payers, planHistory, planPastPayments, walletsOf } from './payments.ts'
import { type People, type Person, planPeople } from './people.ts'
import { createRandom } from './random.ts'

/** Everybody and everything of the local world at its start. The same for the same seed. */
export interface World extends Payers {
  readonly seed: string
  readonly people: People
  /** Addresses without a FID. */
  readonly strangers: readonly Wallet[]
  /** Account with coins and dollars on every chain, whose key is published to the person who runs the world. */
  readonly funder: Wallet
  /** What was paid before the registries were there, oldest first; empty unless it was asked for. */
  readonly history: readonly PastDeed[]
  /** What happened before the start, oldest first; on each chain in the order it has to be executed. */
  readonly past: readonly PastDeed[]
  /** Every identity, as it stands once the past is done. */
  readonly tokens: readonly PlannedToken[]
}

const strangerCount = 12
const buyerCount = 8
const facilitatorCount = 4

/**
 * `agentHost` gives the address of an agent's own web host, for its agentURI and its services; `history`: whether agents were
 * paid before the registries were there.
 */
export function planWorld(
  seed: string,
  agentHost: AgentHost = exampleHost,
  { history = false }: { readonly history?: boolean } = {},
): World {
  const planned = planPeople(seed)
  const people = {
    ...planned,
    agents: planned.agents.map((person, index) => pictured(person, agentHost(person, index))),
  }
  const many = (label: string, count: number) =>
    Array.from({ length: count }, (_, index) => walletOf(seed, `${label}/${index}`))
  const strangers = many('stranger', strangerCount)
  const payers = { buyers: many('buyer', buyerCount), facilitators: many('facilitator', facilitatorCount) }
  const random = createRandom(`${seed}/past`)
  const { past, tokens } = planIdentities(random, people, strangers, agentHost)
  const payments = planPastPayments(random, createNonces(`${seed}/past`), payers, people, strangers)
  const feedback = planPastFeedback(random, tokens, [
    ...payers.buyers,
    ...strangers,
    ...people.agents.flatMap(walletsOf),
  ])
  return {
    seed,
    people,
    strangers,
    ...payers,
    funder: walletOf(seed, 'funder'),
    history: history
      ? planHistory(createRandom(`${seed}/history`), createNonces(`${seed}/history`), payers, people)
      : [],
    past: [...past, ...payments, ...feedback].sort((a, b) => b.daysAgo - a.daysAgo),
    tokens,
  }
}

/** A person whose agent has a host gets the picture on it as profile picture. */
function pictured(person: Person, host: string | null): Person {
  const { profile } = person
  return host === null || profile.pfp === undefined
    ? person
    : { ...person, profile: { ...profile, pfp: `${host}/avatar.png` } }
}

/** Everybody who holds a key, so that everybody can pay gas. */
export function walletsOfWorld({ people, strangers, buyers, facilitators, funder }: World): Wallet[] {
  const persons = [...people.agents, ...people.bystanders].flatMap(({ custody, auth, verified }) => {
    return [custody, ...(auth ? [auth] : []), ...verified.map(({ wallet }) => wallet)]
  })
  return [...persons, ...strangers, ...buyers, ...facilitators, funder]
}

const exampleHost: AgentHost = ({ profile }, index) =>
  index % 3 === 2 ? null : `https://${(profile.username ?? `agent-${index}`).replaceAll('.', '-')}.agents.example`
