import { profileLimits } from '../../../config/limits.ts'
import { dollars, hex, isoTime, list } from './json-text.ts'

// Expressions of the profile over the agent `a`, with `source` next to it, for what other sources say about it.

/**
 * SQL: when stored data was last confirmed. A row has the time of its first read; the source's last success is later.
 */
const fetchedAt = (table: string, success: string) => isoTime(`greatest(${table}.fetched_at, source.${success})`)

/** SQL: types of tags that an agent is called by, the most telling first. */
const namingTypes = `array['name', 'protocol', 'generic', 'classifier']`

/** Order of tags, best first: by type, then by the explorer's own order. */
const bestTagOrder = (tag: string) => `
  array_position(${namingTypes}, ${tag}.tag_type), ${tag}.ordinal desc nulls last,
  ${tag}.source, ${tag}.name, ${tag}.address, ${tag}.chain, ${tag}.slug, ${tag}.attester`

/** SQL: the name of the best tag on an address that the account `fid` verifies now; null: there is none. */
const bestLabel = (fid: string) => `(
select t.name from oli_tag t
 where t.fid = ${fid} and t.tag_type = any (${namingTypes})
   and exists (select from verified_address v where v.fid = t.fid and v.address = t.address and v.ended_at is null)
 order by ${bestTagOrder('t')}
 limit 1)`

export const oliTags = `(
select ${list(
  `json_build_object(
    'address', ${hex('t.address')},
    'chain', t.chain,
    'slug', t.slug,
    'name', t.name,
    'tag_type', t.tag_type,
    'ordinal', t.ordinal,
    'meta', t.meta,
    'source', t.source,
    'attester', ${hex('t.attester')},
    'fetched_at', ${fetchedAt('t', 'explorer_success_at')}
  )`,
  `t.address, ${bestTagOrder('t')}`,
)}
  from oli_tag t
 where t.fid = a.fid and t.address = any (a.verified_addresses)
)`

export const identities = `(
select ${list(
  `json_build_object(
    'platform', i.platform,
    'identity', i.identity,
    'display_name', i.display_name,
    'address', i.address,
    'url', i.url,
    'avatar_url', i.avatar_url,
    'description', i.description,
    'sources', to_json(i.sources),
    'follower_count', i.follower_count,
    'fetched_at', ${fetchedAt('i', 'identity_success_at')}
  )`,
  'cardinality(i.sources) desc, i.platform, i.identity',
)}
  from agent_identity i where i.fid = a.fid
)`

export const codehostProfile = `(
select json_build_object(
    'login', c.login,
    'user_id', c.user_id,
    'type', c.type,
    'name', c.name,
    'url', c.url,
    'avatar_url', c.avatar_url,
    'bio', c.bio,
    'followers', c.followers,
    'following', c.following,
    'public_repos', c.public_repos,
    'total_stars', c.total_stars,
    'top_languages', to_json(c.top_languages),
    'account_created_at', ${isoTime('c.account_created_at')},
    'last_push_at', ${isoTime('c.last_push_at')},
    'verified', c.verified,
    'source', c.source,
    'fetched_at', ${fetchedAt('c', 'codehost_success_at')}
  )
  from codehost_profile c where c.fid = a.fid
)`

const kinds = `array['follows', 'feedback', 'settlement', 'shared_owner', 'shared_wallet', 'shared_host', 'transfer']`

/** Two that follow each other are one edge in both directions. */
export const edges = `(
with seen as (
  select e.kind, e.direction, e.peer, e.chain, e.weight, e.amount, e.first_seen_at, e.last_seen_at
    from agent_edge e where e.fid = a.fid
   union all
  select e.kind, case e.direction when 'out' then 'in' when 'in' then 'out' else e.direction end, e.fid, e.chain,
         e.weight, e.amount, e.first_seen_at, e.last_seen_at
    from agent_edge e where e.peer = a.fid
),
linked as (
  select s.kind, case when count(*) > 1 then 'both' else min(s.direction) end as direction, s.peer, s.chain,
         max(s.weight) as weight, max(s.amount) as amount,
         min(s.first_seen_at) as first_seen_at, max(s.last_seen_at) as last_seen_at
    from seen s
   group by s.kind, s.peer, s.chain, case when s.kind <> 'follows' then s.direction end
),
shown as (
  select t.*, p.handle, p.claimed, array_position(${kinds}, t.kind) as place
    from linked t
    join agent p on p.fid = t.peer
   order by place, t.weight desc, t.peer, t.chain, t.direction
   limit ${profileLimits.edges}
)
select ${list(
  `json_build_object(
    'kind', s.kind,
    'direction', s.direction,
    'fid', s.peer,
    'handle', s.handle,
    'claimed', s.claimed,
    'chain', s.chain,
    'weight', s.weight,
    'amount_usdc', ${dollars('s.amount')},
    'first_seen_at', ${isoTime('s.first_seen_at')},
    'last_seen_at', ${isoTime('s.last_seen_at')}
  )`,
  's.place, s.weight desc, s.peer, s.chain, s.direction',
)}
  from shown s
)`

/**
 * What deriving the agent `s.fid` takes from the sources outside the chains and the social network: its best tag, whether
 * it has an account on a host of code, and a digest of what is shown. Times are left out: they are no news.
 */
export const enriched = `
      select ${bestLabel('s.fid')} as oli,
             exists (select from codehost_profile c where c.fid = s.fid) as has_codehost,
             md5(concat_ws('/',
               (select string_agg(md5(row(t.address, t.source, t.chain, t.slug, t.name, t.tag_type, t.ordinal,
                                          t.meta::text, t.attester)::text), ',' order by t.address, ${bestTagOrder('t')})
                  from oli_tag t where t.fid = s.fid),
               (select string_agg(md5(row(i.platform, i.identity, i.display_name, i.address, i.url, i.avatar_url,
                                          i.description, i.sources, i.follower_count)::text), ','
                                  order by i.platform, i.identity)
                  from agent_identity i where i.fid = s.fid),
               (select md5(row(c.login, c.user_id, c.type, c.name, c.url, c.avatar_url, c.bio, c.followers, c.following,
                               c.public_repos, c.total_stars, c.top_languages, extract(epoch from c.account_created_at),
                               extract(epoch from c.last_push_at), c.verified, c.source)::text)
                  from codehost_profile c where c.fid = s.fid)
             ))::uuid as enriched_digest`
