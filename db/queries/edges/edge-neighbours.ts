import type { Queryable } from '../../pool.ts'

// Which agents' edges must be derived again, when others have changed.

/**
 * What edges of others to an agent `a` depend on: its verified addresses, and its registrations with their wallets.
 * Times as numbers: their text depends on the session's time zone.
 */
const digest = `md5(concat_ws('/',
  (select string_agg(v.address::text || extract(epoch from v.verified_at), ',' order by v.address)
     from verified_address v where v.fid = a.fid and v.ended_at is null),
  (select string_agg(concat_ws(' ', h.chain, h.agent_id, r.agent_wallet, extract(epoch from r.updated_at)), ','
                     order by h.chain, h.agent_id)
     from agent_holding h join registration r using (chain, agent_id) where h.fid = a.fid and h.reason is null)
))::uuid`

/** Agents with an edge to one that is in `moved`, or that may get one; `own` and `wallet` have the addresses of those that moved. */
const around = `
around as (
  select e.fid from moved m join agent_edge e on e.peer = m.fid
   union
  select f.fid from social_follow f
   where f.targets && array(select fid from moved where added)
   union
  select h.fid
    from (select address from own union select address from wallet) c
    join feedback f on f.client = c.address
    join agent_holding h on h.chain = f.chain and h.agent_id = f.agent_id and h.reason is null
   union
  select v.fid
    from own join settlement_payer s on s.payer = own.address and length(s.chain) > 0
    join verified_address v on v.address = s.recipient and v.ended_at is null
   union
  select v.fid from own join verified_address v on v.address = own.address and v.ended_at is null
   union
  select h.fid
    from wallet w
    join registration r on r.agent_wallet = w.address
    join agent_holding h on h.chain = r.chain and h.agent_id = r.agent_id and h.reason is null
   union
  select h.fid from own join agent_holding h on h.transferred_to = own.address
)`

/**
 * Makes agents due, and those whose edges to them may be others now; agents that left the index are forgotten: an
 * edge may have been derived from what was there just before they left. Call under `lockEdges`. What sites link is for
 * `spreadSites`.
 *
 * Whoever is linked to an agent already is found by the edge; the rest by what edges are made of: followers of one that is
 * new, those it gave feedback to, paid, gave a registration to or got one from, and those it shares an address or a
 * wallet with.
 */
export async function spreadEdges(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({
    name: 'spread-edges',
    text: `
with looked as (select a.fid, ${digest} as digest from agent a where a.fid = any ($1::bigint[])),
moved as (
  select l.fid, t.digest is null as added
    from looked l left join agent_input t on t.fid = l.fid and t.source = 'edges'
   where t.digest is distinct from l.digest
),
own as (
  select v.address from moved m join verified_address v on v.fid = m.fid and v.ended_at is null
),
wallet as (
  select distinct r.agent_wallet as address
    from moved m
    join agent_holding h on h.fid = m.fid and h.reason is null
    join registration r on r.chain = h.chain and r.agent_id = h.agent_id and r.agent_wallet is not null
),${around},
departed as (
  select s.fid from unnest($1::bigint[]) as s (fid) where not exists (select from agent a where a.fid = s.fid)
),
gone as (delete from agent_input where source = 'edges' and fid = any (array(select fid from departed))),
stale as (
  delete from agent_edge
   where fid = any (array(select fid from departed)) or peer = any (array(select fid from departed))
),
known as (
  insert into agent_input as t (fid, source, digest) select fid, 'edges', digest from looked
      on conflict (fid, source) do update set digest = excluded.digest where t.digest <> excluded.digest
)
insert into due (kind, key)
select 'edges', fid::text from looked
 union
select 'edges', fid::text from around where exists (select from agent a where a.fid = around.fid)`,
    values: [fids],
  })
}

/**
 * Makes the agents of sites due that somebody gained or lost. A site of more than `mostOfSite` agents links nobody;
 * there those are who were linked before.
 */
export async function spreadSites(db: Queryable, sites: readonly string[], mostOfSite: number): Promise<void> {
  await db.query({
    name: 'spread-sites',
    text: `
insert into due (kind, key)
select distinct 'edges', s.fid::text
  from agent_site s
 where s.site = any ($1::text[])
   and ((select count(*) from (select from agent_site n where n.site = s.site limit $2::bigint + 1) n) <= $2
        or exists (select from agent_edge e where e.fid = s.fid and e.kind = 'shared_host'))`,
    values: [sites, mostOfSite],
  })
}
