import { incomeLimits, readingLimits } from '../../../config/limits.ts'
import { holdingContracts } from '../../../config/payments.ts'
import type { Queryable } from '../../pool.ts'
import { isRolledUp, unrolledBlocks } from '../sql/block-states.ts'
import { heldContract, heldSign, incomeKinds, isDollar, isHolding } from '../sql/income.ts'
import { firstDue, firstDueOfAll } from '../sql/income-due.ts'
import { dollars, hex, isoTime, textList } from '../sql/json-text.ts'
import { demandObject } from './demand.ts'
import { byOthers, haveOthersPaid, isRing, payingPairs } from './paying-pairs.ts'

/** JSON texts by the name of the member, and since when hours of the agent wait to be summed up; null: none does. */
interface IncomeSums {
  readonly members: Record<string, string>
  readonly due: string | null
}

const { singlePayer, paidBack } = incomeLimits
const { payerSettlements: most } = readingLimits
const within = `interval '${paidBack.days} days'`

/** `{payments, amount_usdc}` of the sums `of` that a condition holds for. */
const sums = (condition = 'true', n = 'n', amount = 'amount') => `json_build_object(
    'payments', coalesce(sum(${n}) filter (where ${condition}), 0)::bigint,
    'amount_usdc', ${dollars(`coalesce(sum(${amount}) filter (where ${condition}), 0)`)})`

/** Members that sums by kind, flag and evidence give: of a relation `sums`. */
const members = `
  (select ${sums()} from sums) as raw,
  (select ${sums(`flag = 'none'`)} from sums) as filtered,
  (select json_agg(json_build_object('kind', kind, 'raw', raw, 'filtered', filtered) order by place)
     from (select k.kind, k.place, ${sums('sums.n is not null')} as raw, ${sums(`flag = 'none'`)} as filtered
             from unnest(array[${textList(incomeKinds)}]) with ordinality as k (kind, place)
             left join sums using (kind)
            group by k.kind, k.place) by_kind) as by_kind,
  (select json_build_object(
     'payments', coalesce(sum(n) filter (where x402), 0)::bigint,
     'amount_usdc', ${dollars('coalesce(sum(amount) filter (where x402), 0)')},
     'share', case when sum(amount) > 0 then
         round(least(greatest(coalesce(sum(amount) filter (where x402), 0) / sum(amount), 0), 1), 6) end) from sums) as x402,
  (select ${sums(`flag = 'self'`)} from sums) as self,
  (select ${sums(`flag = 'same_owner'`)} from sums) as same_owner,
  (select ${sums(`flag = 'ring'`)} from sums) as ring,
  (select ${sums('true', 'dust_n', 'dust_amount')} from sums) as dust,
  (select json_build_object('payments', coalesce(sum(other_n), 0)::bigint) from sums) as other_tokens`

interface Row extends Record<string, string | null> {
  readonly due: string | null
}

/**
 * What an agent was paid, from its hours. Who paid is read from the sums by payer, unless there are more than
 * `readingLimits.payerSettlements` of them.
 */
export async function agentIncome(db: Queryable, fid: number): Promise<IncomeSums> {
  const { rows } = await db.query<Row>({ name: 'agent-income', text: ofAgent, values: [fid] })
  const { due = null, ...texts } = rows[0] ?? {}
  return { members: present(texts), due }
}

/**
 * What all agents together were paid. What one passed on to another in the transaction that paid it is in it once; a payment to an
 * address that two agents verify, twice.
 */
export async function allIncome(db: Queryable): Promise<IncomeSums> {
  const { rows } = await db.query<Row>({ name: 'all-income', text: ofAll })
  const { due = null, ...texts } = rows[0] ?? {}
  return { members: present(texts), due }
}

const present = (texts: Record<string, string | null>) =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text ?? 'null']))

const text = (relation: string, names: readonly string[]) =>
  `select ${names.map((name) => `${name}::text as ${name}`).join(', ')}, due from (${relation}) answer`
const common = ['raw', 'filtered', 'by_kind', 'x402', 'self', 'same_owner', 'ring', 'dust', 'other_tokens']

const ofAll = `
with sums as materialized (select * from income_total where n > 0 or amount <> 0)
${text(`select ${members}, ${firstDueOfAll} as due`, common)}`

