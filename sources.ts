import type { Backoff } from './hosts/backoff.ts'
import { day, hour, minute, second } from './ops/time.ts'

/**
 * A public host that sources ask, and how much may be asked of it. A host that the operator names in its place is his to
 * use: `namedHost`.
 */
export interface PublicHost {
  readonly url: string
  readonly requestsPerSecond: number
  /** Requests in a UTC day, over all processes and restarts; null: any number. */
  readonly perDay: number | null
  /** Name of the setting with the key for it. */
  readonly keySetting?: string
  /** Whether it answers nothing without the key. */
  readonly wantsKey?: boolean
}

export const publicHosts = {
  /** Hypersnap, which answers in bulk too. Its operators ask for a gentle pace. */
  hub: { url: 'https://haatz.quilibrium.com', requestsPerSecond: 4, perDay: null },
  /** The smallest plan allows 600 a minute on the routes used. */
  neynar: {
    url: 'https://api.neynar.com',
    requestsPerSecond: 5,
    perDay: null,
    keySetting: 'NEYNAR_API_KEY',
    wantsKey: true,
  },
  /** Free keys allow five a second and 100,000 credits a day, of which a request takes 20. */
  blockscout: {
    url: 'https://api.blockscout.com',
    requestsPerSecond: 4,
    perDay: 4_500,
    keySetting: 'BLOCKSCOUT_API_KEY',
    wantsKey: true,
  },
  oli: {
    url: 'https://api.openlabelsinitiative.org',
    requestsPerSecond: 2,
    perDay: 10_000,
    keySetting: 'OLI_API_KEY',
    wantsKey: true,
  },
  /** The limit is not published; the service is free. */
  web3bio: { url: 'https://api.web3.bio', requestsPerSecond: 1, perDay: 40_000, keySetting: 'WEB3BIO_API_KEY' },
  /** With a token: 5,000 requests an hour. */
  github: { url: 'https://api.github.com', requestsPerSecond: 1, perDay: 100_000, keySetting: 'GITHUB_TOKEN' },
} as const satisfies Record<string, PublicHost>

/** GitHub allows 60 requests an hour without a token, so that there is a minute between two. */
export const githubWithoutToken: PublicHost = { ...publicHosts.github, requestsPerSecond: 1 / 61, perDay: 1_400 }

/** Questions to a chain's node, of which an account takes one for each key and one for each contract wallet. */
export const proofNode = { requestsPerSecond: 10, perDay: null }

/** 429 and Retry-After are obeyed there as well. */
export const namedHost = { requestsPerSecond: 100, perDay: null }

/** What a subject is: `fid:123`, `address:0x…` (a holder), `token:base:12`, `shard:1`, `facilitator:PayAI`, or the one subject `hub`. */
type SubjectKind = 'fid' | 'address' | 'token' | 'shard' | 'hub' | 'facilitator'

/** One kind of question put to the world, and when it is put. Who asks it is a folder of `enrichment/`. */
export interface SourceRow {
  /** Value of `source_state.source`, of `enrichment --once --source` and of metrics. */
  readonly name: string
  readonly subject: SubjectKind
  /** What the source is to somebody who does not run the job. */
  readonly label: string
  /** The profile's `last_<field>_at` tells of its attempts; sources may share a field. */
  readonly profileField?: string
  /** Asked about every agent, anew when this about it changes. Others are asked for where their subjects come from. */
  readonly askedAbout?: 'addresses' | 'accounts' | 'messages' | 'nothing'
  /** `enrichment --once` reads of a FID: it, its verified addresses, or the registrations these hold. Absent: nothing. */
  readonly once?: 'fid' | 'addresses' | 'registrations'
  /** From an answer to the next look, in milliseconds, by what the answer was about. */
  readonly cadenceMs: Readonly<Record<string, number>>
  readonly retry: Backoff
  /** Subjects leased in one pass at most. */
  readonly batch: number
  /** Subjects that one request round takes. */
  readonly perRead: number
  /** After this a subject that was leased and not finished may be leased by anybody. */
  readonly leaseMs: number
}

/** Milliseconds to the next attempt, for what is asked about agents and their addresses. */
const daily: Backoff = { baseMs: minute, capMs: day }

