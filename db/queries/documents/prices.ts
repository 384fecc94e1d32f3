import type { Queryable } from '../../pool.ts'
import { isoTime, list } from '../sql/json-text.ts'

/** Prices named in an agent's documents. */
interface Prices {
  readonly count: number
  /** JSON array. */
  readonly prices: string
}

/** Prices by document, in the order of each. Undefined: no such agent. */
export async function agentPrices(db: Queryable, fid: number): Promise<Prices | undefined> {
  const { rows } = await db.query<Prices>({
    name: 'agent-prices',
    text: `
with one as (
  select s.kind, s.url, p.place, json_build_object(
           'kind', s.kind,
           'url', s.url,
           'resource', p.price->>'resource',
           'description', p.price->>'description',
           'scheme', p.price->>'scheme',
           'network', p.price->>'network',
           'chain', p.price->>'chain',
           'asset', p.price->>'asset',
           'testnet', coalesce((p.price->>'testnet')::boolean, false),
           'amount', p.price->>'amount',
           'currency', p.price->>'currency',
           'pay_to', p.price->>'payTo',
           'min_amount_usd', (p.price->>'minUsd')::numeric(90,6),
           'max_amount_usd', (p.price->>'maxUsd')::numeric(90,6),
           'last_alive_at', ${isoTime('s.last_alive_at')},
           'signature', case when d.signed_by is not null then json_build_object(
             'by', d.signed_by, 'since', ${isoTime('d.signed_since')}, 'valid_until', ${isoTime('d.signed_until')},
             'outcome', d.offer_outcome,
             'payment', case when d.paid_tx_hash is not null then json_build_object(
               'chain', d.chain, 'tx_hash', d.paid_tx_hash, 'block_number', d.paid_block_number,
               'block_timestamp', ${isoTime('d.paid_at')}) end) end,
           'payee', json_build_object('outcome', y.outcome, 'chain', y.chain, 'erc8004_id', y.erc8004_id,
                                      'block_number', y.block_number, 'human', y.human_assurance)
         ) as price
    from agent_spec s
   cross join lateral jsonb_array_elements(s.prices) with ordinality as p (price, place)
    join directory.prices d on (d.fid, d.kind, d.url, d.place) = (s.fid, s.kind, s.url, p.place)
    join directory.payees y on (y.fid, y.kind, y.url, y.place) = (s.fid, s.kind, s.url, p.place)
   where s.fid = $1
)
select (select count(*) from one) as count, (select ${list('price', 'kind, url, place')} from one)::text as prices
  from agent a where a.fid = $1`,
    values: [fid],
  })
  return rows[0]
}
