import type { z } from 'zod'
import { chainNames, chainOf } from '../../../config/chains.ts'
import { rowLimits } from '../../../config/limits.ts'
import { discoverySorts } from '../../../db/queries/directory/discovery.ts'
import { flagParameter, wordParameter } from '../../http/parameters.ts'
import { discoveryQuery, facetFilters } from '../../routes/directory/discovery.ts'
import type { facetsAnswer } from '../../schemas/directory/search.ts'
import { protocolNames } from '../../schemas/documents/enriched.ts'
import type { Exact } from '../parts/exact-json.ts'
import { figure } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { searchBox } from '../parts/layout.ts'
import { firstCodePoints } from '../parts/text.ts'

/** Query of the page: the API's filters, and the order `best`, by relevance; without search words newest first. */
export const directoryQuery = discoveryQuery.extend({
  protocol: facetFilters.protocol,
  skill: facetFilters.skill,
  sells: facetFilters.sells,
  alive: flagParameter('Whether a description answered when it was checked last.'),
  paid_30d: flagParameter('Whether it was paid in the last 30 days.'),
  sort: wordParameter(['best', ...discoverySorts], 'best', 'Order of the list.'),
})

export type Filters = z.output<typeof directoryQuery>
type Facets = Exact<z.output<typeof facetsAnswer>>

/** Filters of a path without a query: the default of each parameter. */
export const noFilters: Filters = {
  q: null,
  chain: null,
  claimed: 'all',
  spec: null,
  codehost: null,
  protocol: null,
  skill: null,
  sells: null,
  alive: null,
  paid_30d: null,
  sort: 'best',
  page: 1,
  limit: rowLimits.discovery.fallback,
}

const sortNames: Record<Exclude<Filters['sort'], 'best'>, string> = {
  newest: 'Newest',
  oldest: 'Oldest',
  'cross-chain': 'Most chains',
  'most-active': 'Most active',
  'most-earned': 'Most earned',
}

/** Most characters of a stranger's word on its chip. */
const wordCharacters = 28

/** Path of the list with some filters changed; a change of anything but the page leads to the first page. */
export function directoryPath(filters: Filters, change: Partial<Filters> = {}): string {
  const query = filterQuery({ ...filters, page: 1, ...change })
  return query === '' ? '/' : `/?${query}`
}

/** Query string of the filters that differ from their defaults, without `?`. */
export const filterQuery = (filters: Filters) => new URLSearchParams(entriesOf(filters)).toString()

function entriesOf(filters: Filters): [string, string][] {
  const { chain, protocol, skill, sells, ...scalars } = filters
  const all = Object.entries(scalars).filter(([name, value]) => value !== noFilters[name as keyof Filters])
  const labels = chain?.length === 0 ? ['none'] : (chain ?? []).map((name) => chainOf(name).label)
  const kinds = protocol?.length === 0 ? ['none'] : (protocol ?? [])
  return [
    ...labels.map((label): [string, string] => ['chain', label]),
    ...all.map(([name, value]): [string, string] => [name, String(value)]),
    ...kinds.map((kind): [string, string] => ['protocol', kind]),
    ...(skill ?? []).map((name): [string, string] => ['skill', name]),
    ...(sells ?? []).map((name): [string, string] => ['sells', name]),
  ]
}

