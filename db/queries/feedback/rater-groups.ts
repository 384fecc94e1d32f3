import { incomeLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import { isPaid } from '../sql/feedback.ts'

// Clients that act as one by a rule that counts them: rows of feedback_group but for those of circles.

/** Rows that are read of one group: clients and payees of a funder, newest feedback on a registration. */
const mostRead = 50_000

/** SQL: whether a sum of payment_sum is more than dust: whoever sends that to others is no exchange. */
const isPaidMore = isPaid('p', incomeLimits.dustBelow)

interface Counted {
  /** Clients of the group, and of those its share is of. */
  readonly clients: string
  readonly compared: string
  /** What else must hold. Default: nothing. */
  readonly holds?: string
  /** A multirange of the times in which its clients first rated; others are not of it. Default: null, which is any time. */
  readonly times?: string
  /** SQL behind `from`, over `own.subject` and its parts by colons in `own.part`. */
  readonly from: string
}

/** Those who gave feedback on a registration in a time, each once, with what is known of them. */
const clientsOf = (time: string) => `
  (select f.client, min(f.block_timestamp) as at
     from (select f.client, f.block_timestamp
             from feedback f
            where f.chain = own.part[1] and f.agent_id = own.part[2]::numeric ${time}
            order by f.block_timestamp desc, f.block_number desc, f.log_index desc
            limit ${mostRead}) f
    group by f.client) f
  left join feedback_client c using (client)`

const hour = `timestamptz 'epoch' + own.part[3]::bigint * interval '1 hour'`

/**
 * Times in which a group's clients came the fastest: runs of as many as the rule asks for at least, in up to four times as
 * long as the fastest of these, or an hour. Clients from before a flood are not in its run.
 */
const runs = `(
       select range_agg(tstzrange(run.at, run.until, '[]'))
         from (select f.at, f.until, min(f.until - f.at) over () as fastest
                 from (select f.at, lead(f.at, rule.least_clients - 1) over (order by f.at, f.client) as until
                         from ${clientsOf('')}
                        where c.is_idle) f
                where f.until is not null) run
        where run.until - run.at <= greatest(4 * run.fastest, interval '1 hour'))`

const rules: Readonly<Record<string, Counted>> = {
  // Whoever pays very many, or others mostly, is an exchange, a faucet or an employer: those it paid share nothing.
  shared_funder: {
    clients: 'max(its.n)',
    compared: 'count(distinct paid.address) filter (where paid.is_paid)',
    holds: `max(its.n) <= ${mostRead} and max(its.registrations) * 4 <= max(its.n) and count(*) <= ${mostRead}`,
    from: `(
     (select p.recipient as address, p.amount >= ${incomeLimits.dustBelow} as is_paid
        from settlement_payer p where p.payer = decode(own.subject, 'hex') and length(p.chain) > 0
       limit ${mostRead + 1})
       union all
      -- Whose money it was has paid it, not who signed.
      select p.payee, ${isPaidMore} and p.funder = ''
        from (select * from payment_sum p where p.payer = decode(own.subject, 'hex') and length(p.chain) > 0
               limit ${mostRead + 1}) p
       union all
      select p.payee, ${isPaidMore}
        from (select * from payment_sum p
               where p.funder = decode(own.subject, 'hex') and p.funder <> '' limit ${mostRead + 1}) p) paid
     cross join (
       select count(distinct c.client) as n, count(distinct registration) as registrations
         from (select c.client, c.registrations from feedback_client c
                where c.funder = decode(own.subject, 'hex') limit ${mostRead + 1}) c
        cross join unnest(c.registrations) registration) its`,
  },
  only_rates: { clients: 'count(*) filter (where c.is_idle)', compared: 'count(*)', times: runs, from: clientsOf('') },
  made_together: {
    clients: `count(*) filter (where c.is_idle and c.seen_at >= ${hour} and c.seen_at < ${hour} + interval '1 hour')`,
    compared: 'count(*)',
    from: clientsOf(`and f.block_timestamp >= ${hour} and f.block_timestamp < ${hour} + interval '1 hour'`),
  },
}

const storeOf = (
  rule: string,
  { clients, compared, holds = 'true', times = 'null::tstzmultirange', from }: Counted,
) => `
with own as materialized (
  select subject, string_to_array(subject, ':') as part from unnest($1::text[]) subject
),
wanted as materialized (
  select own.subject, one.clients, one.compared, ${times} as times
    from own
    join feedback_rule rule on rule.name = '${rule}'
   cross join lateral (
     select ${clients} as clients, ${compared} as compared, ${holds} as holds from ${from}
   ) one
   where one.clients >= rule.least_clients and one.clients >= rule.least_share * one.compared and one.holds
),
gone as (
  delete from feedback_group g
   using own
   where g.rule = '${rule}' and g.subject = own.subject and not exists (select from wanted w where w.subject = own.subject)
)
insert into feedback_group as g (rule, subject, clients, compared, times)
select '${rule}', subject, clients, compared, times from wanted order by subject
    on conflict (rule, subject) do update
   set (clients, compared, times) = row(excluded.clients, excluded.compared, excluded.times)
 where (g.clients, g.compared, g.times) is distinct from (excluded.clients, excluded.compared, excluded.times)`

/** Counts groups, given as a rule and a subject behind a colon, and stores those that the rules flag. */
export async function deriveGroupsOf(db: Queryable, keys: readonly string[]): Promise<void> {
  for (const [rule, counted] of Object.entries(rules)) {
    const subjects = keys.filter((key) => key.startsWith(`${rule}:`)).map((key) => key.slice(rule.length + 1))
    if (subjects.length === 0) continue
    await db.query({ name: `derive-rater-groups-${rule}`, text: storeOf(rule, counted), values: [subjects] })
  }
}
