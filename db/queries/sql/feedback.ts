import { profileLimits } from '../../../config/limits.ts'
import { hasPaid } from '../../due/paid-hours.ts'
import { list } from './json-text.ts'

// Feedback on agents: rows of the view judged_feedback, which says who gave it. Addresses cost nothing, so it says little
// how many gave it; accounts that verified theirs, agents and payers can be told apart.

/** Values of `client`: feedback by the agent itself, another agent, another account, or anybody else. */
export const clientKinds = ['self', 'agent', 'account', 'stranger'] as const

/** Values of `grounds`, what feedback rests on, as of the view. */
export const groundKinds = ['payment', 'payment_named', 'contradicted', 'file', 'hash_mismatch', 'none'] as const

/** Values of `flags`, the rules by which feedback is flagged, as of the view feedback_rule. */
export const flagRules = ['circle', 'funding_chain', 'made_together', 'only_rates', 'shared_funder'] as const

/**
 * SQL: whether a sum of payment_sum is of money that nobody behind its payee had put in, or signed for with another's key, as of
 * income, and that so much was paid of.
 */
export const isPaid = (sum: string, atLeast: number) => `${hasPaid(sum, atLeast)} and ${sum}.funder <> ${sum}.payee
             and not exists (select from income_owner o
                               join income_address i on i.fid = o.fid and i.address = ${sum}.payee and i.chain in ('', ${sum}.chain)
                              where ${sum}.funder <> '' and o.address in (${sum}.payer, ${sum}.funder) and o.because <> 'operator'
                                and o.from_at <= ${sum}.first_at)`

/** SQL: array of the rules that flag a feedback `f`. */
export const flagsOf = (f: string) => `array(select x.rule from feedback_flag x where x.id = ${f}.id order by x.rule)`

/** SQL: whether the agent responded to a feedback `f`, from an address that was its own then: verified, a wallet or an operator. */
export const answered = (fid: string) => `exists (
         select from income_owner o
           join feedback_response r
             on r.chain = f.chain and r.agent_id = f.agent_id and r.client = f.client
            and r.feedback_index = f.feedback_index and r.responder = o.address and r.block_timestamp >= o.from_at
            and r.block_timestamp < o.to_at
            and (o.because <> 'verified'
                 or exists (select from verified_address v
                             where v.fid = o.fid and v.address = o.address
                               and (v.ended_at is null or v.ended_at > r.block_timestamp)))
          where o.fid = ${fid} and o.because <> 'holder')`

/** SQL: the rating of a feedback as an exact decimal, scaled by its `value_decimals`. */
export const feedbackValue = (f: string) => `(${f}.value * ('1e-' || ${f}.value_decimals)::numeric)`

/** SQL: a tag as it is shown; clients may write tags of any length. */
export const shownTag = (tag: string) => `left(${tag}, ${profileLimits.feedbackTagCharacters})`

/** SQL: whether no rule flags feedback. */
const isPlain = 'cardinality(flags) = 0'
/** SQL: whether feedback rests on a payment to the agent by somebody else, and no rule flags it. */
const isGrounded = `grounds in ('payment', 'payment_named') and ${isPlain}`
const tagObject = `json_build_object('tag', t.tag, 'unit', t.unit, 'feedback', t.feedback, 'median', t.median,
      'feedback_known', t.feedback_known, 'median_known', t.median_known, 'count_grounded', t.count_grounded,
      'median_grounded', t.median_grounded, 'count_unflagged', t.count_unflagged, 'median_unflagged', t.median_unflagged)`
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
  select f.revoked_block is null as stands, f.before_holder, f.kind, f.client, f.client_fid, f.paid, f.grounds,
         ${answered('f.fid')} as answered, ${shownTag('f.tag1')} as tag, f.unit,
         ${feedbackValue('f')} as value,
         ${flagsOf('f')} as flags
    from judged_feedback f
   where f.fid = ${agent}.fid
),
judged as (select * from given where not before_holder),
-- Values of a tag outside its range are of another scale, and no median is of both.
tags as (
  select tag, unit, count(*) as feedback, ${median('value')} as median,
         count(*) filter (where kind in ('agent', 'account')) as feedback_known,
         ${median('value', `kind in ('agent', 'account')`)} as median_known,
         count(*) filter (where ${isGrounded}) as count_grounded, ${median('value', isGrounded)} as median_grounded,
         count(*) filter (where ${isPlain}) as count_unflagged, ${median('value', isPlain)} as median_unflagged
    from judged
   where stands and tag <> ''
   group by tag, unit
   order by feedback_known desc, feedback desc, tag, unit
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
  'grounds', json_build_object(${groundKinds.map((one) => `'${one}', count(*) filter (where stands and grounds = '${one}')`).join(', ')}),
  'count_grounded', count(*) filter (where stands and ${isGrounded}),
  'count_unflagged', count(*) filter (where stands and ${isPlain}),
  'flags', json_build_object(${flagRules.map((one) => `'${one}', count(*) filter (where stands and '${one}' = any (flags))`).join(', ')}),
  'before_holder', (select count(*) from given where stands and before_holder),
  'tags', (select ${list(tagObject, 't.feedback_known desc, t.feedback desc, t.tag, t.unit')} from tags t)
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
