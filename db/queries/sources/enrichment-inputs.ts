import { namesOf, type SourceRow, sources } from '../../../config/sources.ts'
import type { Queryable } from '../../pool.ts'

import { textList } from '../sql/json-text.ts'

import { shownRecords } from '../sql/shown-holdings.ts'

/** What sources ask about an agent. */
export interface AgentInput {
  readonly fid: number
  readonly handle: string | null
  /** Lowercase hex, sorted. */
  readonly addresses: readonly string[]
}

/** The FIDs of a list that are in the index. */
export async function readAgentInputs(db: Queryable, fids: readonly number[]): Promise<AgentInput[]> {
  const { rows } = await db.query<AgentInput>({
    name: 'read-agent-inputs',
    text: `
select fid, handle, array(select '0x' || encode(v, 'hex') from unnest(verified_addresses) as v) as addresses
  from agent where fid = any ($1::bigint[]) order by fid`,
    values: [fids],
  })
  return rows
}

/** Services of the registrations that an agent has now, as their documents name them, without those strangers sent. */
const services = `
select s.service->>'endpoint' as endpoint
  from ${shownRecords('a.fid')} h
  join registration_document d using (chain, agent_id),
       json_array_elements(d.services) as s (service)
 where not h.unsolicited`

/** Accounts on the host of code that an agent names, the best source first. */
const named = `
select coalesce(json_agg(json_build_object('name', n.name, 'source', n.source) order by n.rank, n.name), '[]')
  from (select p.github as name, '${sources.fids.name}' as source, 1 as rank
          from social_profile p where p.fid = a.fid and p.github is not null
         union all
        select i.identity, '${sources.identity.name}', 2 from agent_identity i where i.fid = a.fid and i.platform = 'github'
         union all
        select s.endpoint, 'registration', 3 from (${services}) s
         where s.endpoint ~* '^https?://(www\\.)?github\\.com/') n`

/** Messages that an agent's addresses rest on, and when it last changed hands. */
const messages = `
select coalesce(string_agg(encode(v.message_hash, 'hex'), ',' order by v.message_hash), '') || ' '
       || coalesce((select max(c.block_number) from fid_custody c where c.fid = a.fid)::text, '')
  from verified_address v where v.fid = a.fid and v.ended_at is null`

/** What each source is asked about an agent: only a change of it is a reason to ask before its time. */
const inputs = `case
         when s.source in (${askedAbout('accounts')}) then (${named})::text
         when s.source in (${askedAbout('messages')}) then (${messages})
         when s.source in (${askedAbout('nothing')}) then ''
         else a.verified_addresses::text end`

function askedAbout(what: SourceRow['askedAbout']): string {
  return textList(namesOf((row) => row.askedAbout === what))
}

/** Where an agent names an account: in a source's answer about it, or in a registration's document. */
type Naming = typeof sources.fids.name | typeof sources.identity.name | 'registration'

export interface CodehostInput extends AgentInput {
  readonly named: readonly { readonly name: string; readonly source: Naming }[]
  /**
   * Addresses on hosts that are proven to be the agent's: they list a registration of it, or carry the manifest of its
   * claim. A page that the agent merely names may be anybody's.
   */
  readonly pages: readonly string[]
}

/** Undefined: not in the index. */
export async function readCodehostInput(db: Queryable, fid: number): Promise<CodehostInput | undefined> {
  const { rows } = await db.query<CodehostInput>({
    name: 'read-codehost-input',
    text: `
select a.fid, a.handle, array(select '0x' || encode(v, 'hex') from unnest(a.verified_addresses) as v) as addresses,
       (${named}) as named,
       array(select s.url from agent_spec s where s.fid = a.fid and s.domain_verified
              union
             select 'https://' || c.signer from claim c
              where c.fid = a.fid and c.method = 'well-known' and c.state = 'live') as pages
  from agent a where a.fid = $1`,
    values: [fid],
  })
  return rows[0]
}

/** Asks sources about agents of the index where there is something else to ask than when they were last asked for. */
export async function askAboutAgents(
  db: Queryable,
  { fids, sources, now }: { fids: readonly number[]; sources: readonly string[]; now: Date },
): Promise<void> {
  await db.query({
    name: 'ask-about-agents',
    text: `
with noted as (
  insert into agent_input as i (fid, source, digest)
  select a.fid, s.source, md5(${inputs})::uuid
    from agent a
   cross join unnest($2::text[]) as s (source)
   where a.fid = any ($1::bigint[])
      on conflict (fid, source) do update set digest = excluded.digest where i.digest <> excluded.digest
  returning fid, source)
insert into source_state as s (source, subject, due_at, priority)
select source, 'fid:' || fid as subject, $3::timestamptz, 2 from noted order by 1, 2
    on conflict (source, subject) do update
   set due_at = least(s.due_at, excluded.due_at), priority = excluded.priority, lease_id = null`,
    values: [fids, sources, now],
  })
}

/** Marks the agents that one of these sources was never asked about, because it was off when they were listed. */
export async function markAgentsUnknownTo(db: Queryable, sources: readonly string[]): Promise<void> {
  await db.query({
    name: 'mark-agents-unknown-to',
    text: `
insert into due (kind, key)
select 'agents', a.fid::text from agent a
 where (select count(*) from agent_input i where i.fid = a.fid and i.source = any ($1::text[])) < cardinality($1::text[])`,
    values: [sources],
  })
}

/** Forgets what sources said about agents that left the index; their sites go with the next look at their edges. */
export async function forgetEnrichment(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({
    name: 'forget-enrichment',
    text: `
with inputs as ( -- of edges too: who comes back is new to everybody
  delete from agent_input where fid = any ($1::bigint[]) returning fid, source),
state as (
  delete from source_state s using inputs i where s.source = i.source and s.subject = 'fid:' || i.fid),
tags as (delete from oli_tag where fid = any ($1::bigint[])),
identities as (delete from agent_identity where fid = any ($1::bigint[])),
follows as (delete from social_follow where fid = any ($1::bigint[])),
edges as (delete from agent_edge where fid = any ($1::bigint[]) or peer = any ($1::bigint[]))
delete from codehost_profile where fid = any ($1::bigint[])`,
    values: [fids],
  })
}
