import { lockKeys } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'
import { isJudged } from '../sql/feedback.ts'
import { shownRecords } from '../sql/shown-holdings.ts'
import { isUntimed } from '../sql/verification-time.ts'

/**
 * Lets only one transaction at a time derive edges. Also sets planner options so that its statements look rows up by
 * key instead of reading whole tables, as `lockJoin` does.
 */
export async function lockEdges(db: Queryable): Promise<void> {
  await db.query({
    name: 'lock-edges',
    text: `select pg_advisory_xact_lock($1), set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`,
    values: [lockKeys.edges],
  })
}

/** The FIDs that one follows, the newest first. */
interface StoredFollows {
  readonly fid: number
  readonly follows: readonly { readonly fid: number; readonly at: Date }[]
}

/** Whom these FIDs follow, as far as it has been read, and nobody else changes it until the transaction ends. */
export async function lockFollows(db: Queryable, fids: readonly number[]): Promise<StoredFollows[]> {
  const { rows } = await db.query<{ fid: number; targets: string[]; followed_at: Date[] }>({
    name: 'lock-follows',
    text: 'select fid, targets, followed_at from social_follow where fid = any ($1::bigint[]) order by fid for update',
    values: [fids],
  })
  return rows.map(({ fid, targets, followed_at }) => ({
    fid,
    follows: targets.map((target, index) => ({ fid: Number(target), at: followed_at[index]! })),
  }))
}

/** Replaces the stored list of FIDs that an account follows. Nothing is written when it is unchanged. */
export async function storeFollows(db: Queryable, { fid, follows }: StoredFollows): Promise<void> {
  await db.query({
    name: 'store-follows',
    text: `
insert into social_follow as f (fid, targets, followed_at) values ($1, $2, $3)
    on conflict (fid) do update set targets = excluded.targets, followed_at = excluded.followed_at
 where (f.targets, f.followed_at) is distinct from (excluded.targets, excluded.followed_at)`,
    values: [fid, follows.map((one) => one.fid), follows.map(({ at }) => at)],
  })
}

interface AgentEndpoints {
  readonly fid: number
  /** Endpoints of the services of its registrations, without those strangers sent. */
  readonly endpoints: readonly string[]
}

/** What agents name as theirs; those that are not in the index are left out. */
export async function readEndpoints(db: Queryable, fids: readonly number[]): Promise<AgentEndpoints[]> {
  const { rows } = await db.query<AgentEndpoints>({
    name: 'read-endpoints',
    text: `
select a.fid,
       array(select distinct s.service->>'endpoint'
               from ${shownRecords('a.fid')} h
               join registration_document d using (chain, agent_id),
                    json_array_elements(d.services) as s (service)
              where s.service->>'endpoint' is not null and not h.unsolicited
              order by 1) as endpoints
  from agent a where a.fid = any ($1::bigint[])`,
    values: [fids],
  })
  return rows
}

/** Edges of one kind that an agent keeps, the heaviest. */
const mostOfKind = 500

/** Brings the stored sites of agents to these. Returns the sites that one of them has gained or lost. */
export async function storeSites(
  db: Queryable,
  fids: readonly number[],
  sites: readonly { readonly fid: number; readonly site: string }[],
): Promise<string[]> {
  const { rows } = await db.query<{ site: string }>({
    name: 'store-sites',
    text: `
with given as (select * from unnest($2::bigint[], $3::text[]) as g (fid, site)),
lost as (
  delete from agent_site s
   where s.fid = any ($1::bigint[]) and not exists (select from given g where (g.fid, g.site) = (s.fid, s.site))
  returning site
),
added as (
  insert into agent_site (fid, site) select fid, site from given on conflict do nothing returning site
)
select site from lost union select site from added`,
    values: [fids, sites.map(({ fid }) => fid), sites.map(({ site }) => site)],
  })
  return rows.map(({ site }) => site)
}

/** Agents that verify an address, or hold a registration whose wallet it is. */
const agentsBehind = (address: string) => `
      select v.fid from verified_address v where v.address = ${address} and v.ended_at is null
       union
      select o.fid
        from registration r
        join agent_holding o on o.chain = r.chain and o.agent_id = r.agent_id and o.reason is null
       where r.agent_wallet = ${address}`

/**
 * Relations of edges, one of each kind.
 *
 * `given`: anybody can give any number of feedbacks, so what one client gave is counted before its agents are looked up.
 *
 * `sharing`: whatever an address mints has that address as its wallet, so registrations of a wallet are not compared with
 * one another. Of those that an agent holds, the two earliest and the latest tell the times of its edges: two agents that
 * verify one address hold the same registrations, and one registration alone is no edge.
 */
