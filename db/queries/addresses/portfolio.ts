import { readingLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import { shownHandleAssurance } from '../sql/assurance.ts'
import { chainPosition, dollars, isoTime, list } from '../sql/json-text.ts'
import { isListed } from '../sql/settlement-filter.ts'
import { countedSettlements, unsummedTail } from '../sql/settlement-windows.ts'

const { portfolioRegistrations: mostRegistrations, portfolioAgents: mostAgents } = readingLimits

const received = countedSettlements({
  recipients: '(select $1::bytea as address)',
  tail: unsummedTail({ addresses: 'array[$1::bytea]', overloads: '$2::boolean', sinces: [] }),
  amounts: true,
  newest: false,
  overloads: '$2::boolean',
  windows: [{ name: 'ever', since: null }],
})

const paid = `
  select p.n, p.amount from settlement_payer p where p.payer = $1 and length(p.chain) > 0 and ($2::boolean or not p.overload)
   union all
  select 1, s.amount
    from settlement_unrolled u
   cross join lateral (
     select s.amount from settlement s
      where s.payer = $1 and s.chain = u.chain and s.block_number between u.from_block and u.to_block
        and ($2::boolean or ${isListed('s.selector')})
     offset 0
   ) s`

const sums = (from: string, count: string, amount: string) => `(
  select json_build_object('count', coalesce(sum(${count}), 0), 'amount_usdc', ${dollars(`coalesce(sum(${amount}), 0)`)})
    from (${from}) part)`

const agentObject = `json_build_object('fid', a.fid, 'handle', a.handle, 'display_name', a.display_name, 'claimed', a.claimed,
  'handle_assurance', ${shownHandleAssurance('a')})`

interface Portfolio {
  /** Members of the answer, as JSON texts by name. */
  readonly fields: Record<string, string>
  /** The page of registrations, as text of a JSON array. */
  readonly rows: string
  readonly count: number
  /** Place and id of the page's last registration, after which the next page begins; null: it is the last page. */
  readonly next: readonly string[] | null
}

/**
 * `GET /api/by-address/:address/portfolio`: what an address holds now, the agents that verify it, other agents that share
 * with one of these an address that holds a registration, and what it was paid and paid. `address` is lowercase hex;
 * `after`: of the page before.
 */
export async function addressPortfolio(
  db: Queryable,
  {
    address,
    settlementOverloads,
    after,
  }: { address: string; settlementOverloads: 'spec' | 'all'; after?: readonly string[] | undefined },
): Promise<Portfolio> {
  const { rows } = await db.query<Record<string, string> & Pick<Portfolio, 'rows' | 'count' | 'next'>>({
    name: 'address-portfolio',
    text: `
with verifier as (
  select a.* from agent a
   where a.fid in (select v.fid from verified_address v where v.address = $1 and v.ended_at is null)
),
peer as (
  select e.peer as fid from agent_edge e join verifier v on v.fid = e.fid where e.kind = 'shared_owner'
   union
  select e.fid from agent_edge e join verifier v on v.fid = e.peer where e.kind = 'shared_owner'
),
registered as (
  select chain, ${chainPosition('chain')} as place, agent_id, acquired_at from registration where owner = $1 and not burned
),
found as (
  select * from registered
   where $3::bigint is null or (place, agent_id) > ($3::bigint, $4::numeric)
   order by place, agent_id limit ${mostRegistrations} + 1
),
page as (select * from found order by place, agent_id limit ${mostRegistrations})
select (select count(*) from registered)::text as registrations_total,
       (select ${list(
         `json_build_object('chain', chain, 'erc8004_id', agent_id, 'acquired_at', ${isoTime('acquired_at')})`,
         'place, agent_id',
       )} from page)::text as rows,
       (select count(*)::int from page) as count,
       (select array[place::text, agent_id::text] from page
         where (select count(*) from found) > ${mostRegistrations} order by place desc, agent_id desc limit 1) as next,
       (select ${list(agentObject, 'a.claimed desc, a.fid')}
          from (select * from verifier a order by a.claimed desc, a.fid limit ${mostAgents}) a)::text as agents,
       (select ${list(agentObject, 'a.claimed desc, a.fid')}
          from (select a.* from agent a
                 where a.fid in (select fid from peer) and a.fid not in (select fid from verifier)
                 order by a.claimed desc, a.fid limit ${mostAgents}) a)::text as other_agents,
       ${sums(received, 'ever', 'ever_amount')}::text as settlements_in,
       ${sums(paid, 'n', 'amount')}::text as settlements_out`,
    values: [
      Buffer.from(address.slice(2), 'hex'),
      settlementOverloads === 'all',
      after?.[0] ?? null,
      after?.[1] ?? null,
    ],
  })
  const { rows: page, count, next, registrations_total, ...others } = rows[0]!
  const fields = { address: JSON.stringify(address), registrations_total: registrations_total!, registrations: page }
  return { fields: { ...fields, ...others }, rows: page, count, next }
}
