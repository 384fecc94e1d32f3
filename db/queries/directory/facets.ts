import { readingLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import { chainLabel, chainPosition, list } from '../sql/json-text.ts'
import { isAlive } from '../sql/uptime.ts'
import { namedBy } from './discovery.ts'
import { type DiscoveryFilter, filterConditions, skillsOf, withOf } from './discovery-filter.ts'
import { type Part, searchedHits } from './facet-hits.ts'
import { askedBy } from './search.ts'

/** Filters that agents are counted by. */
const facets = ['chain', 'claimed', 'protocol', 'skill', 'sells', 'alive', 'paid_30d'] as const
type Facet = (typeof facets)[number]

const { facetAgents: mostAgents, facetSkills: mostSkills } = readingLimits
/** Greatest length of a skill that is listed; longer ones are sentences. */
const skillCharacters = 60

/**
 * JSON of `GET /api/discovery/facets`: how many agents each value of a filter would leave, given all other filters. Counts
 * at most `facetAgents` agents that match every filter, and as many that fail exactly one, those listed last: the answer
 * takes as long for any question. `isSearch`: of the agents that a search for `q` finds instead of those of the list.
 */
export async function discoveryFacets(db: Queryable, filter: DiscoveryFilter, isSearch: boolean): Promise<string> {
  const { text, values } = await (isSearch && filter.q !== null ? ofSearch(filter.q, filter) : ofList(db, filter))
  // Unnamed: planned with its words and filters, like the list.
  const { rows } = await db.query<{ body: string }>({ text, values })
  return rows[0]?.body ?? ''
}

function ofSearch(q: string, filter: DiscoveryFilter) {
  const asked = askedBy(q, null)
  const { values, ...conditions } = conditionsOf({ ...filter, q: null }, { named: null, before: asked.values })
  const counted = { lookedUp: (fids: string) => lookedUp(conditions, fids), parts: partsOf(conditions) }
  // An agent that is found in several ways appears more than once. There are at most as many as are counted.
  const text = `
with ${searchedHits(asked, counted)},
base as materialized (select distinct on (fid) * from hit)
${answer('not (select is_cut from is_cut)')}`
  return { text, values }
}

async function ofList(db: Queryable, filter: DiscoveryFilter) {
  const named = (await namedBy(db, filter))?.fids ?? null
  const { values, worded, ...conditions } = conditionsOf(filter, { named })
  const found = `found as materialized (
  select *, row_number() over (partition by part order by listed_at desc, fid desc) as place
    from (${named ? lookedUp(conditions, null) : firstFound(conditions)}) one
)`
  const text = `
${withOf([...worded, found])},
base as materialized (select * from found where place <= ${mostAgents})
${answer(`not exists (select from found where place > ${mostAgents})`)}`
  return { text, values }
}

interface Conditions {
  /** Conditions of the filters that are not facets. */
  readonly others: readonly string[]
  /** Conditions of the facets that the request filters by. */
  readonly fits: ReadonlyMap<Facet, string>
}

function conditionsOf(filter: DiscoveryFilter, reading: Parameters<typeof filterConditions>[1]) {
  const { chain, claimed, protocol, skill, sells, alive, paid_30d, ...rest } = filter
  const own = { chain, claimed, protocol, skill, sells, alive, paid_30d }
  const of = filterConditions({ chain: null, claimed: null, ...rest }, reading)
  const others = of.conditions
  let { values } = of
  const fits = new Map<Facet, string>()
  for (const name of facets) {
    const asked = filterConditions({ ...none, [name]: own[name] ?? null }, { named: null, before: values })
    values = asked.values
    if (asked.conditions[0] !== undefined) fits.set(name, `(${asked.conditions[0]})`)
  }
  return { others, fits, worded: of.worded, values }
}

/** Agents that every filter leaves, and those that all but one leave: no others are counted anywhere. */
const fitting = ({ others, fits }: Conditions) => [...others, ...fits.values()]
const besidesOne = ({ others, fits }: Conditions) => {
  const all = [...fits.values()]
  // Each one written out: of a sum of them the planner would expect next to nobody, and look every agent up.
  const missed = all.map((_, one) => all.map((fit, n) => (n === one ? `not ${fit}` : fit)).join(' and '))
  return [...others, `(${missed.join(' or ')})`]
}

const none = { q: null, chain: null, claimed: null, spec: null, codehost: null }

/** Facets that are counted from documents: of an agent that misses any other filter none is looked at. */
const ofDocuments = ['protocol', 'skill', 'sells', 'alive'] as const satisfies readonly Facet[]

/** Agents that fit every filter but these. */
const besides = (...names: readonly Facet[]) =>
  facets
    .filter((other) => !names.includes(other))
    .map((other) => `b.fits_${other}`)
    .join(' and ')

const values = (rows: string, order: string) =>
  `(select ${list(`json_build_object('value', value, 'count', n)`, order)} from (${rows}) one)`

const flag = (from: string, condition: string, name: Facet) =>
  values(
    `select 'true' as value, count(distinct b.fid) as n from ${from} where ${condition} and ${besides(name)}`,
    'value',
  )

/** Of an agent `a`; `fits`: whether it fits a filter. */
const columns = (fits: (name: Facet) => string) => `
  a.fid, a.chains, a.claimed, a.settlements_30d > 0 as paid, a.listed_at,
  ${facets.map((name) => `${fits(name)} as fits_${name}`).join(', ')}`

const whereOf = (all: readonly string[]) => (all.length === 0 ? '' : `where ${all.join(' and ')}`)

/** Part 1 fits every filter, part 2 misses one. What their conditions say of a filter is not asked again. */
function partsOf(conditions: Conditions): ReadonlyMap<number, Part> {
  const { fits } = conditions
  const all = { conditions: fitting(conditions), columns: `1 as part, ${columns(() => 'true')}` }
  const fitsOne = (name: Facet) => (fits.size === 1 ? `${!fits.has(name)}` : (fits.get(name) ?? 'true'))
  const butOne = { conditions: besidesOne(conditions), columns: `2 as part, ${columns(fitsOne)}` }
  return new Map([[1, all], ...(fits.size > 0 ? [[2, butOne] as const] : [])])
}

/** Agents of either part, by their FIDs; null: of any. Each filter is asked once of each: `offset 0` keeps it so. */
function lookedUp({ others, fits }: Conditions, fids: string | null): string {
  const missed = ['0', ...[...fits.keys()].map((name) => `(not fits_${name})::int`)].join(' + ')
  const named = fids === null ? [] : [`a.fid = any (array(${fids}))`]
  return `
  select 1 + ${missed} as part, f.*
    from (select ${columns((name) => fits.get(name) ?? 'true')} from agent a ${whereOf([...named, ...others])} offset 0) f
   where ${missed} <= 1`
}

/** Those listed last, along the order of listing where that is sooner. */
function firstFound(conditions: Conditions): string {
  const part = ({ conditions: all, columns }: Part) => `
  (select ${columns}
     from agent a ${whereOf(all)}
    order by a.listed_at desc, a.fid desc limit ${mostAgents} + 1)`
  return [...partsOf(conditions).values()].map(part).join(' union all')
}

/** Counts of the agents of `base`. */
const answer = (isComplete: string) => `,
spec as materialized (
  select s.fid, s.kind, s.has_content, s.resources, ${isAlive} as alive
    from agent_spec s where s.fid in (select b.fid from base b where ${besides(...ofDocuments)})
)
select json_build_object(
  'counted', (select count(*) from base),
  'complete', ${isComplete},
  'chain', ${values(
    `select ${chainLabel('chain')} as value, count(*) as n, ${chainPosition('chain')} as place
       from (select unnest(b.chains) as chain from base b where ${besides('chain')}) one group by chain`,
    'place',
  )},
  'claimed', ${values(
    `select case when b.claimed then 'claimed' else 'unclaimed' end as value, count(*) as n
       from base b where ${besides('claimed')} group by b.claimed`,
    'value',
  )},
  'protocol', ${values(
    `select s.kind as value, count(distinct b.fid) as n
       from base b join spec s using (fid) where s.has_content and ${besides('protocol')} group by s.kind`,
    'value',
  )},
  'skill', ${values(
    `select lower(skill) as value, count(distinct b.fid) as n
       from base b cross join lateral ${skillsOf('b.fid')} of
      where length(skill) <= ${skillCharacters} and ${besides('skill')}
      group by lower(skill) order by n desc, value limit ${mostSkills}`,
    'n desc, value',
  )},
  'sells', ${values(
    `select word as value, count(distinct b.fid) as n
       from base b join spec s using (fid) cross join lateral unnest(sold_words(s.resources)) of (word)
      where ${besides('sells')}
      group by word order by n desc, value limit ${mostSkills}`,
    'n desc, value',
  )},
  'alive', ${flag('base b join spec s using (fid)', 's.alive', 'alive')},
  'paid_30d', ${flag('base b', 'b.paid', 'paid_30d')})::text as body`
