import { readingLimits } from '../../../limits.config.ts'
import type { Queryable } from '../../pool.ts'
import { chainLabel, chainPosition, list } from '../sql/json-text.ts'
import { type DiscoveryFilter, filterConditions, isAlive } from './discovery-filter.ts'
import { namedBy } from './question.ts'
import { foundBy } from './search.ts'

/** Filters that agents are counted by. */
const facets = ['chain', 'claimed', 'protocol', 'skill', 'alive', 'paid_30d'] as const
type Facet = (typeof facets)[number]

const { facetAgents: mostAgents, facetSkills: mostSkills } = readingLimits
/** Longer ones are sentences. */
const skillCharacters = 60

/**
 * JSON of `GET /api/discovery/facets`: how many agents each value of a filter would leave, given all other filters. Of
 * those that fit every filter, and of those that all but one leave, no more are counted than so many, those listed last,
 * so that the answer takes as long for any question. `isSearch`: of the agents that a search for `q` finds instead of
 * those of the list.
 */
export async function discoveryFacets(db: Queryable, filter: DiscoveryFilter, isSearch: boolean): Promise<string> {
  const { q } = filter
  const { fids: named, isCut } =
    q === null
      ? { fids: null, isCut: false }
      : isSearch
        ? await searched(db, q, filter)
        : { fids: (await namedBy(db, q)).fids, isCut: false }
  const { values, ...conditions } = conditionsOf(filter, { named })
  // Unnamed: planned with its filters, like the list.
  const found = named ? namedFound(conditions) : firstFound(conditions)
  const { rows } = await db.query<{ body: string }>({ text: statement(found, isCut), values })
  return rows[0]?.body ?? ''
}

/** What a search for `q` finds among the agents that are counted. */
async function searched(db: Queryable, q: string, filter: DiscoveryFilter) {
  const among = (choose: typeof fitting) =>
    foundBy(db, q, (before) => {
      const { values, ...conditions } = conditionsOf({ ...filter, q: null }, { named: null, before })
      return { conditions: choose(conditions), values }
    })
  const found = await Promise.all(isFiltered(filter) ? [among(fitting), among(besidesOne)] : [among(fitting)])
  return { fids: found.flatMap(({ fids }) => fids), isCut: found.some((one) => one.isCut) }
}

interface Conditions {
  /** Of filters that are no facets. */
  readonly others: readonly string[]
  /** Of the facets that are asked for. */
  readonly fits: ReadonlyMap<Facet, string>
}

function conditionsOf(filter: DiscoveryFilter, reading: Parameters<typeof filterConditions>[1]) {
  const { chain, claimed, protocol, skill, alive, paid_30d, ...rest } = filter
  const own = { chain, claimed, protocol, skill, alive, paid_30d }
  const of = filterConditions({ chain: null, claimed: null, ...rest }, reading)
  const others = of.conditions
  let { values } = of
  const fits = new Map<Facet, string>()
  for (const name of facets) {
    const asked = filterConditions({ ...none, [name]: own[name] ?? null }, { named: null, before: values })
    values = asked.values
    if (asked.conditions[0] !== undefined) fits.set(name, `(${asked.conditions[0]})`)
  }
  return { others, fits, values }
}

const isFiltered = (filter: DiscoveryFilter) => facets.some((name) => (filter[name] ?? null) !== null)
/** Agents that every filter leaves, and those that all but one leave: no others are counted anywhere. */
const fitting = ({ others, fits }: Conditions) => [...others, ...fits.values()]
const besidesOne = ({ others, fits }: Conditions) => {
  const all = [...fits.values()]
  // Each one written out: of a sum of them the planner would expect next to nobody, and look every agent up.
  const missed = all.map((_, one) => all.map((fit, n) => (n === one ? `not ${fit}` : fit)).join(' and '))
  return [...others, `(${missed.join(' or ')})`]
}

const none = { q: null, chain: null, claimed: null, spec: null, codehost: null }

/** Agents that fit every filter but one. */
const besides = (name: Facet) =>
  facets
    .filter((other) => other !== name)
    .map((other) => `b.fits_${other}`)
    .join(' and ')

const values = (rows: string, order: string) =>
  `(select ${list(`json_build_object('value', value, 'count', n)`, order)} from (${rows}) one)`

const flag = (from: string, condition: string, name: Facet) =>
  values(
    `select 'true' as value, count(distinct b.fid) as n from ${from} where ${condition} and ${besides(name)}`,
    'value',
  )

const columns = ({ fits }: Conditions) => `
  a.fid, a.chains, a.claimed, a.settlements_30d > 0 as paid, a.listed_at,
  ${facets.map((name) => `${fits.get(name) ?? 'true'} as fits_${name}`).join(', ')}`

const whereOf = (all: readonly string[]) => (all.length === 0 ? '' : `where ${all.join(' and ')}`)

/** Of agents that are named, each is looked up once. Part 1 fits every filter, part 2 misses one. */
function namedFound(conditions: Conditions): string {
  const missed = ['0', ...[...conditions.fits.values()].map((fit) => `(not ${fit})::int`)].join(' + ')
  return `select 1 + ${missed} as part, ${columns(conditions)}
     from agent a ${whereOf([...conditions.others, `${missed} <= 1`])}`
}

/** Of all others, those listed last, along the order of listing where that is sooner. */
function firstFound(conditions: Conditions): string {
  const part = (number: number, all: readonly string[]) => `
  (select ${number} as part, ${columns(conditions)}
     from agent a ${whereOf(all)}
    order by a.listed_at desc, a.fid desc limit ${mostAgents} + 1)`
  const parts = [part(1, fitting(conditions)), ...(conditions.fits.size > 0 ? [part(2, besidesOne(conditions))] : [])]
  return parts.join(' union all')
}

function statement(found: string, isCut: boolean): string {
  return `
with found as materialized (
  select *, row_number() over (partition by part order by listed_at desc, fid desc) as place from (${found}) one
),
base as materialized (select * from found where place <= ${mostAgents}),
spec as materialized (
  select s.fid, s.kind, s.skills, ${isAlive} as alive
    from agent_spec s where s.has_content and s.fid in (select fid from base)
)
select json_build_object(
  'counted', (select count(*) from base),
  'complete', ${!isCut} and not exists (select from found where place > ${mostAgents}),
  'chain', ${values(
    `select ${chainLabel('chain')} as value, count(*) as n, ${chainPosition('chain')} as place
       from base b cross join lateral unnest(b.chains) chain where ${besides('chain')} group by chain`,
    'place',
  )},
  'claimed', ${values(
    `select case when b.claimed then 'claimed' else 'unclaimed' end as value, count(*) as n
       from base b where ${besides('claimed')} group by b.claimed`,
    'value',
  )},
  'protocol', ${values(
    `select s.kind as value, count(distinct b.fid) as n
       from base b join spec s using (fid) where ${besides('protocol')} group by s.kind`,
    'value',
  )},
  'skill', ${values(
    `select lower(skill) as value, count(distinct b.fid) as n
       from base b join spec s using (fid) cross join lateral unnest(s.skills) skill
      where length(skill) <= ${skillCharacters} and ${besides('skill')}
      group by lower(skill) order by n desc, value limit ${mostSkills}`,
    'n desc, value',
  )},
  'alive', ${flag('base b join spec s using (fid)', 's.alive', 'alive')},
  'paid_30d', ${flag('base b', 'b.paid', 'paid_30d')})::text as body`
}
