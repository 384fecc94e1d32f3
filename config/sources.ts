import { type Backoff, day, hour, minute, second } from '../ops/time.ts'

/**
 * Kind of thing a source asks about. Subjects are written `fid:123`, `address:0x…` (a holder), `token:base:12` (a
 * registration), `shard:1`, `facilitator:PayAI`, `witness:https://…`, `feedback:base-12-0x…-1`, `webhook:wh-…`, and `hub`,
 * which has no id.
 */
type SubjectKind = 'fid' | 'address' | 'token' | 'shard' | 'hub' | 'facilitator' | 'witness' | 'feedback' | 'webhook'

/** One external source of data and its schedule. The code that asks it is in a folder of `enrichment/`. */
export interface SourceRow {
  /** Value of `source_state.source`, of `enrichment --once --source` and of metrics. */
  readonly name: string
  readonly subject: SubjectKind
  /** Name of the source for readers of pages and answers. */
  readonly label: string
  /** Attempts set `last_<field>_at` of the profile, which sources may share; absent: the profile has no such field. */
  readonly profileField?: string
  /** The part of an agent whose change makes the source due at once, and of which every agent is a subject. Absent: none is. */
  readonly askedAbout?: 'addresses' | 'accounts' | 'messages' | 'nothing'
  /** What `enrichment --once --fid` reads: the FID, its verified addresses, or the registrations these hold. */
  readonly once?: 'fid' | 'addresses' | 'registrations'
  /** Milliseconds from an answer to the next request, by kind of answer. */
  readonly cadenceMs: Readonly<Record<string, number>>
  readonly retry: Backoff
  /** Subjects leased per pass, at most. */
  readonly batch: number
  /** Subjects read together in one round of requests; default: 1. */
  readonly perRead?: number
  /** Passes at the same time, so that subjects that take long do not hold up the rest; default: 1. */
  readonly loops?: number
  /** Reads that a loop may have under way, so that it begins others while some take long; default: a pass waits for its own. */
  readonly atOnce?: number
  /** Duration of a lease, in milliseconds; after it any process may lease an unfinished subject again. */
  readonly leaseMs: number
}

/** Retry backoff of sources about agents and their addresses: from a minute up to a day. */
const daily: Backoff = { baseMs: minute, capMs: day }

