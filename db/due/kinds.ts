import { escrowFees, escrowHours, escrows, funders } from './escrows.ts'
import { hex, type Kind } from './mark.ts'
import { archivedOwners, incomeHours, paidAgentMarks } from './paid-hours.ts'
import { circles, raterGroups, raters } from './raters.ts'
import { addressesReached, agentAddresses, change, claimEvent, heldBy, ownedBy, registration } from './routes.ts'
import { webhookMarks } from './webhook-marks.ts'

/** FIDs, and ids of registrations, of a part of the directory; the last part has all ids beyond. */
export const agentsOfPart = 1_024
export const registrationsOfPart = 1_024
export const lastRegistrationPart = 4_095
/** The part of the directory's sums that counts an agent, as a key of the kind `totals`. */
export const partOfAgent = (fid: number) => `agents:${Math.floor(fid / agentsOfPart)}`

const verifiedOf = 'moved cross join unnest(moved.verified_addresses) as address'

const listingWord = `'listing:' || action || ':' || fid || ':' || method || ':' || nonce`

const backfillDone = `'backfill:' || id`
const audited = `'audit:' || chain || ':' || from_block || ':' || to_block || ':' || checksum`
const hubFollowed = `'hub:' || (extract(epoch from followed_since) * 1000)::bigint || ':' || url`

const bothSides = {
  key: hex('side.address'),
  from: 'moved cross join lateral (values (moved."from"), (moved."to")) as side (address) where side.address is not null',
}

/** Whose an account is decides about its claims, and about whose its handle is. */
const ownsClaimOrHandle = `moved
     where exists (select from claim c where c.fid = moved.fid and c.state <> 'ended')
        or exists (select from social_profile p where p.fid = moved.fid and p.handle_owner is not null)`

const agentPart = `'agents:' || moved.fid / ${agentsOfPart}`

const supplyPart = `'supply:' || moved.chain || ':' || least(div(moved.agent_id, ${registrationsOfPart}), ${lastRegistrationPart})::int`

const addressPart = (address: string) => `'addresses:' || left(${hex(address)}, 3)`

/** Agents that were paid. Who becomes one later is due then. */
const heldByAgent = `moved
      join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)`

/** Holdings `h` of the registrations that moved. */
const holders =
  'moved join agent_holding h on h.chain = moved.chain and h.agent_id = moved.agent_id and h.reason is null'

/** Agents with the addresses of some counts. */
const heldNow = (counts: string) => `${counts}
      join verified_address v on v.address = moved.address
      join agent a on a.fid = v.fid and moved.address = any (a.verified_addresses)`

/** Agents that an agent paid. Who becomes one later brings what was paid before along. */
const paidByAgent = `moved
      join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = moved.payer and p.ended_at is null and p.fid <> v.fid)`

/**
 * What is derived key by key, each kind behind what it depends on: which rows make keys of it due. `npm run migrate`
 * installs the triggers that do; derivations mark keys of the kinds below them too. How each is derived is in
 * derive/derivations.ts, in the same order.
 */