/** The search box, and one link for each filter: it works without a script, and each state has an address. */
export function filterBar(filters: Filters, facets: Facets | undefined): Html {
  const { q, chain, claimed, codehost, protocol, skill, sells, alive, paid_30d } = filters
  const kept = entriesOf({ ...filters, q: null, page: 1 })
  const count = (facet: 'chain' | 'claimed' | 'protocol' | 'alive' | 'paid_30d', value: string) =>
    facets && (facets[facet].find((one) => one.value === value)?.count ?? 0)
  const toggle = <F extends keyof Filters>(name: F, value: Filters[F]) =>
    directoryPath(filters, { [name]: filters[name] === value ? noFilters[name] : value })
  return html`${searchBox(q, kept)}
<nav class="filters" aria-label="Filters">
${group(
  'Chain',
  chainNames.map((name) => {
    const { label } = chainOf(name)
    return chip(
      label,
      chain?.includes(name) ?? false,
      directoryPath(filters, { chain: switched(chain, name) }),
      count('chain', label),
    )
  }),
)}
${group('Show', [
  chip('Claimed', claimed === 'claimed', toggle('claimed', 'claimed'), count('claimed', 'claimed')),
  chip('Unclaimed', claimed === 'unclaimed', toggle('claimed', 'unclaimed'), count('claimed', 'unclaimed')),
  chip('Alive now', alive === true, toggle('alive', true), count('alive', 'true')),
  chip('Paid in 30 days', paid_30d === true, toggle('paid_30d', true), count('paid_30d', 'true')),
])}
<details class="values more"${(codehost !== null || protocol !== null || skill !== null || sells !== null) && html` open`}><summary>More filters</summary>
${group('Has', [chip('Code', codehost === true, toggle('codehost', true))])}
${group(
  'Speaks',
  facetFilters.protocol
    .parse(Object.keys(protocolNames))
    ?.map((kind) =>
      chip(
        protocolNames[kind],
        protocol?.includes(kind) ?? false,
        directoryPath(filters, { protocol: switched(protocol, kind) }),
        count('protocol', kind),
      ),
    ) ?? [],
)}
${wordGroup('skill', 'Skill', filters, facets)}
${wordGroup('sells', 'Sells', filters, facets)}
</details>
${sortGroup(filters)}
</nav>
${facets && !facets.complete && html`<p class="sub">Numbers beside the filters are of ${figure(facets.counted)} agents; there are more.</p>`}`
}

/** Words that agents use, the chosen ones first; false: there are none. */
function wordGroup(
  facet: 'skill' | 'sells',
  title: string,
  filters: Filters,
  facets: Facets | undefined,
): Html | false {
  const chosen = filters[facet] ?? []
  const all = [...new Set([...chosen, ...(facets?.[facet] ?? []).map(({ value }) => value)])]
  const chips = all.map((name) =>
    chip(
      name.length <= wordCharacters ? name : `${firstCodePoints(name, wordCharacters)}…`,
      chosen.includes(name),
      directoryPath(filters, { [facet]: switched(filters[facet], name) }),
      facets?.[facet].find(({ value }) => value === name)?.count,
    ),
  )
  return chips.length > 0 && group(title, chips)
}

function sortGroup(filters: Filters): Html {
  const { q, sort } = filters
  return group('Sort', [
    ...(q === null ? [] : [chip('Best match', sort === 'best', directoryPath(filters, { sort: 'best' }))]),
    ...Object.entries(sortNames).map(([word, name]) =>
      chip(
        name,
        sort === word || (q === null && sort === 'best' && word === 'newest'),
        directoryPath(filters, { sort: word as Filters['sort'] }),
      ),
    ),
  ])
}

/** A list with the value added, or removed if it was there; null when nothing is left: no filter. */
function switched<T>(list: readonly T[] | null, value: T): T[] | null {
  const next = list?.includes(value) ? list.filter((one) => one !== value) : [...(list ?? []), value]
  return next.length > 0 ? next : null
}

function group(name: string, chips: readonly Html[]): Html {
  const id = name.toLowerCase()
  return html`<div class="group"><span class="label" id="filter-${id}">${name}</span><ul aria-labelledby="filter-${id}">${chips.map((one) => html`<li>${one}</li>`)}</ul></div>`
}

function chip(name: string, chosen: boolean, target: string, count?: number): Html {
  return html`<a class="chip${count === 0 && !chosen && html` void`}" href="${target}"${chosen && html` aria-current="true"`}><bdi>${name}</bdi>${count !== undefined && html` <span class="n">${figure(count)}</span>`}</a>`
}