/** All sources, in the order of the profile's `last_<field>_at`. */
export const sources = {
  /** Re-reads accounts of the index: verified addresses, profile, last activity. Events bring changes in between. */
  fids: {
    name: 'socialindex',
    subject: 'fid',
    label: 'Accounts of the social network',
    profileField: 'socialindex',
    once: 'fid',
    // Of an account with a claim: every six hours at most, jitter included.
    cadenceMs: { all: day, claimed: 5.4 * hour, emptied: 70 * minute, missing: 6 * minute },
    retry: daily,
    batch: 8,
    leaseMs: minute,
  },
  /** Status of the hub, and the list of the network's shards. */
  shards: {
    name: 'social_shards',
    subject: 'hub',
    label: 'Shards of the social network',
    cadenceMs: { all: 5 * minute },
    retry: { baseMs: 5 * second, capMs: 5 * minute },
    batch: 1,
    leaseMs: 20 * second,
  },
  /** The event stream of a shard; HUB_POLL_SECONDS is its cadence and the base of its backoff. */
  events: {
    name: 'social_events',
    subject: 'shard',
    label: 'Events of the social network',
    cadenceMs: {},
    retry: { baseMs: second, capMs: minute },
    batch: 16,
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
    leaseMs: minute,
  },
  /** Finds the accounts of holders that no known account verifies; a batch is as large as one Neynar request may be. */
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
  /** Fetches the document at a registration's agentURI; more often for a registration that an agent holds. */
  agentUri: {
    name: 'agent_uri',
    subject: 'token',
    label: 'Registration documents',
    once: 'registrations',
    cadenceMs: { held: day, others: 7 * day },
    retry: { baseMs: minute, capMs: 7 * day },
    batch: 20,
    atOnce: 200, // a slow host takes ten seconds, and those behind it wait for it
    leaseMs: 3 * minute,
  },
  /** Fetches the file that a feedback names, until it was read once: feedback never changes. */
  feedbackFiles: {
    name: 'feedback_files',
    subject: 'feedback',
    label: 'Files of feedback',
    cadenceMs: {},
    retry: { baseMs: minute, capMs: 7 * day },
    batch: 20,
    atOnce: 200, // a slow host takes ten seconds, and those behind it wait for it
    leaseMs: 3 * minute,
  },
  /** Asks chains who commands what may act for registrations. `behind`: no final block has the last event yet. */
  control: {
    name: 'control_readings',
    subject: 'token',
    label: 'Who can act for agents',
    once: 'registrations',
    cadenceMs: { held: day, others: 7 * day, behind: 10 * minute },
    retry: daily,
    batch: 20,
    leaseMs: 3 * minute,
  },
  /** Tags that Blockscout has for an agent's addresses. */
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
  /** Labels for an agent's verified addresses at the Open Labels Initiative, where anybody may publish them. */
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
  /** Identities on other platforms that Web3.bio has for an agent's addresses. */
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
  /** The account on GitHub that an agent names as its own. */
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
    leaseMs: 15 * minute, // without a token there is a minute between two requests
  },
  /** Machine-readable documents on an agent's own hosts: all known ones are well, one fails, or there are none. */
  specs: {
    name: 'spec_discovery',
    subject: 'fid',
    label: 'Specs on agents’ hosts',
    profileField: 'spec_discovery',
    once: 'fid',
    cadenceMs: { well: 6 * hour, failing: hour, pages: day, nothing: 7 * day },
    retry: { baseMs: hour, capMs: 7 * day },
    batch: 10,
    atOnce: 100, // a look at a slow host takes minutes
    leaseMs: 5 * minute,
  },
  /** Asks the chains for the state of the keys that signed for an agent's addresses, and its contract wallets. */
  proofs: {
    name: 'social_proofs',
    subject: 'fid',
    label: 'Proofs of verified addresses',
    askedAbout: 'messages',
    once: 'fid',
    cadenceMs: { settled: 30 * day, open: day, pending: 5 * minute },
    retry: daily,
    batch: 20,
    leaseMs: minute,
  },
  /** Whether the other hubs of HUB_URL have the messages that verify an agent's addresses. */
  witnesses: {
    name: 'social_witnesses',
    subject: 'fid',
    label: 'Second hubs',
    askedAbout: 'messages',
    once: 'fid',
    cadenceMs: { all: 6 * hour, away: hour, missing: 6 * minute },
    retry: daily,
    batch: 8,
    leaseMs: minute,
  },
  /** Re-checks the evidence of an account's claims: daily, and when something speaks against one. */
  claims: {
    name: 'claim_checks',
    subject: 'fid',
    label: 'Claims that stand',
    once: 'fid',
    cadenceMs: { all: day, pending: minute, unknown: hour },
    retry: { baseMs: minute, capMs: 6 * hour },
    batch: 8,
    leaseMs: 2 * minute,
  },
  /** The complete list of accounts that an agent follows. Events bring changes in between. */
  follows: {
    name: 'social_follows',
    subject: 'fid',
    label: 'Who follows whom',
    askedAbout: 'nothing',
    once: 'fid',
    cadenceMs: { all: day },
    retry: daily,
    batch: 8,
    leaseMs: 2 * minute,
  },
  /** The accounts that facilitators publish as those they send transactions from. */
  facilitators: {
    name: 'facilitator_signers',
    subject: 'facilitator',
    label: 'Accounts of facilitators',
    cadenceMs: { all: day },
    retry: daily,
    batch: 4,
    leaseMs: 2 * minute,
  },
  /** What witnesses say of the last checkpoint of the transparency log. */
  cosignatures: {
    name: 'log_cosignatures',
    subject: 'witness',
    label: 'Witnesses of the transparency log',
    cadenceMs: { all: 2 * second },
    retry: { baseMs: second, capMs: minute },
    batch: 8,
    leaseMs: 2 * minute,
  },
  /** Endpoints that accounts have events sent to. They come due with each event; the cadence is a look for nothing missed. */
  webhooks: {
    name: 'webhook_endpoints',
    subject: 'webhook',
    label: 'Webhooks',
    cadenceMs: { all: hour, postponed: 2 * second },
    retry: { baseMs: 30 * second, capMs: 30 * second }, // after a fault of this service; after others the source has pauses of its own
    batch: 200,
    loops: 2, // one asks the database while the other sends
    atOnce: 1_000, // a receiver may take 15 seconds to answer
    leaseMs: 2 * minute,
  },
} as const satisfies Record<string, SourceRow>

export const sourceRows: readonly SourceRow[] = Object.values(sources)

/** The source with this name; undefined: there is none. */
export function sourceNamed(name: string): SourceRow | undefined {
  return sourceRows.find((row) => row.name === name)
}

/** Names of the sources for which `asks` is true, in the table's order. */
export function namesOf(asks: (row: SourceRow) => boolean): string[] {
  return sourceRows.filter(asks).map(({ name }) => name)
}

/** The distinct `profileField` values, in the order in which a profile has its `last_<field>_at`. */
export const profileFieldsOfSources: readonly string[] = [
  ...new Set(sourceRows.flatMap(({ profileField }) => profileField ?? [])),
]
