import type { Queryable } from '../../pool.ts'
import { isReadableRow } from '../sql/uptime.ts'

/** Registrations of an agent that it is found by, and pieces of text, and characters of one. */
const mostRegistrations = 50
const mostPieces = 300
const longestPiece = 2_000
/**
 * Bytes of all pieces together. Postgres takes 1,048,575 bytes of words with their positions (`tsvector`), and makes up
 * to four bytes of one: of `a.bc/d` it keeps the address, its host and its path.
 */
const mostBytes = 250_000

/**
 * Updates the text that agents are found by: their own, their registrations' and their live documents'. Deletes it for FIDs
 * that are no longer agents. Registrations that strangers sent are left out. Call in the transaction that derives the agents.
 */
export async function deriveWords(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({ name: 'derive-words', text, values: [fids] })
  await deriveSearchedAgents(db, fids)
}

/**
 * Updates the narrow rows that searches and filters look through from `agent` and `agent_words`. Rows that are right are not
 * written.
 */
export async function deriveSearchedAgents(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({ name: 'derive-searched-agents', text: searched, values: [fids] })
}

// The combination has the values of most filters as one text, 'base,celo|t|f|f': counting 27,000 agents by it takes 15.8 ms,
// by four columns 21.3. Words have their weights, and the lightest are what the account says of itself.
const searched = `
with said as (
  select a.fid, a.search,
         concat_ws('|', array_to_string(a.chains, ','), a.claimed, a.has_spec, a.has_codehost) as combination,
         coalesce(w.document || to_tsvector('simple', w.bio), '') as document
    from agent a
    left join agent_words w using (fid)
   where a.fid = any ($1::bigint[])
),
stored as (
  insert into searched_agent as kept (fid, search, combination, document)
  select fid, search, combination, document from said order by fid
      on conflict (fid) do update
     set (search, combination, document) = (excluded.search, excluded.combination, excluded.document)
   where (kept.search, kept.combination, kept.document) is distinct from (excluded.search, excluded.combination, excluded.document)
)
delete from searched_agent gone
 where gone.fid = any ($1::bigint[]) and not exists (select from agent a where a.fid = gone.fid)`

/**
 * SQL: a piece of text, and what is between its slashes once more: Postgres takes a path such as that of an OASF skill for
 * one word. Addresses stay as they are.
 */
export const words = (piece: string) =>
  `${piece} || case when ${piece} ~ '^[^:]*/' then ' ' || translate(${piece}, '/', ' ') else '' end`

const text = `
with wanted as (select fid, handle, display_name, oli, bio from agent where fid = any ($1::bigint[])),
held as (
  select w.fid, h.chain, h.agent_id
    from wanted w
   cross join lateral (
     select h.chain, h.agent_id from agent_holding h
      where h.fid = w.fid and h.reason is null and not h.unsolicited
      order by h.chain, h.agent_id
      limit ${mostRegistrations}
   ) h
),
record as (
  select held.fid, d.name, d.description, d.services
    from held join registration_document d using (chain, agent_id)
),
-- Names of ENS that say back which registration is theirs.
confirmed as (
  select held.fid, one.name
    from held
    join control_reading k using (chain, agent_id)
   cross join json_to_recordset(k.names) one (name text, status text)
   where one.status = 'confirmed'
),
spec as (
  select s.fid, s.title, s.skills, s.tools, s.details, s.resources
    from wanted w join agent_spec s using (fid)
   where (s.has_content or s.resources <> '[]') and ${isReadableRow}
),
said as (
  select fid, 1 as place, 'handle' as field, handle as text from wanted
   union all select fid, 2, 'display_name', display_name from wanted
   union all select fid, 3, 'tag', oli from wanted
   union all select fid, 4, 'name', name from record
   union all select fid, 4, 'name', title from spec
   union all select fid, 4, 'name', name from confirmed
   union all select fid, 5, 'skill', unnest(skills) from spec
   union all select fid, 6, 'tool', unnest(tools) from spec
   union all
  select r.fid, 7, 'service', concat_ws(' ', service ->> 'name', service ->> 'endpoint')
    from record r
   cross join lateral json_array_elements(case when json_typeof(r.services) = 'array' then r.services else '[]' end) service
   union all
  select r.fid, kind.place, kind.field, json_array_elements_text(service -> 'declared' -> kind.list)
    from record r
   cross join lateral json_array_elements(case when json_typeof(r.services) = 'array' then r.services else '[]' end) service
   cross join (values ('skills', 5, 'skill'), ('domains', 5, 'skill'), ('tools', 6, 'tool'), ('prompts', 6, 'tool'),
                      ('resources', 6, 'tool')) as kind (list, place, field)
   union all
  select s.fid, 7, 'detail', one
    from spec s
   cross join lateral (
     select jsonb_array_elements(s.details -> 'interfaces') ->> 'name'
      union all
     select jsonb_array_elements_text(skill -> 'tags' || jsonb_build_array(skill -> 'id'))
       from jsonb_array_elements(s.details -> 'skills') skill
      union all
     select sold ->> 'service_name' from jsonb_array_elements(s.resources) sold
      union all
     select jsonb_array_elements_text(sold -> 'tags') from jsonb_array_elements(s.resources) sold) detail (one)
   union all select fid, 8, 'description', description from record
   union all select fid, 9, 'bio', bio from wanted
),
piece as (
  select *, row_number() over first_places as number, sum(octet_length(${words('text')})) over first_places as bytes
    from (select distinct fid, place, field, left(text, ${longestPiece}) as text from said where text <> '') one
  window first_places as (partition by fid order by place, text rows unbounded preceding)
),
gathered as (
  select w.fid,
         coalesce(string_agg(p.text, E'\\n' order by p.number) filter (where p.place <= 4), '') as names,
         coalesce(string_agg(${words('p.text')}, E'\\n' order by p.number) filter (where p.place between 5 and 7), '') as skills,
         coalesce(string_agg(p.text, E'\\n' order by p.number) filter (where p.place = 8), '') as descriptions,
         coalesce(max(p.text) filter (where p.place = 9), '') as bio,
         coalesce(json_agg(json_build_object('field', p.field, 'text', p.text) order by p.number)
                    filter (where p.text is not null), '[]') as pieces
    from wanted w
    left join piece p on p.fid = w.fid and p.number <= ${mostPieces} and p.bytes <= ${mostBytes}
   group by w.fid
),
stored as (
  insert into agent_words as kept (fid, names, skills, descriptions, bio, pieces)
  select fid, names, skills, descriptions, bio, pieces from gathered order by fid
      on conflict (fid) do update
     set (names, skills, descriptions, bio, pieces)
       = (excluded.names, excluded.skills, excluded.descriptions, excluded.bio, excluded.pieces)
   where kept.pieces::text <> excluded.pieces::text
)
delete from agent_words gone
 where gone.fid = any ($1::bigint[]) and not exists (select from wanted w where w.fid = gone.fid)`
