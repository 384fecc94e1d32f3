import { queryLimits, readingLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import { hex } from '../sql/json-text.ts'
import { approvedFor } from '../sql/registration-objects.ts'
import { leadingFirst } from '../sql/verification-time.ts'
import type { TermName } from './filters.ts'

/** Registrations of a holder whose keys are marked at once. */
const slice = 500

/**
 * Marks the registrations of holders that keys stand for, `@address` or, behind the registration at which the last slice
 * ended, `@address:chain:id`. Whoever holds very many keeps nobody waiting: the next slice comes behind what is due already.
 */
export async function markHeldInSlices(db: Queryable, keys: readonly string[]): Promise<void> {
  await db.query({
    name: 'mark-held-in-slices',
    text: `
with held as (
  select own.*
    from (select distinct split_part(key, ':', 1) as holder, split_part(key, ':', 2) as chain,
                 coalesce(nullif(split_part(key, ':', 3), '')::numeric, -1) as agent_id
            from unnest($1::text[]) given (key)) given
   cross join lateral (
     select given.holder, r.chain, r.agent_id, row_number() over (order by r.chain, r.agent_id) as nth
       from registration r
      where r.owner = decode(substr(given.holder, 2), 'hex') and (r.chain, r.agent_id) > (given.chain, given.agent_id)
      order by r.chain, r.agent_id
      limit ${slice}) own
)
insert into due (kind, key)
select 'searched registrations', chain || ':' || agent_id from held
 union all
select 'searched registrations', holder || ':' || chain || ':' || agent_id from held where nth = ${slice}`,
    values: [keys],
  })
}

/** Bytes of a term; no filter takes a longer one. */
const longestTerm = 450
/** Bytes of the terms of a row. Beyond 1 MiB, which nothing checks, a row would hold other words than it was given. */
const mostBytes = 512 * 1024

/** SQL, given a filter: one row `term` for each `<filter>:<word>` that a registration `r` with its document `d` and agent `a` fits. */
const words =
  (word: string, from = '') =>
  (filter: TermName) =>
    `select '${filter}:' || ${word} as term${from && ` from ${from}`}`
const services = `json_array_elements(d.services) service`
/** A list of what a service of some name, or any, is said to be able to do. */
const declared = (list: string, of = 'true') =>
  words(
    'lower(word)',
    `${services} cross join json_array_elements_text(service -> 'declared' -> '${list}') word where ${of}`,
  )
const isOasf = `lower(service ->> 'name') like 'oasf%'`
const metadata = `(
  select m.key, m.value from registration_metadata m
   where m.chain = r.chain and m.agent_id = r.agent_id order by m.key collate "C" limit ${readingLimits.metadataSearched}) m`

/** Anybody may give very much feedback. The newest is searched, so that deriving a row has a bounded cost. */
const feedback = `(
  select f.* from (
    select f.client, f.tag1, f.tag2, f.value * ('1e-' || f.value_decimals)::numeric as value, f.revoked_block
      from feedback f
     where f.chain = r.chain and f.agent_id = r.agent_id
     order by f.block_timestamp desc, f.block_number desc, f.log_index desc
     limit ${readingLimits.feedbackSearched}) f
   where f.revoked_block is null) f`

/** The first go in first. */
const filters: Readonly<Record<TermName, (filter: TermName) => string>> = {
  chain: words('r.chain'),
  owner: words(hex('r.owner')),
  wallet: words(hex('r.agent_wallet')),
  operator: words(hex('o.address'), `${approvedFor('r')} o`),
  active: words('d.active::text'),
  x402: words('d.x402_support::text'),
  fid: words('a.fid::text'),
  human: words('(a.fid is not null)::text'),
  trust: words('lower(word)', `json_array_elements_text(d.supported_trust) word`),
  service: words(`lower(service ->> 'name')`, services),
  oasf_skill: declared('skills', isOasf),
  oasf_domain: declared('domains', isOasf),
  skill: declared('skills'),
  tool: declared('tools'),
  prompt: declared('prompts'),
  resource: declared('resources'),
  metadata: words('m.key', metadata),
  metadata_value: words(`encode(sha256(convert_to(m.key, 'UTF8') || '\\x00' || m.value), 'hex')`, metadata),
  feedback_client: words(hex('f.client'), feedback),
  feedback_tag: words(
    'lower(tag)',
    `${feedback} cross join lateral (values (f.tag1), (f.tag2)) of (tag)
      where length(tag) between 1 and ${queryLimits.nameCharacters}`,
  ),
}
const terms = `
  select term, sum(octet_length(term)) over (order by rank, term collate "C") as bytes
    from (${Object.entries(filters)
      .map(([name, of], rank) => `select distinct ${rank} as rank, term from (${of(name as TermName)}) one`)
      .join('\n union all ')}) one
   where octet_length(term) <= ${longestTerm}`

const columns = [
  'registered_at',
  'updated_at',
  'fid',
  'name',
  'description',
  'feedback_count',
  'terms',
  'feedback_value',
  'active_at',
  'moved_at',
]
const all = (table: string) => columns.map((name) => `${table}.${name}`).join(', ')

const text = `
with wanted as materialized (select chain, agent_id from unnest($1::text[], $2::numeric[]) as key (chain, agent_id)),
gone as (
  delete from searched_registration s
   using wanted w
   where s.chain = w.chain and s.agent_id = w.agent_id
     and not exists (select from registration r where r.chain = w.chain and r.agent_id = w.agent_id and not r.burned)
)
insert into searched_registration as s (chain, agent_id, ${columns.join(', ')})
select r.chain, r.agent_id, r.registered_at, r.updated_at, a.fid, lower(d.name), lower(d.description),
       coalesce(t.standing, 0),
       array_to_tsvector(array(select term from (${terms}) one where bytes <= ${mostBytes})),
       (select trim_scale(avg(f.value)) from ${feedback}),
       coalesce(newest.given_at, r.registered_at), greatest(r.updated_at, newest.given_at, newest.logged_at)
  from wanted
  join registration r using (chain, agent_id)
  left join registration_document d using (chain, agent_id)
  left join feedback_total t using (chain, agent_id)
  left join lateral (
    select a.fid from verified_address v join agent a using (fid)
     where v.address = r.owner and v.ended_at is null
     order by ${leadingFirst} limit 1) a on true
 cross join lateral (
   select (select f.block_timestamp from feedback f
            where f.chain = r.chain and f.agent_id = r.agent_id
            order by f.block_timestamp desc limit 1) as given_at,
          (select e.block_timestamp from registry_event e
            where e.chain = r.chain and e.agent_id = r.agent_id
            order by e.block_number desc limit 1) as logged_at -- revocations too
 ) newest
 where not r.burned
    on conflict (chain, agent_id) do update
   set (${columns.join(', ')}) = row(${all('excluded')})
 where (${all('s')}) is distinct from (${all('excluded')})`

/** Derives the rows of registrations, given as keys of the kind `searched registrations`. */
export async function deriveSearchedRegistrations(db: Queryable, keys: readonly string[]): Promise<void> {
  const parts = keys.map((key) => key.split(':'))
  await db.query({
    name: 'derive-searched-registrations',
    text,
    values: [parts.map(([chain]) => chain), parts.map(([, id]) => id)],
  })
}
