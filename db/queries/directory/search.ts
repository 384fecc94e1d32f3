import { readingLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import { words as wordsOf } from '../agents/agent-words.ts'
import { chainLabel, list, members, namesOfChains } from '../sql/json-text.ts'
import { leanFields } from '../sql/lean-row.ts'
import { type DiscoveryFilter, filterConditions } from './discovery-filter.ts'
import { partOf, understood } from './query-text.ts'

/** Parts of what an agent is found by, and their weights in its document: of descriptions, what the account says comes last. */
export const searchParts = { name: ['a'], skill: ['b'], description: ['c', 'd'] } as const
export type SearchPart = keyof typeof searchParts

/** Agents that are ranked, and hits of a kind that facets are counted of: of a word that more share, not all are looked at. */
export const mostRanked = 2_000
/** Matching places shown per hit. */
const mostMatched = 5
/** A single word of so many letters may have a slip in it, where it is found less often than so as it is. */
const tolerated = /^\S{4,40}$/u
const fewHits = 50

interface Search {
  readonly q: string
  /** Null: all. */
  readonly parts: readonly SearchPart[] | null
  /** Besides the words. */
  readonly filter: Omit<DiscoveryFilter, 'q'>
  readonly limit: number
  readonly offset: number
}

interface Hits {
  /** JSON array of lean rows with `matched`. */
  readonly rows: string
  readonly count: number
  /** At most `readingLimits.hits`. */
  readonly total: number
}

/**
 * Agents by words, best first:
 * 1. those whose handle, FID, verified address or registration the text is, or who were paid in the transaction it names;
 * 2. those with the words, singular or plural, by where and how often: names, skills, descriptions, bios;
 * 3. those with words that begin so, where nobody has them whole;
 * 4. those with the text as a part of a name, or with a name that differs by a slip.
 * At equal rank the claimed come first, then the lowest FID. If somebody has the `@handle`, names with a slip are left out.
 */
export async function searchAgents(db: Queryable, { q, parts, filter, limit, offset }: Search): Promise<Hits> {
  const asked = askedBy(q, parts)
  const before = [...asked.values, limit, offset]
  const { conditions, values } = filterConditions({ ...filter, q: null }, { named: null, before })
  const part = `limit $${before.length - 1}::int offset $${before.length}::int`
  // Unnamed: planned with its words, as common and rare ones want other plans.
  const { rows } = await db.query<Hits>({ text: textOf(asked, conditions, part), values })
  return rows[0] ?? { rows: '[]', count: 0, total: 0 }
}

/** How a search query is interpreted. */
export interface Asked {
  /** Values of the parameters from $1 on. */
  readonly values: readonly unknown[]
  /** The parameter that is a hash of a transaction; null: it is not one. */
  readonly transaction: string | null
  /** Whether it is written as a handle: whose it is exactly is meant, and names like it are not. */
  readonly isHandle: boolean
}

export function askedBy(q: string, parts: Search['parts']): Asked {
  const { words, fid, handle, address, transaction, registration } = understood(q)
  const isName = parts === null || parts.includes('name')
  const isOne = address !== null || transaction !== null
  const values = [
    words,
    isName ? fid : null,
    isName ? handle : null,
    isName ? address : null,
    isName && !isOne ? partOf(words) : null,
    isName && !isOne && tolerated.test(words) ? words : null,
    parts === null ? null : parts.flatMap((part) => searchParts[part]),
    isName ? (registration?.chain ?? null) : null,
    isName ? (registration?.id ?? null) : null,
    isOne ? null : words,
  ]
  // Only where it is asked for: planning with all partitions of settlements takes longer than many a search.
  const hash = transaction !== null && isName ? `$${values.push(transaction)}::bytea` : null
  return { values, transaction: hash, isHandle: q.startsWith('@') }
}

const paidIn = (transaction: string) => `select s.recipient from settlement s where s.tx_hash = ${transaction}`
const isRegistration = `h.chain = $8::text and h.agent_id = $9::numeric and h.reason is null`

// Written out wherever it is asked: of a constant the planner knows how many say it, and whether a filter leaves fewer.
const query = `in_all_forms(websearch_to_tsquery('simple', $1::text), false)`
const beginnings = `in_all_forms(websearch_to_tsquery('simple', $10::text), true)`
const inParts = (words: string) =>
  `s.document @@ ${words} and ($7::"char"[] is null or ts_filter(s.document, $7::"char"[]) @@ ${words})`
/** SQL: whether a row `s` of `searched_agent` contains the words, in the requested parts. */
export const saysSo = inParts(query)
/** SQL: whether it contains words that begin so. */
export const beginsSo = inParts(beginnings)
const isLike = 'lower($6::text) <% lower(s.names)'
/**
 * Of agents with a slip in their names as many as are ranked, in a statement of their own. They are numbered instead of
 * limited: of a slip in a word of many the planner would read and compare the names of all until there are enough, as it
 * takes comparing for cheap.
 */
export const likeSome = (columns: string, agents: string, conditions: string) => `
  select ${columns}
    from (select s.fid, s.names, row_number() over () as place from agent_words s ${agents} where ${isLike} and ${conditions}) s
   where place <= ${mostRanked}`
/** SQL: whether a name of the agent `a` contains the text. */
export const nameHas = 'a.search like lower($5::text)'

/** Agents that the question names: as a common table expression `exact`. */
export const exactOf = ({ transaction }: Asked) => `
exact as (
  select fid from agent where fid = $2::bigint
   union select fid from agent where lower(handle) = lower($3::text)
   union select fid from verified_address where address = $4::bytea and ended_at is null
   union select h.fid from agent_holding h where ${isRegistration}
   ${transaction === null ? '' : `union select v.fid from verified_address v where v.address in (${paidIn(transaction)}) and v.ended_at is null`}
)`

/** Whether it is found so seldom, whatever the filters leave, that it may have a slip in it. */
export const isSeldom = (asked: Asked) => `(select count(*) from (
  select from exact
   union all (select from searched_agent s where ${saysSo} limit ${fewHits})
   union all (select from agent a where ${nameHas} limit ${fewHits})) few) < ${fewHits}${isNobodys(asked)}`

/** SQL: whether nobody contains the words whole, whatever the filters leave: then words that begin so count. `said`: who does. */
export const isUnsaid = (asked: Asked, said: string) => `not exists (${said})${isNobodys(asked)}`

const isNobodys = ({ isHandle }: Asked) => (isHandle ? ' and not exists (select from exact)' : '')

/**
 * Hits of each kind, so many at most. Conditions over the agent `a` come before that bound: what they leave out would take
 * the place of what they leave.
 */
function hitsOf(asked: Asked, conditions: readonly string[]): string {
  const agents = conditions.length === 0 ? '' : 'join agent a on a.fid = s.fid'
  const fits = conditions.map((condition) => ` and ${condition}`).join('')
  const foundFew = `(select count(*) from (select from found limit ${fewHits}) few) < ${fewHits}${isNobodys(asked)}`
  const isFew = conditions.length === 0 ? foundFew : isSeldom(asked)
  return `
with ${exactOf(asked)},
said as materialized (
  select s.fid, 1 + ts_rank(s.document, ${query}) as rank
    from searched_agent s ${agents} where ${saysSo}${fits} limit ${mostRanked}
),
unsaid as materialized (
  select ${isUnsaid(asked, conditions.length === 0 ? 'select from said' : `select from searched_agent s where ${saysSo}`)} as is_so
),
found as (
  select fid, 1000::real as rank from exact
   union all
  select fid, rank from said
   union all
  -- Behind enough who say the words whole no part of a name is shown.
  (select a.fid, 0.9 from agent a
    where (select count(*) from said) < ${readingLimits.hits} and ${nameHas}${fits} limit ${mostRanked})
   union all
  (select s.fid, 0.8 + 0.1 * ts_rank(s.document, ${beginnings})
     from searched_agent s ${agents} where (select is_so from unsaid) and ${beginsSo}${fits} limit ${mostRanked})
),
hit as (
  select * from found
   union all
  (${likeSome('s.fid, 0.8 * word_similarity(lower($6::text), lower(s.names))', agents, `${isFew}${fits}`)})
)`
}

/** What of the agent `a` matches, as rows (field, text, number). */
const matchesOf = (asked: Asked) => `
  select 'fid' as field, a.fid::text as text, 0::bigint as number where a.fid = $2::bigint
   union all
  select 'address', '0x' || encode($4::bytea, 'hex'), 0
   where $4::bytea = any (a.verified_addresses)
   ${
     asked.transaction === null
       ? ''
       : `
   union all
  select 'transaction', '0x' || encode(${asked.transaction}, 'hex'), 0
   where a.verified_addresses && array(${paidIn(asked.transaction)})`
   }
   union all
  select 'registration', ${chainLabel('h.chain')} || ' #' || h.agent_id, 0
    from agent_holding h where h.fid = a.fid and ${isRegistration}
   union all
  select p.field, p.text, p.number
    from agent_words s
   cross join lateral rows from (
     json_to_recordset(s.pieces) as (field text, text text)) with ordinality as p (field, text, number)
   where s.fid = a.fid
     and ($7::"char"[] is null or case when p.field in ('handle', 'display_name', 'tag', 'name') then 'a'
           when p.field = 'description' then 'c' when p.field = 'bio' then 'd' else 'b' end = any ($7::"char"[]))
     and (to_tsvector('simple', ${wordsOf('p.text')}) @@ any ((select each from sought)::tsquery[])
          or (p.field in ('handle', 'display_name', 'tag', 'name')
              and (lower(p.text) like lower($5::text) or lower($6::text) <% lower(p.text))))`

// Of hits behind those that are shown nobody is looked up; a named agent may miss a filter, all others fit. `offset 0` has
// each looked up: the planner takes them for more than they are, and would read all agents.
const textOf = (asked: Asked, conditions: readonly string[], part: string) => `${hitsOf(asked, conditions)},
best as (
  select fid, max(rank) as rank from hit group by fid
   order by rank desc fetch first (${readingLimits.hits} + (select count(*) from exact)) rows with ties
),
ranked as (
  select best.fid, best.rank, a.claimed
    from best
   cross join lateral (select * from agent where agent.fid = best.fid offset 0) a
   ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
   order by best.rank desc, a.claimed desc, best.fid limit ${readingLimits.hits}
),
sought as materialized (
  select in_all_forms(websearch_to_tsquery('simple', $1::text), is_so) as words,
         array(select in_all_forms(plainto_tsquery('simple', lexeme), is_so)
                 from unnest(to_tsvector('simple', $1::text)) as word (lexeme)) as each
    from unsaid
),
page as (
  select ranked.*, row_number() over (order by rank desc, claimed desc, fid) as place from ranked
   order by rank desc, claimed desc, fid ${part}
),
shown as (
  select page.place, a.*, coalesce((
           select json_agg(json_build_object('field', field, 'snippet', snippet) order by number)
             from (select m.field, m.number,
                          ts_headline('simple', m.text, (select words from sought),
                                      'StartSel="", StopSel="", MaxWords=24, MinWords=12') as snippet
                     from (${matchesOf(asked)}
                            order by number
                            limit ${mostMatched}) m) one), '[]') as matched
    from page
    join agent a using (fid)
)
select ${list(`json_build_object(${members(leanFields)}, 'matched', a.matched, 'chain_names', ${namesOfChains('a.chains')})`, 'a.place')}::text as rows,
       count(*) as count, (select count(*) from ranked) as total
  from shown a`