export const kinds = {
  /** Addresses that got or gave a registration, or are verified otherwise: agents that meet them. Keys: addresses. */
  holders: {
    marks: [
      { table: 'registration_transfer', on: ['insert', 'delete'], ...bothSides },
      { table: 'verified_address', key: hex('address') },
    ],
    all: [{ table: 'registration_transfer', key: hex('"to"') }],
  },
  /** What changed of a registration without its changing hands: its holders. Keys: registrations. */
  registrations: {
    marks: [
      { table: 'registration', key: registration },
      { table: 'registration_document', on: ['insert', 'update'], key: registration },
      { table: 'feedback', key: registration },
    ],
    all: [],
  },
  /** Agents as readers see them. Those with very many holdings make large holders due. Keys: FIDs. */
  agents: {
    marks: [
      { table: 'social_profile', on: ['insert', 'update'], key: 'fid' },
      { table: 'claim', on: ['insert'], key: 'fid' },
      { table: 'claim_event', on: ['insert'], key: 'fid', from: "moved where kind <> 'claimed'" },
      { table: 'custody_reading', on: ['insert', 'update'], key: 'fid' },
      { table: 'fid_custody', on: ['insert', 'delete'], key: 'fid', from: ownsClaimOrHandle },
      { table: 'unlisted', on: ['insert', 'delete'], key: 'fid' },
      { table: 'agent_spec_check', on: ['insert', 'update'], key: 'fid' },
      { table: 'oli_tag', key: 'fid' },
      { table: 'agent_identity', key: 'fid' },
      { table: 'codehost_profile', key: 'fid' },
      {
        table: 'control_reading',
        on: ['insert', 'delete'],
        key: 'h.fid',
        from: `${holders} where moved.names::text <> '[]'`,
      },
      {
        table: 'control_reading',
        on: ['update'],
        key: 'h.fid',
        from: `(select moved.* from moved join were using (chain, agent_id) where moved.names::text <> were.names::text) ${holders}`,
      },
    ],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'claim', key: 'fid' },
    ],
  },
  /** Holdings of agents to whom very many registrations were transferred, each once a minute. Keys: FIDs. */
  'large holders': { marks: [], all: [{ table: 'large_holder', key: 'fid' }] },
  /** The agents of those holdings. Keys: FIDs. */
  'summed holders': { marks: [], all: [] },
  /** Registrations as the search over all of them finds them. Keys: registrations, and holders for all of theirs. */
  'searched registrations': {
    marks: [
      { table: 'registration', key: registration },
      { table: 'registration_document', key: registration },
      { table: 'registration_metadata', key: registration },
      { table: 'feedback', key: registration },
      { table: 'registration_approval', on: ['insert', 'delete'], key: registration },
      { table: 'verified_address', ...heldBy('moved', 'moved.address') },
      { table: 'agent', on: ['insert', 'delete'], ...heldBy(verifiedOf, 'address') },
      {
        table: 'agent',
        on: ['update'],
        ...heldBy(`${verifiedOf} join were on were.fid = moved.fid and were.claimed <> moved.claimed`, 'address'),
      },
    ],
    all: [
      { table: 'registration', key: registration },
      { table: 'searched_registration', key: registration },
    ],
  },
  /** What registrations that agents hold declare, and how much feedback they have. Keys: FIDs, `<fid>:` of large holders. */
  declarations: {
    marks: [
      { table: 'agent', on: ['insert'], key: 'fid' },
      { table: 'agent_holding', key: 'fid' },
      { table: 'searched_registration', on: ['insert', 'delete'], key: 'h.fid', from: holders },
      {
        table: 'searched_registration',
        on: ['update'],
        key: 'h.fid',
        from: `(select moved.* from moved join were using (chain, agent_id)
             where (moved.feedback_count, moved.terms) is distinct from (were.feedback_count, were.terms)) ${holders}`,
      },
    ],
    all: [{ table: 'agent', key: 'fid' }],
  },
  /** Who can change an agent; a change of that is an event of the directory. Keys: FIDs. */
  control: {
    marks: [
      { table: 'agent_change', on: ['insert'], key: 'fid' },
      { table: 'registration_operator', on: ['insert', 'delete'], ...ownedBy('moved.owner') },
      { table: 'registration_approval', on: ['insert', 'delete'], key: 'h.fid', from: holders },
      { table: 'control_reading', on: ['insert', 'update'], key: 'h.fid', from: holders },
    ],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'agent_control', key: 'fid' },
    ],
  },
  /** What addresses of agents were paid, by rolling window. Keys: addresses. */
  recipients: {
    marks: [
      ...agentAddresses(hex),
      // One that is stored while its agent loses the address is to be forgotten.
      { table: 'recipient_counts', on: ['insert'], key: hex('address') },
      {
        table: 'settlement_total',
        key: hex('moved.recipient'),
        from: 'moved where exists (select from recipient_counts c where c.address = moved.recipient)',
      },
    ],
    all: [
      { table: 'agent cross join unnest(verified_addresses) as address', key: hex('address') },
      { table: 'recipient_counts', key: hex('address') },
    ],
  },
  /** What agents were paid: what their addresses were. Keys: FIDs. */
  counts: {
    marks: [
      { table: 'agent', on: ['insert'], key: 'fid' },
      {
        table: 'agent',
        on: ['update'],
        key: 'fid',
        from: 'moved join were using (fid) where moved.verified_addresses <> were.verified_addresses',
      },
      { table: 'recipient_counts', on: ['insert'], key: 'v.fid', from: heldNow('moved') },
      {
        table: 'recipient_counts',
        on: ['update'],
        key: 'v.fid',
        from: `${heldNow('moved join were using (address)')}
     where (moved.last_7d, moved.last_30d, moved.ever, moved.newest_at)
         is distinct from (were.last_7d, were.last_30d, were.ever, were.newest_at)`,
      },
    ],
    all: [{ table: 'agent', key: 'fid' }],
  },
  /** Agents whose edges may have changed. Keys: FIDs. */
  neighbours: {
    marks: [
      { table: 'agent_change', on: ['insert'], key: 'fid' },
      { table: 'social_follow', key: 'fid' },
      { table: 'settlement_payer', key: 'v.fid', from: paidByAgent },
    ],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'agent_edge', key: 'fid' },
    ],
  },
  /** Edges between agents. Keys: FIDs. */
  edges: { marks: [], all: [{ table: 'agent_edge', key: 'fid' }] },
  /** Whose wallets, or approved addresses, changed: their holders' income. Keys: registrations. */
  wallets: {
    marks: [
      { table: 'registration_wallet', on: ['insert', 'delete'], key: registration },
      { table: 'registration_approval', on: ['insert', 'delete'], key: registration },
    ],
    all: [],
  },
  /** Addresses whose payments are an agent's income, and those that are its own. Keys: FIDs. */
  income: {
    marks: [
      { table: 'agent_change', on: ['insert'], key: 'fid' },
      { table: 'registration_operator', on: ['insert', 'delete'], ...ownedBy('moved.owner') },
    ],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'income_address', key: 'fid' },
      { table: 'income_owner', key: 'fid' },
    ],
  },
  /** Who put the money into jobs, channels and escrows that was paid out of them. Keys: as of `escrows`. */
  funders,
  /** Money that goes round to an address of an agent. Keys: addresses. */
  rings: {
    marks: [
      { table: 'settlement_payer', ...addressesReached() },
      { table: 'payment_sum', ...addressesReached() },
      { table: 'income_address', on: ['insert', 'delete'], key: hex('moved.address') },
    ],
    all: [
      { table: 'income_address', key: hex('address') },
      { table: `circle_reach where kind = 'rings'`, key: hex('address') },
    ],
  },
  /** What refunds took off payments of escrows. Keys: a payment, and a place where its rows moved. */
  escrows,
  /** Hours of all rows of an escrow's payment, which have the flag of its first charge or capture. Keys: as of `escrows`. */
  'escrow hours': escrowHours,
  /** Fees in sums of payments that had none when the first refund came. Keys: payee, payer, chain and funder. */
  'escrow fees': escrowFees,
  /** What addresses of agents were paid in an hour. Keys: `hourKey`. */
  'income hours': incomeHours,
  /** Sums of these hours, which move with them, counted from all of them: only again. Keys: `agent:` or `chain:`, and which. */
  'income sums': {
    marks: [],
    all: [
      { table: 'income_hour', key: `'agent:' || fid` },
      { table: 'income_agent', key: `'agent:' || fid` },
      { table: 'income_hour', key: `'chain:' || chain` },
      { table: 'income_total', key: `'chain:' || chain` },
    ],
  },
  /** Files that feedback names, and the payments that these name. Keys: ids of feedback. */
  'feedback files': {
    marks: [
      { table: 'feedback', key: 'id', from: `moved where feedback_uri <> ''` },
      { table: 'feedback_file', on: ['insert', 'delete'], key: 'feedback_id' },
      {
        table: 'feedback_file',
        on: ['update'],
        key: 'feedback_id',
        from: 'moved join were using (feedback_id) where moved.payment_tx is distinct from were.payment_tx',
      },
    ],
    all: [{ table: `feedback where feedback_uri <> ''`, key: 'id' }],
  },
  /** Clients who gave feedback, and what they did otherwise. Keys: addresses. */
  raters,
  /** Clients who rate each other in circles. Keys: addresses. */
  circles,
  /** Clients who act as one. Keys: a rule of feedback_rule with the subject of a group. */
  'rater groups': raterGroups,
  /** Agents whose own addresses paid them before these were theirs, when settlements are archived. Keys: chain, and a FID. */
  'archived owners': archivedOwners,
  /** Who pays agents, and who of them comes back. Keys: FIDs. */
  demand: {
    marks: paidAgentMarks,
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'agent_demand', key: 'fid' },
    ],
  },
  /** What agents were paid, by chain and window, which rankings are made of. Keys: FIDs. */
  figures: {
    marks: [
      { table: 'settlement_total', key: 'v.fid', from: heldByAgent },
      { table: 'income_hour', key: 'fid' },
      { table: 'agent_change', on: ['insert'], key: 'fid' },
    ],
    all: [
      { table: 'agent', key: 'fid' },
      { table: 'figure_derivation', key: 'fid' },
      { table: 'agent_figure', key: 'fid' },
    ],
  },
  /** Sums over the whole directory, in parts. Keys: parts of agents by FID, of addresses, of a chain's registrations by id. */
  totals: {
    marks: [
      { table: 'agent', on: ['insert', 'delete'], key: agentPart },
      {
        table: 'agent',
        on: ['update'],
        key: agentPart,
        from: 'moved join were using (fid) where (moved.claimed, moved.chains) is distinct from (were.claimed, were.chains)',
      },
      ...agentAddresses(addressPart),
      { table: 'recipient_counts', key: addressPart('moved.address') },
      {
        table: 'registration_transfer',
        on: ['insert', 'delete'],
        key: addressPart('moved."to"'),
        from: 'moved where moved."to" is not null',
      },
      { table: 'registration', on: ['insert', 'delete'], key: supplyPart },
      {
        table: 'registration',
        on: ['update'],
        key: supplyPart,
        from: 'moved join were using (id) where moved.burned <> were.burned',
      },
    ],
    all: [
      { table: 'agent moved', key: agentPart },
      { table: 'agent cross join unnest(verified_addresses) as address', key: addressPart('address') },
      { table: 'registration_transfer', key: addressPart('"to"') },
      { table: 'registration moved', key: supplyPart },
      { table: 'directory_sum', key: 'part' },
    ],
  },
  /**
   * What the transparency log is to have. Keys: events of claims, words of accounts on their listing, certificates of blocks,
   * hubs from when they are followed, and changes of the directory.
   */
  'logged facts': {
    marks: [
      { table: 'claim_event', on: ['insert'], key: claimEvent },
      { table: 'claim_action', on: ['insert'], key: listingWord, from: `moved where action <> 'withdraw'` },
      { table: 'backfill', on: ['insert', 'update'], key: backfillDone, from: 'moved where completed_at is not null' },
      { table: 'audit_certificate', on: ['insert', 'update'], key: audited },
      {
        table: 'hub_standing',
        on: ['insert', 'update'],
        key: hubFollowed,
        from: 'moved where followed_since is not null',
      },
      { table: 'agent_change', on: ['insert'], key: change },
    ],
    // db/queries/transparency/epoch.ts takes these by position: the time is in another column of each.
    all: [
      { table: 'claim_event', key: claimEvent },
      { table: `claim_action where action <> 'withdraw'`, key: listingWord },
      { table: 'backfill where completed_at is not null', key: backfillDone },
      { table: 'audit_certificate', key: audited },
      { table: 'hub_standing where followed_since is not null', key: hubFollowed },
      { table: 'agent_change', key: change },
    ],
  },
  /** What webhooks are sent, once there is one. Keys: changes, claims, looks at agents' endpoints, webhooks moved. */
  'webhook events': {
    marks: webhookMarks,
    all: [],
  },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof kinds
