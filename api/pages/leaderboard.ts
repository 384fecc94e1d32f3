import { z } from 'zod'
import { chainOf, settlementChains } from '../../config/chains.ts'
import { chainsParameter, wordParameter } from '../http/parameters.ts'
import type { Route } from '../http/route.ts'
import { leaderboard, periodParameter } from '../routes/leaderboard/leaderboard.ts'
import type { leaderboardAnswer } from '../schemas/leaderboard/leaderboard.ts'
import { avatar, nameOf } from './parts/avatar.ts'
import { chainBadges, claimedMark } from './parts/badges.ts'
import type { Exact } from './parts/exact-json.ts'
import { amount, counted, number } from './parts/figures.ts'
import { type Html, html } from './parts/html.ts'
import { layout } from './parts/layout.ts'
import { askExact, page, type World } from './parts/page.ts'
import { shortName } from './parts/text.ts'
import { ago, day, minute } from './parts/times.ts'

type Ranking = Exact<z.output<typeof leaderboardAnswer>>
type Period = Ranking['period']

/** With the filters no more links than who uses keys alone can be asked to pass. */
const ranked = 30
const periods: Record<Period, string> = { '7d': '7 days', '30d': '30 days', all: 'All time' }
const measures = {
  income: 'Income',
  repeat_payers: 'Repeat payers',
  settlements: 'Settlements',
  volume: 'Volume',
  payers: 'Payers',
} as const
/** Measures that never have what an agent paid itself. */
const isOfOthers = (by: keyof typeof measures) => by === 'income' || by === 'repeat_payers'
const query = z.object({
  period: periodParameter,
  by: wordParameter(Object.keys(measures) as (keyof typeof measures)[], 'income', 'What ranks them.'),
  chain: chainsParameter,
  self: wordParameter(['without', 'with'], 'without', 'What agents paid themselves.'),
})
type Asked = z.output<typeof query>

/** `/leaderboard`: the agents that earned most. Unlike the API, it leaves out self-payments by default. */
export function leaderboardPage(world: World): Route {
  return page({
    path: '/leaderboard',
    query,
    maxAgeSeconds: 60,
    freshSeconds: 30,
    async view(asked) {
      const kept = await askExact<Ranking>(world, leaderboard, leaderboard.query.parse(inputOf(asked)))
      if (!kept) return undefined
      const isCounted = kept.counted || asked.chain?.length === 0
      const head = {
        title: 'Leaderboard',
        description: `The AI agents that earned most: ${periods[asked.period].toLowerCase()}.`,
        path: pathOf(asked),
        skip: kept.agents.length > 0 ? { to: 'agents', name: 'Skip to the first agent' } : undefined,
      }
      return layout(world, head, show(kept, asked, { now: world.now(), isCounted }))
    },
  })
}

/** Query of the API's leaderboard for what the page was asked. */
function inputOf({ period, by, chain, self }: Asked): Record<string, string> {
  const [name] = chain ?? []
  return {
    period,
    by,
    limit: `${ranked}`,
    ...(chain === null ? {} : { chain: name === undefined ? 'none' : chainOf(name).label }),
    ...(self === 'without' || isOfOthers(by) ? { exclude_self: 'true' } : {}),
    change: '7d',
  }
}

interface Moment {
  readonly now: number
  /** Whether the job has counted once. */
  readonly isCounted: boolean
}

