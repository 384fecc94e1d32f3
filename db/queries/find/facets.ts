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
 * more agents than are counted those listed last are, so that the answer takes as long for any question. `isSearch`: of the
 * agents that a search for `q` finds instead of those of the list.
 */
export async function discoveryFacets(db: Queryable, filter: DiscoveryFilter, isSearch: boolean): Promise<string> {
  const { chain, claimed, protocol, skill, alive, paid_30d, ...others } = filter
  const own = { chain, claimed, protocol, skill, alive, paid_30d }
  const named = filter.q === null ? null : isSearch ? await foundBy(db, filter.q) : (await namedBy(db, filter.q)).fids
  const base = filterConditions({ chain: null, claimed: null, ...others }, { named })
  let { values } = base
  const fits = facets.map((name) => {
    const of = filterConditions({ ...none, [name]: own[name] ?? null }, { named: null, before: values })
    values = of.values
    return `(${of.conditions[0] ?? 'true'}) as fits_${name}`
  })
  const text = statement(base.conditions, fits)
  // Unnamed: planned with its filters, like the list.
  const { rows } = await db.query<{ body: string }>({ text, values })
  return rows[0]?.body ?? ''
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

function statement(conditions: readonly string[], fits: readonly string[]): string {
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  return `
with found as materialized (
  select a.fid, a.chains, a.claimed, a.settlements_30d > 0 as paid, a.listed_at, ${fits.join(', ')}
    from agent a ${where} order by a.listed_at desc, a.fid desc limit ${mostAgents} + 1
),
base as materialized (select * from found order by listed_at desc, fid desc limit ${mostAgents}),
spec as materialized (
  select s.fid, s.kind, s.skills, ${isAlive} as alive
    from agent_spec s where s.has_content and s.fid in (select fid from base)
)
select json_build_object(
  'counted', (select count(*) from base),
  'complete', (select count(*) from found) <= ${mostAgents},
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