const ofAgent = `
with ${unrolledBlocks},
sums as materialized (
  select kind, flag, x402, sum(n) as n, sum(amount) as amount, sum(dust_n) as dust_n, sum(dust_amount) as dust_amount,
         sum(other_n) as other_n, min(first_at) filter (where n > 0) as first_at, max(last_at) filter (where n > 0) as last_at
    from income_hour where fid = $1 group by 1, 2, 3
),
${payingPairs({ fid: '$1', isBounded: true })},
payer as materialized (
  select payer, sum(n) as n, sum(amount) as amount, sum(n) ${byOthers} as others_n, sum(amount) ${byOthers} as others_amount,
         min(first_at) ${byOthers} as others_first_at, max(last_at) ${byOthers} as others_last_at,
         min(amount) < 0 and not bool_or(has_paid) as got_all_back,
         coalesce(bool_or(n > 0 and not own and not ${isRing}), false)
           and (coalesce(min(amount) ${byOthers}, 0) >= 0 or ${haveOthersPaid}) as is_counted
    from pair group by payer having sum(n) > 0
),
-- What the agent paid itself, by whom it paid: mostly little, so it is read whole, and not looked up for each payer.
spent as materialized (
  select r.*
    from (select distinct address from whose) one
   cross join lateral (
     select recipient, amount, first_at, last_at from settlement_payer where payer = one.address and length(chain) > 0
      union all
     select payee, greatest(amount - refunded, 0), first_at, last_at from payment_sum where payer = one.address and length(chain) > 0
     offset 0
   ) r
   limit ${most} + 1
),
given as (
  select recipient, sum(amount) as amount, min(first_at) as first_at, max(last_at) as last_at
    from spent
   where (select count(*) from spent) <= ${most}
   group by recipient
   union all
  select p.payer, r.*
    from payer p
   cross join lateral (
     select sum(r.amount) as amount, min(r.first_at) as first_at, max(r.last_at) as last_at
       from (select recipient, payer, amount, first_at, last_at from settlement_payer
              union all
             select payee, payer, greatest(amount - refunded, 0), first_at, last_at from payment_sum) r
      where r.recipient = p.payer and r.payer in (select address from whose)
   ) r
   where (select count(*) from spent) > ${most}
),
-- What contracts hold for the agent, of dollars alone: anybody deposits what is worth nothing. What does not count is read
-- as well, so the bound is on that.
deposited as materialized (
  select p.*
    from (select distinct address from whose) one
    join payment p on p.payee = one.address and p.token in (select decode(substr(address, 3), 'hex') from chain_contract)
   where ${isHolding('p')}
   limit ${most} + 1
),
holding as (
  select p.*, ${heldContract('p')} as contract, ${heldSign('p')} * p.gross as held
    from deposited p
   where ${isDollar('p')} and ${isRolledUp('p')}
     and exists (select from whose w
                  where w.address = p.payee and w.chain in ('', p.chain)
                    and w.from_at <= p.block_timestamp and p.block_timestamp < w.to_at)
),
-- What was put in may be of a time that is not loaded yet: never less than nothing, and not at the cost of others.
held as (
  select contract, sum(greatest(held, 0)) as amount
    from (select contract, sum(held) as held from holding group by contract, chain, payee, coalesce(subject, payer), token) one
   group by contract
),
returned as (
  select p.*
    from payer p
    join given r on r.recipient = p.payer
   where p.others_n > 0 and p.others_amount > 0 and r.amount >= p.others_amount * ${paidBack.share}
     and r.first_at <= p.others_last_at + ${within} and r.last_at >= p.others_first_at - ${within}
)
${text(
  `select ${members},
  (select json_build_object('raw', count(*), 'filtered', count(*) filter (where is_counted))
     from payer where not got_all_back having (select yes from countable)) as payers,
  (select json_build_object('payers', count(*), 'payments', coalesce(sum(others_n), 0)::bigint,
          'amount_usdc', ${dollars('coalesce(sum(others_amount), 0)')})
     from returned having (select yes from countable)) as reciprocal,
  (select ${demandObject} from agent_demand d where d.fid = $1 and d.chain = '') as demand,
  (select ${sums()}
     from (select address, verification_type, verification_chain from verified_address
            where fid = $1 and ended_at is null and verification_type = 1) wallet
    cross join lateral (
      select h.n, h.amount from income_hour h
       where h.recipient = wallet.address and h.fid = $1
         and wallet_chain_of(wallet.verification_type, wallet.verification_chain, h.chain) = 'other'
      offset 0
    ) paid) as other_chain,
  (select coalesce(sum(n) >= ${singlePayer.payments} and sum(amount) > 0
                   and max(amount) >= sum(amount) * ${singlePayer.share}, false)
     from payer having (select yes from countable)) as single_payer,
  (select to_json(${isoTime('min(first_at)')}) from sums) as first_paid_at,
  (select to_json(${isoTime('max(last_at)')}) from sums) as last_paid_at,
  (select coalesce(json_agg(json_build_object('contract', k.contract, 'amount_usdc', ${dollars('coalesce(held.amount, 0)')})
                            order by k.place), '[]')
     from unnest(array[${textList(holdingContracts)}]) with ordinality as k (contract, place)
     left join held using (contract)
   having (select count(*) from deposited) <= ${most}) as pending,
  (select coalesce(json_agg(json_build_object(
            'address', ${hex('address')},
            'source', case chain when '' then 'verified' else 'agent_wallet' end,
            'chain', nullif(chain, ''),
            'since', case when from_at > '-infinity' then ${isoTime('from_at')} end,
            'until', case when to_at < 'infinity' then ${isoTime('to_at')} end
          ) order by chain, address, from_at), '[]') from whose) as addresses,
  ${firstDue('$1')} as due`,
  [
    ...common,
    'payers',
    'demand',
    'reciprocal',
    'other_chain',
    'single_payer',
    'first_paid_at',
    'last_paid_at',
    'pending',
    'addresses',
  ],
)}`