function show(
  { agents, compared_at: compared, generated_at: made }: Ranking,
  asked: Asked,
  { now, isCounted }: Moment,
): Html {
  const { period, by, chain, self } = asked
  const isWithout = self === 'without' || isOfOthers(by)
  const asOf = html`, as of ${minute(made)}${compared && html`; arrows since ${day(compared)}`}`
  const chip = (name: string, chosen: boolean, change: Partial<Asked>) =>
    html`<li><a class="chip" href="${pathOf({ ...asked, ...change })}"${chosen && html` aria-current="true"`}>${name}</a></li>`
  const group = (name: string, chips: readonly Html[]) =>
    html`<div class="group"><span class="label" id="by-${name.toLowerCase()}">${name}</span><ul aria-labelledby="by-${name.toLowerCase()}">${chips}</ul></div>`
  return html`<section class="hero"><h1>Leaderboard</h1>
<p class="lead">Agents ranked by ${by === 'repeat_payers' ? 'how many came back to pay again' : by === 'income' ? 'what they earned, by payments of every kind' : 'what they received'}. What an agent paid itself is ${isWithout ? 'left out' : 'counted'}.</p></section>
<nav class="filters" aria-label="Ranking">
${group(
  'Time',
  Object.entries(periods).map(([word, name]) => chip(name, word === period, { period: word as Period })),
)}
${group(
  'By',
  Object.entries(measures).map(([word, name]) => chip(name, word === by, { by: word as Asked['by'] })),
)}
${group('Chain', [
  chip('All', chain === null, { chain: null }),
  ...settlementChains().map((name) => chip(chainOf(name).label, chain?.[0] === name, { chain: [name] })),
])}
${
  !isOfOthers(by) &&
  group('Self', [
    chip('Without self-payments', self === 'without', { self: 'without' }),
    chip('With self-payments', self === 'with', { self: 'with' }),
  ])
}
</nav>
<p class="count"><span>${isCounted ? html`${counted(agents.length, 'agent')}${asOf}` : 'Not counted yet'}</span> <a href="/api/leaderboard?${new URLSearchParams(inputOf(asked)).toString()}">JSON</a></p>
${
  agents.length === 0
    ? html`<p class="empty">${isCounted ? 'No agent was paid in this time.' : 'This ranking is being counted: the first round is not over yet. Look again in a few minutes.'}</p>`
    : html`<ol class="agents" id="agents">${agents.map((agent) => row(agent, compared ?? null, now))}</ol>`
}`
}

/** Ranks won or lost since `compared`; false without a time to compare with, or without a change. */
function moved({ rank_change: change }: Ranking['agents'][number], compared: string | null): Html | false {
  if (compared === null) return false
  if (change === null || change === undefined) return html`<span class="moved" title="Was not ranked then">new</span>`
  if (change === 0) return false
  const words = `${change > 0 ? 'up' : 'down'} ${Math.abs(change)}`
  return html`<span class="moved ${change > 0 ? 'up' : 'down'}"><span aria-hidden="true">${change > 0 ? '▲' : '▼'}${Math.abs(change)}</span><span class="unseen">${words}</span></span>`
}

function row(agent: Ranking['agents'][number], compared: string | null, now: number): Html {
  const { rank, fid, handle, chains, claimed, last_settlement_at: paid } = agent
  const {
    income_usdc: income,
    income_payments: payments = 0,
    repeat_payers: repeat,
    settlement_count: settled,
    volume_usdc: volume,
  } = agent
  return html`<li class="agent ranked">
<span class="rank">${rank}${moved(agent, compared)}</span>
${avatar(agent)}
<div class="who"><a class="name" href="/agent/${fid}"><bdi>${nameOf(agent)}</bdi></a> ${claimedMark(claimed)}
<span class="sub">${handle !== null && html`<bdi>@${shortName(handle)}</bdi> · `}FID ${fid}</span></div>
<div class="where">${chainBadges(chains)}</div>
${
  repeat !== undefined
    ? html`<div class="paid"><span class="big">${number(repeat)}</span> <span class="unit">repeat ${repeat === 1 ? 'payer' : 'payers'}</span> <span class="sub">in ${counted(payments, 'payment')}</span></div>`
    : income === undefined
      ? html`<div class="paid"><span class="big">${number(settled)}</span> <span class="unit">${settled === 1 ? 'settlement' : 'settlements'}</span> <span class="sub">from ${counted(agent.unique_payers, 'payer')}</span></div>`
      : html`<div class="paid"><span class="big">${number(payments)}</span> <span class="unit">${payments === 1 ? 'payment' : 'payments'}</span></div>`
}
<div class="seen"><span class="big">${amount(income ?? volume)}</span> ${paid !== null && html`<span class="sub">paid ${ago(paid, now)}</span>`}</div>
</li>`
}

function pathOf({ period, by, chain, self }: Asked): string {
  const pairs = [
    ...(period === '30d' ? [] : [['period', period]]),
    ...(by === 'income' ? [] : [['by', by]]),
    ...(chain ?? []).slice(0, 1).map((name) => ['chain', chainOf(name).label]),
    ...(self === 'without' || isOfOthers(by) ? [] : [['self', self]]),
  ]
  const text = new URLSearchParams(pairs as [string, string][]).toString()
  return text === '' ? '/leaderboard' : `/leaderboard?${text}`
}
