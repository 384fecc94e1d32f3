import type { z } from 'zod'
import { chainNames } from '../../../config/chains.ts'
import { readingLimits } from '../../../config/limits.ts'
import { agentDescriptions } from '../../../db/queries/agents/profile.ts'
import { type Earned, earnedBy } from '../../../db/queries/income/earned.ts'
import { readInParts } from '../../../db/queries/sql/broken-rows.ts'
import { feedPath } from '../../feed/listed.ts'
import type { Route } from '../../http/route.ts'
import { claimedFlags, discovery } from '../../routes/directory/discovery.ts'
import { facets as facetsRoute } from '../../routes/directory/facets.ts'
import { search } from '../../routes/directory/search.ts'
import { stats as statsRoute } from '../../routes/directory/stats.ts'
import type { discoveryList } from '../../schemas/directory/discovery.ts'
import type { facetsAnswer, searchAnswer } from '../../schemas/directory/search.ts'
import type { stats as statsAnswer } from '../../schemas/directory/stats.ts'
import { avatar, nameOf } from '../parts/avatar.ts'
import { chainBadges, claimedMark } from '../parts/badges.ts'
import type { Exact } from '../parts/exact-json.ts'
import { amount, counted, figure, number, shortened } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { layout } from '../parts/layout.ts'
import { askExact, page, type World } from '../parts/page.ts'
import { excerpt, firstCodePoints, oneLine, shortName } from '../parts/text.ts'
import { ago } from '../parts/times.ts'
import { directoryPath, directoryQuery, type Filters, filterBar, filterQuery, noFilters } from './filters.ts'
import { jumps } from './jumps.ts'

type Listed = Exact<z.output<typeof discoveryList>>
type Found = Exact<z.output<typeof searchAnswer>>
type Agent = Listed['agents'][number] & { readonly matched?: Found['agents'][number]['matched'] }
/** One page of the search results or of the filtered list. */
interface Shown {
  readonly agents: readonly Agent[]
  readonly total: number
  readonly page: number
  readonly limit: number
}
interface Described extends Shown {
  /** What agents do, by FID. */
  readonly descriptions: ReadonlyMap<number, string>
  /** What they earned, by FID. */
  readonly earned: ReadonlyMap<number, Earned>
}
type Stats = Exact<z.output<typeof statsAnswer>>

/** Parameters of an API request without a query, parsed as the API does, so that page and API share a cache entry. */
const everyFilter = discovery.query.parse({})

/** `/`: all agents, with search and filters. Search words without an explicit order give the best match first. */
export function directoryPage(world: World): Route {
  return page({
    path: '/',
    query: directoryQuery,
    maxAgeSeconds: 30,
    freshSeconds: 5,
    async view(filters) {
      const { sort: _sort, page: _page, limit: _limit, ...asked } = filters
      const [list, stats, facets, jump] = await Promise.all([
        describedListOf(world, filters),
        askExact<Stats>(world, statsRoute, {}),
        askExact<z.output<typeof facetsAnswer>>(world, facetsRoute, {
          ...asked,
          of: isRanked(filters) ? 'search' : 'discovery',
        }),
        filters.q === null ? html`` : jumps(world, filters.q),
      ])
      if (!list || !stats) return undefined
      const path = directoryPath(filters, { page: filters.page })
      const feed = feedOf(filters)
      const head = {
        title: filters.q === null ? 'AI agents and who they belong to' : `Agents like “${filters.q}”`,
        description: `${figure(stats.total_agents)} AI agents with on-chain identities, joined with the accounts that stand behind them and every gasless USDC settlement they received.`,
        path,
        about: path === '/' ? siteAbout(world) : undefined,
        skip: list.agents.length > 0 ? { to: 'agents', name: 'Skip to the first agent' } : undefined,
        feeds: feed === '/feed.atom' ? [] : [{ title: 'Newest agents of this selection', path: feed }],
      }
      return layout(
        world,
        head,
        html`${path === '/' && hero(stats)}
${path !== '/' && html`<h1 class="unseen">Agents</h1>`}
${filterBar(filters, facets)}
${jump}
${results(filters, list, world.now())}`,
      )
    },
  })
}

const siteAbout = ({ serviceName, siteUrl }: World) => ({
  '@type': 'WebSite',
  name: serviceName,
  url: `${siteUrl}/`,
  potentialAction: {
    '@type': 'SearchAction',
    target: { '@type': 'EntryPoint', urlTemplate: `${siteUrl}/?q={words}` },
    'query-input': 'required name=words',
  },
})

const isRanked = ({ q, sort }: Filters) => q !== null && sort === 'best'

function listOf(world: World, { sort, ...filters }: Filters): Promise<Shown | undefined> {
  if (isRanked({ sort, ...filters })) {
    return askExact<z.output<typeof searchAnswer>>(world, search, { in: null, ...filters })
  }
  const order = sort === 'best' ? 'newest' : sort
  const asked = { ...everyFilter, ...filters, sort: order }
  return askExact<z.output<typeof discoveryList>>(world, discovery, asked) as Promise<Shown | undefined>
}

async function describedListOf(world: World, filters: Filters): Promise<Described | undefined> {
  const list = await listOf(world, filters)
  if (!list) return undefined
  const fids = list.agents.map(({ fid }) => fid)
  const [parts, earned] = await Promise.all([
    readInParts({
      fids,
      read: (some) => agentDescriptions(world.database, some),
      leftOut: (fid, cause) => world.leftOut('descriptions', fid, cause),
    }),
    earnedBy(world.database, fids),
  ])
  return { ...list, earned, descriptions: new Map(parts.flatMap((part) => [...part])) }
}

