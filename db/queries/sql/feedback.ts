import { profileLimits } from '../../../limits.config.ts'
import { list } from './json-text.ts'

// Who gave feedback. Addresses cost nothing, so it says little how many gave it; accounts that verified theirs, agents and
// payers can be told apart. `Agent` is the alias of the agent that was judged.

/** Values of `client`: feedback by the agent itself, another agent, another account, or anybody else. */
export const clientKinds = ['self', 'agent', 'account', 'stranger'] as const

/** SQL: the account that verifies each client's address now; of several the agent itself, else an agent. */
const accountsBehind = (clients: string, agent: string) => `
  select distinct on (v.address) v.address as client, v.fid,
         case when v.fid = ${agent}.fid then 'self' when peer.fid is not null then 'agent' else 'account' end as kind
    from ${clients} c
    join verified_address v on v.address = c.client and v.ended_at is null
    left join agent peer on peer.fid = v.fid
   where not exists (select from unlisted u where u.fid = v.fid)
   order by v.address, v.fid <> ${agent}.fid, peer.fid is null, v.fid`

/**
 * SQL: when each client first paid the agent more than zero, in final blocks that are rolled up. Clients are looked up
 * one by one: the planner would otherwise read all payers of the agent for each client.
 */
const firstPaid = (clients: string, agent: string) => `
  select c.client, min(coalesce(s.first_paid_at, s.first_at)) as paid_at
    from ${clients} c
   cross join unnest(${agent}.verified_addresses) as paid (address)
   cross join lateral (
     select s.first_at, s.first_paid_at, s.amount, s.overload
       from settlement_payer s
      where s.recipient = paid.address and s.payer = c.client
     offset 0
   ) s
   where s.amount > 0 and not s.overload
   group by c.client`

/**
 * CTEs `accounts` and `paid`: what is known of the clients of the feedback in a relation, for `knownOf`. Each client is
 * looked up once.
 */
export const knownClients = (given: string, agent: string) => `
clients as materialized (select distinct client from ${given}),
accounts as materialized (${accountsBehind('clients', agent)}),
paid as materialized (${firstPaid('clients', agent)})`

/** Joins feedback `f` with what is known of its client, and the columns that come of it. */
export const knownOf = `
    left join accounts k on k.client = f.client
    left join paid p on p.client = f.client`
export const knownColumns = `coalesce(k.kind, 'stranger') as kind, k.fid as client_fid,
         coalesce(k.kind <> 'self', true) and coalesce(p.paid_at < f.block_timestamp, false) as paid`

/** Whether the agent responded to a feedback `f`, from an address that it verifies now. */
export const answered = (agent: string) => `exists (select from feedback_response r
          where r.chain = f.chain and r.agent_id = f.agent_id and r.client = f.client
            and r.feedback_index = f.feedback_index and r.responder = any (${agent}.verified_addresses))`

/** SQL: the rating of a feedback as an exact decimal, scaled by its `value_decimals`. */
export const feedbackValue = (f: string) => `(${f}.value * ('1e-' || ${f}.value_decimals)::numeric)`

/** SQL: a tag as it is shown; clients may write tags of any length. */
export const shownTag = (tag: string) => `left(${tag}, ${profileLimits.feedbackTagCharacters})`

const tagObject = `json_build_object('tag', t.tag, 'feedback', t.feedback, 'median', t.median,
      'feedback_known', t.feedback_known, 'median_known', t.median_known)`
const median = (value: string, filter = 'true') =>
  `percentile_disc(0.5) within group (order by ${value}) filter (where ${filter})`

/**
 * SQL: whether feedback on the registration of a holding `h` is feedback on its agent: it holds it now, and no stranger
 * sent it, with what others said of him.
 */
export const isJudged = 'h.reason is null and not h.unsolicited'

/** JSON of the totals of feedback on the registrations that an agent holds now. */
export const feedbackSummary = (agent: string) => `(
with given as materialized (
  select f.client, f.block_timestamp, f.revoked_block is null as stands, ${answered(agent)} as answered, ${shownTag('f.tag1')} as tag, ${feedbackValue('f')} as value
    from agent_holding h
    join feedback f using (chain, agent_id)
   where h.fid = ${agent}.fid and ${isJudged}
),
${knownClients('given', agent)},
judged as materialized (
  select f.stands, f.answered, f.client, f.tag, f.value, ${knownColumns}
    from given f ${knownOf}
),
tags as (
  select tag, count(*) as feedback, ${median('value')} as median,
         count(*) filter (where kind in ('agent', 'account')) as feedback_known,
         ${median('value', `kind in ('agent', 'account')`)} as median_known
    from judged
   where stands and tag <> ''
   group by tag
   order by feedback_known desc, feedback desc, tag
   limit ${profileLimits.feedbackTags}
)
select json_build_object(
  'total', count(*) filter (where stands),
  'revoked', count(*) filter (where not stands),
  'clients', count(distinct client) filter (where stands),
  'accounts', count(distinct client_fid) filter (where stands and kind <> 'self'),
  'by_agents', count(*) filter (where stands and kind = 'agent'),
  'by_accounts', count(*) filter (where stands and kind = 'account'),
  'by_strangers', count(*) filter (where stands and kind = 'stranger'),
  'by_self', count(*) filter (where stands and kind = 'self'),
  'paid', count(*) filter (where stands and paid),
  'answered', count(*) filter (where stands and answered),
  'tags', (select ${list(tagObject, 't.feedback_known desc, t.feedback desc, t.tag')} from tags t)
)
  from judged)`

/**
 * Summary of the feedback on an agent, for its profile: counted while it is asked for as long as there is little to count; of others the job has
 * counted it, up to some minutes ago. Null: it has not yet.
 */
export const profileFeedback = `
case when a.current_total <= ${profileLimits.registrations} and ${feedbackOf('a')} <= ${profileLimits.feedbackCountedAtOnce}
     then ${feedbackSummary('a')}
     else (select k.summary from agent_feedback k where k.fid = a.fid) end`

/** How much feedback an agent got on the registrations that it holds now, revoked or not. */
function feedbackOf(agent: string): string {
  return `(select coalesce(sum(t.standing + t.revoked), 0)
         from agent_holding h join feedback_total t using (chain, agent_id)
        where h.fid = ${agent}.fid and ${isJudged})`
}
