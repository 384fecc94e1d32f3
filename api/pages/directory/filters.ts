import type { z } from 'zod'
import { chainNames, chainOf } from '../../../chains.config.ts'
import { queryLimits, rowLimits } from '../../../limits.config.ts'
import { type Html, html } from '../../http/html.ts'
import type { discoveryQuery } from '../../routes/discovery.ts'

export type Filters = z.output<typeof discoveryQuery>

/** The default of everything that a path leaves out. */
export const noFilters: Filters = {
  q: null,
  chain: null,
  claimed: 'all',
  spec: null,
  codehost: null,
  sort: 'newest',
  page: 1,
  limit: rowLimits.discovery.fallback,
}

const sortNames: Record<Filters['sort'], string> = {
  newest: 'Newest',
  oldest: 'Oldest',
  'cross-chain': 'Most chains',
  'most-active': 'Most active',
}

/** Address of the list with other filters; a filter other than the page starts at the first page. */
export function directoryPath(filters: Filters, change: Partial<Filters> = {}): string {
  const query = new URLSearchParams(entriesOf({ ...filters, page: 1, ...change })).toString()
  return query === '' ? '/' : `/?${query}`
}

/** What differs from the default, as parameters. */
function entriesOf(filters: Filters): [string, string][] {
  const { chain, ...scalars } = filters
  const all = Object.entries(scalars).filter(([name, value]) => value !== noFilters[name as keyof Filters])
  const labels = chain?.length === 0 ? ['none'] : (chain ?? []).map((name) => chainOf(name).label)
  return [
    ...labels.map((label): [string, string] => ['chain', label]),
    ...all.map(([name, value]): [string, string] => [name, String(value)]),
  ]
}

/** The search box, and one link for each filter: it works without a script, and each state has an address. */
export function filterBar(filters: Filters): Html {
  const { q, chain, claimed, spec, codehost, sort } = filters
  const kept = entriesOf({ ...filters, q: null, page: 1 })
  return html`<form class="search" action="/" role="search">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label class="unseen" for="q">Search agents</label>
<input id="q" type="search" name="q" value="${q}" maxlength="${queryLimits.characters}" placeholder="Name, FID or 0x address" autocomplete="off" spellcheck="false">
<button>Search</button>
</form>
<nav class="filters" aria-label="Filters">
${group(
  'Chain',
  chainNames.map((name) => {
    const chosen = chain?.includes(name) ?? false
    const others = (chain ?? []).filter((other) => other !== name)
    const next = chosen ? others : [...others, name]
    return chip(chainOf(name).label, chosen, directoryPath(filters, { chain: next.length > 0 ? next : null }))
  }),
)}
${group('Show', [
  chip('Claimed', claimed === 'claimed', toggled(filters, 'claimed', 'claimed')),
  chip('Unclaimed', claimed === 'unclaimed', toggled(filters, 'claimed', 'unclaimed')),
  chip('With a spec', spec === true, toggled(filters, 'spec', true)),
  chip('With code', codehost === true, toggled(filters, 'codehost', true)),
])}
${group(
  'Sort',
  Object.entries(sortNames).map(([word, name]) =>
    chip(name, sort === word, directoryPath(filters, { sort: word as Filters['sort'] })),
  ),
)}
</nav>`
}

function toggled<F extends 'claimed' | 'spec' | 'codehost'>(filters: Filters, name: F, value: Filters[F]): string {
  return directoryPath(filters, { [name]: filters[name] === value ? noFilters[name] : value })
}

function group(name: string, chips: readonly Html[]): Html {
  return html`<div class="group"><span class="label" id="filter-${name}">${name}</span><ul aria-labelledby="filter-${name}">${chips.map((one) => html`<li>${one}</li>`)}</ul></div>`
}

function chip(name: string, chosen: boolean, target: string): Html {
  return html`<a class="chip" href="${target}"${chosen && html` aria-current="true"`}>${name}</a>`
}