const derived = `
follows as (
  select w.fid, t.fid as peer, 'follows' as kind, 'out' as direction, null as chain, 1::bigint as weight,
         null::numeric as amount, t.at as first_seen_at, t.at as last_seen_at
    from wanted w
    join social_follow f using (fid),
         unnest(f.targets, f.followed_at) as t (fid, at)
   where t.fid <> w.fid
),
given as (
  select h.fid, f.client, f.chain, count(*) as n, min(f.block_timestamp) as first_at, max(f.block_timestamp) as last_at
    from wanted w
    join agent_holding h on h.fid = w.fid and ${isJudged}
    join feedback f on f.chain = h.chain and f.agent_id = h.agent_id and f.revoked_block is null
   group by h.fid, f.client, f.chain
),
feedbacks as (
  select g.fid, c.fid as peer, 'feedback', 'in', g.chain, sum(g.n)::bigint, null::numeric, min(g.first_at), max(g.last_at)
    from given g
   cross join lateral (select array_agg(b.fid) as fids from (${agentsBehind('g.client')}) b) b
   cross join unnest(b.fids) as c (fid)
   where g.fid <> all (b.fids)
   group by g.fid, c.fid, g.chain
),
settlements as (
  select w.fid, v.fid as peer, 'settlement', 'in', s.chain, sum(s.n)::bigint, sum(s.amount), min(s.first_at), max(s.last_at)
    from wanted w
    join settlement_payer s on s.recipient = any (w.verified_addresses) and ($2::boolean or not s.overload)
    join verified_address v on v.address = s.payer and v.ended_at is null and v.fid <> w.fid
   where not s.payer = any (w.verified_addresses)
   group by w.fid, v.fid, s.chain
),
owners as (
  select w.fid, v.fid as peer, 'shared_owner', 'both', null, count(*), null::numeric,
         min(both_at), max(both_at)
    from wanted w
    join verified_address mine on mine.fid = w.fid and mine.ended_at is null
    join verified_address v on v.address = mine.address and v.ended_at is null and v.fid > w.fid
   cross join lateral (
     select case when not ${isUntimed('mine')} and not ${isUntimed('v')} then greatest(mine.verified_at, v.verified_at) end
   ) since (both_at)
   where exists (select from agent_holding h where h.fid = w.fid and h.held_by = mine.address and h.reason is null)
   group by w.fid, v.fid
),
sharing as (
  select agent_wallet, array_agg(fid) as fids, array_agg(id) as ids, array_agg(updated_at) as times
    from (select h.fid, r.agent_wallet, r.id, r.updated_at,
                 row_number() over (partition by r.agent_wallet, h.fid order by r.updated_at, r.id) as nth,
                 count(*) over (partition by r.agent_wallet, h.fid) as n
            from (select distinct r.agent_wallet as address
                    from wanted w
                    join agent_holding h on h.fid = w.fid and h.reason is null
                    join registration r on r.chain = h.chain and r.agent_id = h.agent_id) own
            join registration r on r.agent_wallet = own.address
            join agent_holding h on h.chain = r.chain and h.agent_id = r.agent_id and h.reason is null) held
   where nth <= 2 or nth = n
   group by agent_wallet
),
wallets as (
  select mine.fid, o.fid as peer, 'shared_wallet', 'both', null, count(distinct s.agent_wallet), null::numeric,
         min(greatest(mine.at, o.at)), max(greatest(mine.at, o.at))
    from sharing s
   cross join unnest(s.fids, s.ids, s.times) as mine (fid, id, at)
   cross join unnest(s.fids, s.ids, s.times) as o (fid, id, at)
   where mine.fid = any (array(select fid from wanted)) and o.fid > mine.fid and o.id <> mine.id
   group by mine.fid, o.fid
),
sites as (
  select w.fid, o.fid as peer, 'shared_host', 'both', null, count(*), null::numeric, null::timestamptz, null::timestamptz
    from wanted w
    join agent_site s using (fid)
    join agent_site o on o.site = s.site and o.fid > w.fid
   where (select count(*) from (select from agent_site n where n.site = s.site limit $3::bigint + 1) n) <= $3
   group by w.fid, o.fid
),
transfers as (
  select w.fid, h.to_fid as peer, 'transfer', 'out', h.chain, count(*), null::numeric,
         min(h.released_at), max(h.released_at)
    from wanted w
    join agent_holding h on h.fid = w.fid and h.reason = 'transfer' and h.to_fid <> w.fid
   group by w.fid, h.to_fid, h.chain
)`
const columns = 'weight, amount, first_seen_at, last_seen_at'
const of = (table: string) => columns.replaceAll(/\w+/g, `${table}.$&`)

interface EdgeDerivation {
  readonly fids: readonly number[]
  readonly settlementOverloads: 'spec' | 'all'
  readonly mostOfSite: number
}

/**
 * Derives the edges of agents to others of the index, under `lockEdges`. What has not changed is not written. Returns how
 * many were added, changed or removed.
 *
 * Feedback and settlements make no edge when they come from the agent's own address, or from one that both agents have.
 * Settlements are those of
 * final blocks that are rolled up. Edges that have no direction are derived for the lower of the two FIDs. A site of more
 * than `mostOfSite` agents links none.
 */
export async function deriveEdgesOf(
  db: Queryable,
  { fids, settlementOverloads, mostOfSite }: EdgeDerivation,
): Promise<number> {
  const { rows } = await db.query<{ moved: number }>({
    name: 'derive-edges',
    text: `
with wanted as (select fid, verified_addresses from agent where fid = any ($1::bigint[])),
${derived},
every as (
  select * from follows union all select * from feedbacks union all select * from settlements
   union all select * from owners union all select * from wallets union all select * from sites
   union all select * from transfers
),
kept as (
  select * from (
    select e.*, row_number() over (partition by e.fid, e.kind order by e.weight desc, e.peer, e.chain) as place
      from every e
     where exists (select from agent p where p.fid = e.peer)) e
   where place <= ${mostOfKind}
),
lost as (
  delete from agent_edge e
   where e.fid = any ($1::bigint[])
     and not exists (select from kept k where (k.fid, k.peer, k.kind) = (e.fid, e.peer, e.kind)
                                          and k.chain is not distinct from e.chain)
  returning 1
),
stored as (
  insert into agent_edge as e (fid, peer, kind, direction, chain, ${columns})
  select fid, peer, kind, direction, chain, ${columns} from kept
      on conflict (fid, peer, kind, chain) do update
     set (${columns}) = row(${of('excluded')})
   where (${of('e')}) is distinct from (${of('excluded')})
  returning 1
)
select (select count(*) from lost) + (select count(*) from stored) as moved`,
    values: [fids, settlementOverloads === 'all', mostOfSite],
  })
  return rows[0]?.moved ?? 0
}
