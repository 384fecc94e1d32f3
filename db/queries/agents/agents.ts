import type { Queryable } from '../../pool.ts'
import { assuranceOf, handleAssurance } from '../sql/assurance.ts'
import { enriched } from '../sql/enriched-fields.ts'
import { hex, isoTime } from '../sql/json-text.ts'
import { derivedHoldings, holdingWrites, of } from './agent-holdings.ts'
import { markLargeHolders, storedSums } from './large-holders.ts'
import { activityOf } from './lock.ts'

/** Visible change to an agent by re-deriving it. */
export interface AgentChange {
  readonly fid: number
  readonly kind: 'listed' | 'changed' | 'delisted'
  /** Whether the claim status changed. */
  readonly claimChanged: boolean
}

export interface Derivation {
  readonly fids: readonly number[]
  /** Names of the chains in the chain table's order. */
  readonly chainOrder: readonly string[]
  readonly now: Date
}

/**
 * Derives `agent`, `agent_holding` and `agent_change` of each FID from verifications, transfers, claims, profiles and
 * documents in one snapshot. Unchanged rows are not written. The holdings of large holders are only marked, and derived
 * separately (`large-holders.ts`).
 *
 * Call under `lockJoin`. Returns the FIDs with a visible change.
 */
export async function deriveAgents(db: Queryable, { fids, chainOrder, now }: Derivation): Promise<AgentChange[]> {
  const large = await markLargeHolders(db, fids)
  const small = fids.filter((fid) => !large.includes(fid))
  const values = [small, chainOrder, now]
  const { rows } = await db.query<AgentChange>({ name: 'derive-agents', text: fromHoldings, values })
  return large.length === 0 ? rows : [...rows, ...(await deriveFromSums(db, { fids: large, chainOrder, now }))]
}

/** Derives large holders from the stored totals of their holdings. Those without totals are left as they are. */
export async function deriveFromSums(db: Queryable, { fids, chainOrder, now }: Derivation): Promise<AgentChange[]> {
  const { rows: known } = await db.query<{ fid: number }>({
    name: 'summed-holders',
    text: 'select fid from large_holder where fid = any ($1::bigint[]) and derived_at is not null order by fid',
    values: [fids],
  })
  const values = [known.map(({ fid }) => fid), chainOrder, now]
  const { rows } = await db.query<AgentChange>({ name: 'derive-from-sums', text: fromSums, values })
  return rows
}

const agents = `
wanted as (
  select s.fid, p.handle, p.display_name, p.bio, p.pfp_url,
         array(select name from unnest($2::text[]) with ordinality as chain (name, place)
                where name = any (h.chains) order by place) as chains,
         array(select v.address from verified_address v
                where v.fid = s.fid and v.ended_at is null order by v.address) as verified_addresses,
         c.claimed_at is not null as claimed, c.method as claim_method, c.claimed_at, c.state as claim_state,
         (select sha256 from claim_event where claim_event.fid = s.fid order by seq desc limit 1) as claim_sha256,
         case when h.current > 0 then 'active' when h.fid is not null then 'historical' else 'claimed-only' end
           as agent_status,
         coalesce(h.registered_at, c.claimed_at) as registered_at,
         coalesce(h.listed_at, c.claimed_at) as listed_at,
         h.registry_event_at, coalesce(h.current, 0) as current_total, coalesce(h.historical, 0) as historical_total,
         p.last_message_at,
         coalesce(k.spec_check_status, 'unchecked') as spec_check_status,
         coalesce(k.spec_check_status = 'found', false) as has_spec, d.spec_digest, d.last_alive_at,
         ${assuranceOf('s.fid')} as assurance, ${handleAssurance} as handle_assurance, e.oli, e.has_codehost, e.enriched_digest,
         lower(concat_ws(E'\\n', p.handle, p.display_name, e.oli)) as search,
         a.fid is null as added, coalesce(a.claimed, false) <> (c.claimed_at is not null) as claim_changed,
         (a.last_message_at, a.last_alive_at) is distinct from (p.last_message_at, d.last_alive_at) as active,
         a.changed_at
    from unnest($1::bigint[]) as s (fid)
    left join summed h using (fid)
    left join social_profile p using (fid)
    left join agent_spec_check k using (fid)
    left join agent a using (fid)
   cross join lateral (
      select md5(string_agg(row(kind, url, title, version, skills, tools, path_count, content_sha256, domain_verified,
                                card_signature, back_reference, last_check_status, details, resources, truncated, answers)::text, ',' order by kind, url)
                 || coalesce(nullif(k.truncated, '{}')::text, ''))::uuid as spec_digest,
             max(last_alive_at) filter (where kind <> 'web') as last_alive_at
        from agent_spec where agent_spec.fid = s.fid
   ) d
   cross join lateral (${enriched}) e
   cross join lateral (
      select min(claimed_at) as claimed_at, (array_agg(method order by claimed_at desc, method, nonce))[1] as method,
             min(state) as state -- live comes before suspended
        from claim where claim.fid = s.fid and state <> 'ended'
   ) c
   where (h.fid is not null or c.claimed_at is not null)
     and not exists (select from unlisted u where u.fid = s.fid)
),`