/** In the order of the profile's fields. */
export const sources = {
  /** Accounts of the index, read anew: verified set, profile, last activity. Events bring what changes in between. */
  fids: {
    name: 'socialindex',
    subject: 'fid',
    label: 'Accounts of the social network',
    profileField: 'socialindex',
    once: 'fid',
    cadenceMs: { all: day, emptied: 70 * minute, missing: 6 * minute },
    retry: daily,
    batch: 8,
    perRead: 1,
    leaseMs: minute,
  },
  /** How the hub stands, and which shards the network has. */
  shards: {
    name: 'social_shards',
    subject: 'hub',
    label: 'Shards of the social network',
    cadenceMs: { all: 5 * minute },
    retry: { baseMs: 5 * second, capMs: 5 * minute },
    batch: 1,
    perRead: 1,
    leaseMs: 20 * second,
  },
  /** The event stream of a shard; HUB_POLL_SECONDS is its cadence, and the base of its retries. */
  events: {
    name: 'social_events',
    subject: 'shard',
    label: 'Events of the social network',
    cadenceMs: {},
    retry: { baseMs: second, capMs: minute },
    batch: 16,
    perRead: 1,
    leaseMs: 20 * second,
  },
  /** All accounts of a shard, page by page. Events and re-reads keep things fresh between two sweeps. */
  sweep: {
    name: 'social_sweep',
    subject: 'shard',
    label: 'Sweep of all accounts',
    cadenceMs: { all: 30 * day },
    retry: { baseMs: 10 * second, capMs: 10 * minute },
    batch: 1,
    perRead: 1,
    leaseMs: minute,
  },
  /** Holders nobody is known to verify; as many in a request as Neynar takes. */
  lookup: {
    name: 'social_lookup',
    subject: 'address',
    label: 'Accounts by address',
    once: 'addresses',
    cadenceMs: { all: day },
    retry: daily,
    batch: 200,
    perRead: 200,
    leaseMs: minute,
  },
  /** What a registration's agentURI leads to: of a registration that an agent holds, and of any other. */
  agentUri: {
    name: 'agent_uri',
    subject: 'token',
    label: 'Registration documents',
    once: 'registrations',
    cadenceMs: { held: day, others: 7 * day },
    retry: { baseMs: minute, capMs: 7 * day },
    batch: 20,
    perRead: 1,
    leaseMs: 3 * minute,
  },
  /** Tags of an agent's addresses, as Blockscout has them. */
  explorer: {
    name: 'explorer',
    subject: 'fid',
    label: 'Labels of explorers',
    profileField: 'explorer',
    askedAbout: 'addresses',
    once: 'fid',
    cadenceMs: { all: 7 * day },
    retry: daily,
    batch: 40,
    perRead: 20,
    leaseMs: 5 * minute,
  },
  /** Labels that anybody gave verified addresses with the Open Labels Initiative. */
  labels: {
    name: 'explorer_oli',
    subject: 'fid',
    label: 'Open labels',
    profileField: 'explorer',
    askedAbout: 'addresses',
    once: 'fid',
    cadenceMs: { all: 7 * day },
    retry: daily,
    batch: 40,
    perRead: 20,
    leaseMs: 5 * minute,
  },
  /** What an agent is elsewhere. */
  identity: {
    name: 'identity',
    subject: 'fid',
    label: 'Identities elsewhere',
    profileField: 'identity',
    askedAbout: 'addresses',
    once: 'fid',
    cadenceMs: { all: 3 * day },
    retry: daily,
    batch: 20,
    perRead: 10,
    leaseMs: 5 * minute,
  },
  /** The account that an agent names on a host of code. */
  codehost: {
    name: 'codehost',
    subject: 'fid',
    label: 'Code hosts',
    profileField: 'codehost',
    askedAbout: 'accounts',
    once: 'fid',
    cadenceMs: { all: day },
    retry: daily,
    batch: 4,
    perRead: 1,
    leaseMs: 15 * minute, // without a token there is a minute between two requests
  },
  /** The machine-readable documents on an agent's own hosts: all is well, something known fails, there is nothing. */
  specs: {
    name: 'spec_discovery',
    subject: 'fid',
    label: 'Specs on agents’ hosts',
    profileField: 'spec_discovery',
    once: 'fid',
    cadenceMs: { well: 6 * hour, failing: hour, nothing: 7 * day },
    retry: { baseMs: hour, capMs: 7 * day },
    batch: 10,
    perRead: 1,
    leaseMs: 5 * minute,
  },
  /** Where the keys stand that signed for an agent's addresses, and what its contract wallets say: asked of the chains. */
  proofs: {
    name: 'social_proofs',
    subject: 'fid',
    label: 'Proofs of verified addresses',
    askedAbout: 'messages',
    once: 'fid',
    cadenceMs: { settled: 30 * day, open: day },
    retry: daily,
    batch: 20,
    perRead: 1,
    leaseMs: minute,
  },
  /** Whether the other hubs of HUB_URL know the messages of an agent's addresses. */
  witnesses: {
    name: 'social_witnesses',
    subject: 'fid',
    label: 'Second hubs',
    askedAbout: 'messages',
    once: 'fid',
    cadenceMs: { all: 6 * hour, away: hour, missing: 6 * minute },
    retry: daily,
    batch: 8,
    perRead: 1,
    leaseMs: minute,
  },
  /** What the claims of an account rest on: looked at daily, and when something speaks against one. */
  claims: {
    name: 'claim_checks',
    subject: 'fid',
    label: 'Claims that stand',
    once: 'fid',
    cadenceMs: { all: day, pending: minute, unknown: hour },
    retry: { baseMs: minute, capMs: 6 * hour },
    batch: 8,
    perRead: 1,
    leaseMs: 2 * minute,
  },
  /** Whom an agent follows, all of it. Events bring what changes in between. */
  follows: {
    name: 'social_follows',
    subject: 'fid',
    label: 'Who follows whom',
    askedAbout: 'nothing',
    once: 'fid',
    cadenceMs: { all: day },
    retry: daily,
    batch: 8,
    perRead: 1,
    leaseMs: 2 * minute,
  },
  /** Which accounts facilitators say that they send from. */
  facilitators: {
    name: 'facilitator_signers',
    subject: 'facilitator',
    label: 'Accounts of facilitators',
    cadenceMs: { all: day },
    retry: daily,
    batch: 4,
    perRead: 1,
    leaseMs: 2 * minute,
  },
} as const satisfies Record<string, SourceRow>

export const sourceRows: readonly SourceRow[] = Object.values(sources)

/** The row with this name; undefined: there is none. */
export function sourceNamed(name: string): SourceRow | undefined {
  return sourceRows.find((row) => row.name === name)
}

/** Names of the sources for which the question is answered with yes, in the table's order. */
export function namesOf(asks: (row: SourceRow) => boolean): string[] {
  return sourceRows.filter(asks).map(({ name }) => name)
}

/** Words of the profile's fields `last_<word>_at`, in the profile's order. */
export const profileFieldsOfSources: readonly string[] = [
  ...new Set(sourceRows.flatMap(({ profileField }) => profileField ?? [])),
]
