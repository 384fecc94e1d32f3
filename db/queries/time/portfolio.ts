import { readingLimits } from '../../../limits.config.ts'
import type { Queryable } from '../../pool.ts'
import { chainPosition, dollars, hex, isoTime, list } from '../sql/json-text.ts'
import { isListed } from '../sql/selectors.ts'
import { besideSums, countedSettlements } from '../sql/settlement-windows.ts'

const { portfolioRegistrations: mostRegistrations, portfolioAgents: mostAgents } = readingLimits

const received = countedSettlements({
  recipients: '(select $1::bytea as address)',
  beside: besideSums({ addresses: 'array[$1::bytea]', overloads: '$2::boolean', sinces: [] }),
  amounts: true,
  newest: false,
  overloads: '$2::boolean',
  windows: [{ name: 'ever', since: null }],
})

const paid = `
  select p.n, p.amount from settlement_payer p where p.payer = $1 and ($2::boolean or not p.overload)
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

const agentObject = `json_build_object('fid', a.fid, 'handle', a.handle, 'display_name', a.display_name, 'claimed', a.claimed)`

/**
 * JSON of `GET /api/by-address/:address/portfolio`: what an address holds now, the agents that verify it, other agents
 * that share with one of these an address that holds a registration, and what it was paid and paid. `address` is
 * lowercase hex.
 */
export async function addressPortfolio(
  db: Queryable,
  { address, settlementOverloads }: { address: string; settlementOverloads: 'spec' | 'all' },
): Promise<string> {
  const { rows } = await db.query<{ body: string }>({
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
registered as (select chain, agent_id, acquired_at from registration where owner = $1 and not burned)
select json_build_object(
         'address', ${hex('$1::bytea')},
         'registrations_total', (select count(*) from registered),
         'registrations', (select ${list(
           `json_build_object('chain', chain, 'erc8004_id', agent_id, 'acquired_at', ${isoTime('acquired_at')})`,
           `${chainPosition('chain')}, agent_id`,
         )} from (select * from registered order by ${chainPosition('chain')}, agent_id limit ${mostRegistrations}) r),
         'agents', (select ${list(agentObject, 'a.claimed desc, a.fid')}
                      from (select * from verifier a order by a.claimed desc, a.fid limit ${mostAgents}) a),
         'other_agents', (select ${list(agentObject, 'a.claimed desc, a.fid')}
                            from (select a.* from agent a
                                   where a.fid in (select fid from peer) and a.fid not in (select fid from verifier)
                                   order by a.claimed desc, a.fid limit ${mostAgents}) a),
         'settlements_in', ${sums(received, 'ever', 'ever_amount')},
         'settlements_out', ${sums(paid, 'n', 'amount')})::text as body`,
    values: [Buffer.from(address.slice(2), 'hex'), settlementOverloads === 'all'],
  })
  return rows[0]?.body ?? ''
}