const visibleColumns = `handle, display_name, bio, pfp_url, chains, verified_addresses, claimed, claim_method, claimed_at,
                claim_state, claim_sha256, agent_status, registered_at, listed_at, registry_event_at, search, spec_check_status, has_spec, spec_digest,
                assurance, handle_assurance, oli, has_codehost, enriched_digest, current_total, historical_total`

/**
 * What the transparency log's digest of a change is over, of an agent `w`: the fields of `digested` in
 * transparency/change-digest.ts, in the same order. The text is canonical (RFC 8785): members are in
 * the order of their names, and strings are escaped as that has it.
 */
const toldOfAgent = `(
    select row_to_json(told)::text
      from (select w.agent_status, w.bio, w.chains as chain_names, w.claim_method, w.claim_state, w.claimed,
                   ${isoTime('w.claimed_at')} as claimed_at, w.display_name, w.current_total as erc8004_total, w.fid, w.handle,
                   w.handle_assurance, w.historical_total, w.oli, w.pfp_url,
                   ${isoTime('w.registered_at')} as registered_at, w.spec_check_status,
                   array(select ${hex('address')} from unnest(w.verified_addresses) as v (address) order by address)
                     as verified_addresses) told)`

/** What the feed of agents shows of an agent. */
const entryOf = (row: string) =>
  `(${of(row, 'handle, oli, chains, claimed, claim_method, agent_status, listed_at')},
          coalesce(${row}.handle_assurance, 'stated') = 'stated', left(${row}.bio, 280))`

const writes = `
compared as (
  select w.*,
         w.added or (${of('w', visibleColumns)}) is distinct from (${of('a', visibleColumns)})
           or w.fid in (select fid from lost) or w.fid in (select fid from stored) as visible,
         ${entryOf('w')} is distinct from ${entryOf('a')} as in_feed
    from wanted w
    left join agent a using (fid)
),
put as (
  insert into agent (fid, ${visibleColumns}, last_message_at, last_alive_at, changed_at, entry_changed_at)
  select fid, ${visibleColumns}, last_message_at, last_alive_at, case when visible then $3::timestamptz else changed_at end,
         case when in_feed then $3 end
    from compared
   where visible or active
      on conflict (fid) do update
     set (${visibleColumns}, last_message_at, last_alive_at, changed_at, entry_changed_at)
       = row(${of('excluded', `${visibleColumns}, last_message_at, last_alive_at, changed_at`)},
             coalesce(excluded.entry_changed_at, agent.entry_changed_at))
),
delisted as (
  delete from agent a
   where a.fid = any ($1::bigint[]) and not exists (select from wanted w where w.fid = a.fid)
  returning a.fid, a.claimed
),
moved as (${activityOf('select fid from compared where active and not added')}),
still as (
  delete from agent_activity where fid in (select fid from delisted)
),
change as (
  select fid, case when added then 'listed' else 'changed' end as kind, claim_changed,
         sha256(convert_to(${toldOfAgent}, 'UTF8')) as sha256
    from compared w where visible
   union all
  select fid, 'delisted', claimed, null from delisted
),
logged as (
  insert into agent_change (fid, kind, changed_at, sha256)
  select fid, case kind when 'delisted' then 'delist' else 'upsert' end, $3, sha256 from change order by fid
)
select fid, kind, claim_changed as "claimChanged" from change order by fid`

const fromHoldings = `with${derivedHoldings},${holdingWrites},${agents}${writes}`
const fromSums = `with${storedSums},${agents}${writes}`

/** Whether a FID is in the index. */
export async function agentExists(db: Queryable, fid: number): Promise<boolean> {
  const { rows } = await db.query({ name: 'agent-exists', text: 'select from agent where fid = $1', values: [fid] })
  return rows.length > 0
}
