import { z } from 'zod'
import { type Html, html } from '../http/html.ts'
import type { Route } from '../http/route.ts'
import { leaderboard, periodParameter } from '../routes/leaderboard.ts'
import type { leaderboardAnswer } from '../schemas/leaderboard.ts'
import { avatar, nameOf } from './parts/avatar.ts'
import { chainBadges, claimedMark } from './parts/badges.ts'
import type { Exact } from './parts/exact-json.ts'
import { counted, dollars, figure } from './parts/figures.ts'
import { layout } from './parts/layout.ts'
import { askExact, page, type World } from './parts/page.ts'
import { ago } from './parts/times.ts'

type Ranking = Exact<z.output<typeof leaderboardAnswer>>
type Period = Ranking['period']

const ranked = 50
const periods: Record<Period, string> = { '7d': '7 days', '30d': '30 days', all: 'All time' }

/** `/leaderboard`: the agents that were paid most often. */
export function leaderboardPage(world: World): Route {
  return page({
    path: '/leaderboard',
    params: z.object({}),
    query: z.object({ period: periodParameter }),
    maxAgeSeconds: 60,
    freshSeconds: 30,
    async view({ period }) {
      const ranking = await askExact<z.output<typeof leaderboardAnswer>>(world, leaderboard, { period, limit: ranked })
      if (!ranking) return undefined
      const head = {
        title: 'Leaderboard',
        description: `The AI agents with the most gasless USDC settlements: ${periods[period].toLowerCase()}.`,
        path: pathOf(period),
      }
      return layout(world, head, show(ranking, world.now()))
    },
  })
}

function show({ period, agents }: Ranking, now: number): Html {
  const chips = Object.entries(periods).map(
    ([word, name]) =>
      html`<li><a class="chip" href="${pathOf(word as Period)}"${word === period && html` aria-current="true"`}>${name}</a></li>`,
  )
  return html`<section class="hero"><h1>Leaderboard</h1>
<p class="lead">Agents by the settlements their verified addresses received, then by volume.</p></section>
<nav class="filters" aria-label="Period"><div class="group"><ul>${chips}</ul></div></nav>
<p class="count"><span>${counted(agents.length, 'agent')}</span> <a href="/api/leaderboard?period=${period}&amp;limit=${ranked}">JSON</a></p>
${
  agents.length === 0
    ? html`<p class="empty">No agent was paid in this time.</p>`
    : html`<ol class="agents">${agents.map((agent) => row(agent, now))}</ol>`
}`
}

function row(agent: Ranking['agents'][number], now: number): Html {
  const { rank, fid, handle, chains, claimed, settlement_count, volume_usdc, unique_payers, last_settlement_at } = agent
  return html`<li class="agent ranked">
<span class="rank">${rank}</span>
${avatar(agent)}
<div class="who"><a class="name" href="/agent/${fid}"><bdi>${nameOf(agent)}</bdi></a> ${claimedMark(claimed)}
<span class="sub">${handle !== null && html`<bdi>@${handle}</bdi> · `}FID ${fid}</span></div>
<div class="where">${chainBadges(chains)}</div>
<div class="paid"><span class="big">${figure(settlement_count)}</span> <span class="sub">from ${counted(unique_payers, 'payer')}</span></div>
<div class="seen"><span class="big">${dollars(volume_usdc)}</span> <span class="sub">last ${ago(last_settlement_at, now)}</span></div>
</li>`
}

function pathOf(period: Period): string {
  return period === '30d' ? '/leaderboard' : `/leaderboard?period=${period}`
}