/** Path of the Atom feed with those of the same filters that it knows: chain and claim status. */
function feedOf({ chain, claimed }: Filters): string {
  return feedPath({ chain, claimed: claimedFlags[claimed] })
}

function hero(stats: Stats): Html {
  const numbers: [string, number][] = [
    ['agents', stats.total_agents],
    ['claimed by their owners', stats.claimed_count],
    ['on two chains or more', stats.cross_chain_count],
    ['settlements in 30 days', stats.settlements.last_30d],
  ]
  return html`<section class="hero">
<h1>AI agents, and who stands behind them.</h1>
<p class="lead">ERC-8004 identities on ${chainNames.length} chains, joined with the Farcaster accounts that verify their addresses, and every gasless USDC payment they received.</p>
<dl class="numbers">${numbers.map(([name, value]) => html`<div><dt>${name}</dt><dd>${number(value)}</dd></div>`)}</dl>
</section>`
}

function results(filters: Filters, { total, page, limit, ...shown }: Described, now: number): Html {
  const { agents, descriptions, earned } = shown
  const path = directoryPath(filters)
  const pages = Math.max(1, Math.ceil(total / limit))
  return html`<section aria-label="Agents">
<p class="count" role="status"><span>${isRanked(filters) && total === readingLimits.hits && 'the best '}${counted(total, 'agent')}${pages > 1 && html`, page ${figure(page)} of ${figure(pages)}`}</span>${
    path !== directoryPath(noFilters, { sort: filters.sort, limit: filters.limit }) &&
    html` <a href="${directoryPath(noFilters, { sort: filters.sort, limit: filters.limit })}">Clear filters</a>`
  }</p>
${
  agents.length === 0
    ? html`<p class="empty">No agent matches. Try fewer filters, part of a name, a skill, a FID, or a whole address.${filters.q !== null && !isRanked(filters) && html` <a href="${directoryPath(filters, { sort: 'best' })}">The best match</a> looks at skills and descriptions too, forgives typing errors, and knows transactions and registrations.`}</p>`
    : html`<ol class="agents" id="agents">${agents.map((agent) => row(agent, { description: descriptions.get(agent.fid), earned: earned.get(agent.fid), now }))}</ol>`
}
${pages > 1 && pager(filters, page, pages)}
<p class="count"><a href="${jsonPath(filters, page)}">JSON</a> <a href="${feedOf(filters)}">Atom</a></p>
</section>`
}

/** Path of the answer that has the same agents. A page of the search API is shorter by default: its length is named. */
function jsonPath(filters: Filters, page: number): string {
  const query = new URLSearchParams(filterQuery({ ...filters, page }))
  if (isRanked(filters)) query.set('limit', String(filters.limit))
  return `/api/${isRanked(filters) ? 'search' : 'discovery'}${query.size === 0 ? '' : `?${query}`}`
}

interface RowDetails {
  readonly description: string | undefined
  /** Undefined: nothing. */
  readonly earned: Earned | undefined
  readonly now: number
}

function row(agent: Agent, { description, earned, now }: RowDetails): Html {
  const { fid, handle, oli, chains, claimed, settlements_30d, settlements_all, last_seen_at } = agent
  return html`<li class="agent">
${avatar(agent)}
<div class="who"><a class="name" href="/agent/${fid}"><bdi>${nameOf(agent)}</bdi></a> ${claimedMark(claimed)}
<span class="sub">${handle !== null && html`<bdi>@${shortName(handle)}</bdi> · `}FID ${fid}${oli !== null && html` · <bdi>${shortName(oli)}</bdi>`}</span>${matches(agent) || says(description)}</div>
<div class="where">${chainBadges(chains)}</div>
<div class="paid">${
    settlements_all === 0
      ? html`<span class="sub">no settlement yet</span>`
      : html`<span class="big">${number(settlements_30d)}</span> <span class="unit">${settlements_30d === 1 ? 'settlement' : 'settlements'}</span> <span class="sub">in 30 days, ${figure(settlements_all)} ever</span>`
  }</div>
<div class="seen">${
    earned &&
    html`<span class="big">${amount(earned.last30d)}</span> <span class="sub">earned in 30 days,</span> <span class="sub">${amount(earned.ever)} ever</span>`
  } ${last_seen_at !== null && html`<span class="sub">seen ${ago(last_seen_at, now)}</span>`}</div>
</li>`
}

/** Fields whose matches are not shown, because the row shows the field itself. */
const plainFields: readonly string[] = ['handle', 'display_name', 'fid']
const mostMatches = 2

function matches({ matched = [] }: Agent): Html | false {
  const told = matched.filter(({ field }) => !plainFields.includes(field)).slice(0, mostMatches)
  return (
    told.length > 0 &&
    html`<span class="sub match">${told.map(({ field, snippet }) => html`<span>${field}: <bdi>${isHex.test(snippet) ? shortened(snippet) : firstCodePoints(snippet, snippetCharacters)}</bdi></span>`)}</span>`
  )
}

function says(description: string | undefined): Html | false {
  const line = excerpt(oneLine(description ?? ''), snippetCharacters)
  return line !== '' && html`<span class="sub says"><bdi>${line}</bdi></span>`
}

const snippetCharacters = 120
/** Matches a text that is nothing but an address or a hash. */
const isHex = /^0x[0-9a-f]{40,64}$/

function pager(filters: Filters, page: number, pages: number): Html {
  const to = (target: number, name: string, rel: string) =>
    html`<a class="button" rel="${rel}" href="${directoryPath(filters, { page: target })}">${name}</a>`
  return html`<nav class="pager" aria-label="Pages">
${page > 1 && to(Math.min(page - 1, pages), '← Previous', 'prev')}
<span>Page ${figure(page)} of ${figure(pages)}</span>
${page < pages && to(page + 1, 'Next →', 'next')}
</nav>`
}
