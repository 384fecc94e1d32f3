import { z } from 'zod'
import { feedPath } from '../../feed/selection.ts'
import { type Html, html } from '../../http/html.ts'
import type { Route } from '../../http/route.ts'
import { claimedFlags, discovery, discoveryQuery } from '../../routes/discovery.ts'
import { stats as statsRoute } from '../../routes/stats.ts'
import type { discoveryList } from '../../schemas/discovery.ts'
import type { stats as statsAnswer } from '../../schemas/stats.ts'
import { avatar, nameOf } from '../parts/avatar.ts'
import { chainBadges, claimedMark } from '../parts/badges.ts'
import type { Exact } from '../parts/exact-json.ts'
import { counted, figure } from '../parts/figures.ts'
import { layout } from '../parts/layout.ts'
import { askExact, page, type World } from '../parts/page.ts'
import { ago } from '../parts/times.ts'
import { directoryPath, type Filters, filterBar, noFilters } from './filters.ts'

type Listed = Exact<z.output<typeof discoveryList>>
type Agent = Listed['agents'][number]
type Stats = Exact<z.output<typeof statsAnswer>>

/** The parameters of a request without any, as the API parses them, so that page and API share a cache entry. */
const everyFilter = discovery.query.parse({})

/** `/`: all agents, to be searched and filtered with the parameters of GET /api/discovery. */
export function directoryPage(world: World): Route {
  return page({
    path: '/',
    params: z.object({}),
    query: discoveryQuery,
    maxAgeSeconds: 30,
    freshSeconds: 5,
    async view(filters) {
      const [list, stats] = await Promise.all([
        askExact<z.output<typeof discoveryList>>(world, discovery, { ...everyFilter, ...filters }),
        askExact<z.output<typeof statsAnswer>>(world, statsRoute, {}),
      ])
      if (!list || !stats) return undefined
      const path = directoryPath(filters, { page: filters.page })
      const feed = feedOf(filters)
      const head = {
        title: filters.q === null ? 'AI agents and who they belong to' : `Agents like “${filters.q}”`,
        description: `${figure(stats.total_agents)} AI agents with on-chain identities, joined with the accounts that stand behind them and every gasless USDC settlement they received.`,
        path,
        feeds: feed === '/feed.atom' ? [] : [{ title: 'Newest agents of this selection', path: feed }],
      }
      return layout(
        world,
        head,
        html`${path === '/' && hero(stats)}
${path !== '/' && html`<h1 class="unseen">Agents</h1>`}
${filterBar(filters)}
${results(filters, list, world.now())}`,
      )
    },
  })
}

/** The feed of the same agents, as far as the feed can tell them apart. */
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
<p class="lead">ERC-8004 identities on seven chains, joined with Farcaster accounts through addresses those accounts verify, and every gasless USDC payment they were sent.</p>
<dl class="numbers">${numbers.map(([name, value]) => html`<div><dt>${name}</dt><dd>${figure(value)}</dd></div>`)}</dl>
</section>`
}

function results(filters: Filters, { agents, total, page, limit }: Listed, now: number): Html {
  const path = directoryPath(filters)
  const pages = Math.max(1, Math.ceil(total / limit))
  return html`<section aria-label="Agents">
<p class="count" role="status"><span>${counted(total, 'agent')}${pages > 1 && html`, page ${figure(page)} of ${figure(pages)}`}</span>${
    path !== directoryPath(noFilters, { sort: filters.sort, limit: filters.limit }) &&
    html` <a href="${directoryPath(noFilters, { sort: filters.sort, limit: filters.limit })}">Clear filters</a>`
  } <a href="/api/discovery${directoryPath(filters, { page }).slice(1)}">JSON</a> <a href="${feedOf(filters)}">Atom</a></p>
${
  agents.length === 0
    ? html`<p class="empty">No agent matches. Try fewer filters, part of a name, a FID, or a whole address.</p>`
    : html`<ol class="agents">${agents.map((agent) => row(agent, now))}</ol>`
}
${pages > 1 && pager(filters, page, pages)}
</section>`
}

function row(agent: Agent, now: number): Html {
  const { fid, handle, oli, chains, claimed, settlements_30d, settlements_all, last_seen_at } = agent
  return html`<li class="agent">
${avatar(agent)}
<div class="who"><a class="name" href="/agent/${fid}"><bdi>${nameOf(agent)}</bdi></a> ${claimedMark(claimed)}
<span class="sub">${handle !== null && html`<bdi>@${handle}</bdi> · `}FID ${fid}${oli !== null && html` · <bdi>${oli}</bdi>`}</span></div>
<div class="where">${chainBadges(chains)}</div>
<div class="paid">${
    settlements_all === 0
      ? html`<span class="sub">no settlement yet</span>`
      : html`<span class="big">${figure(settlements_30d)}</span> <span class="sub">in 30 days, ${figure(settlements_all)} ever</span>`
  }</div>
<div class="seen"><span class="sub">seen ${ago(last_seen_at, now)}</span></div>
</li>`
}

function pager(filters: Filters, page: number, pages: number): Html {
  const to = (target: number, name: string, rel: string) =>
    html`<a class="button" rel="${rel}" href="${directoryPath(filters, { page: target })}">${name}</a>`
  return html`<nav class="pager" aria-label="Pages">
${page > 1 && to(Math.min(page - 1, pages), '← Previous', 'prev')}
<span>Page ${figure(page)} of ${figure(pages)}</span>
${page < pages && to(page + 1, 'Next →', 'next')}
</nav>`
}
