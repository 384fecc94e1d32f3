import { z } from 'zod'
import { chainNames, chainOf } from '../../../config/chains.ts'
import type { Route } from '../../http/route.ts'
import { growth as growthRoute, stats as statsRoute } from '../../routes/directory/stats.ts'
import { allSettlements } from '../../routes/settlements/all-settlements.ts'
import { timeseries } from '../../routes/settlements/timeseries.ts'
import type { stats as statsAnswer } from '../../schemas/directory/stats.ts'
import type { allSettlementsList } from '../../schemas/settlements/settlement.ts'
import type { growthAnswer } from '../../schemas/settlements/timeseries.ts'
import { chart } from '../parts/chart.ts'
import type { Exact } from '../parts/exact-json.ts'
import { amount, counted, number } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { layout } from '../parts/layout.ts'
import { type Names, namesOf } from '../parts/names.ts'
import { askExact, page, type World } from '../parts/page.ts'
import {
  type Asked,
  bucketName,
  firstShown,
  type Series,
  seriesChart,
  seriesChoice,
  seriesInput,
  seriesParameters,
  seriesPath,
  totalOf,
} from '../parts/series.ts'
import { notFinal, settlementTable, toItself } from '../parts/settlement-table.ts'
import { minute } from '../parts/times.ts'

type Growth = Exact<z.output<typeof growthAnswer>>
type List = Exact<z.output<typeof allSettlementsList>>
type Stats = Exact<z.output<typeof statsAnswer>>

const newest = 15
/** How far back the newest settlements are searched, milliseconds. */
const newestMs = 7 * 86_400_000

/** `/network`: growth of the directory and of settlements. Its script adds new settlements; the rest is static. */
export function networkPage(world: World): Route {
  return page({
    path: '/network',
    query: z.object(seriesParameters),
    maxAgeSeconds: 10,
    freshSeconds: 10,
    async view(asked) {
      const now = world.now()
      // Cut to the minute, so that all views of a minute share one cache entry.
      const since = new Date(Math.floor((now - newestMs) / 60_000) * 60_000).toISOString()
      const latest = { ...allSettlements.query.parse({ since, limit: `${newest}` }), chain: asked.chain }
      const [stats, series, growth, list] = await Promise.all([
        askExact<Stats>(world, statsRoute, {}),
        askExact<Series>(world, timeseries, seriesInput(timeseries, asked, now)),
        askExact<Growth>(world, growthRoute, seriesInput(growthRoute, asked, now)),
        askExact<List>(world, allSettlements, latest),
      ])
      if (!stats || !series || !growth || !list) return undefined
      const head = {
        title: 'Network',
        description: 'Growth of agents, claims and gasless USDC settlements, per chain and over time.',
        path: seriesPath('/network', asked),
        script: '/assets/live.js',
      }
      return layout(world, head, [
        about(stats),
        html`<section aria-labelledby="paid"><h2 id="paid">What everybody was paid</h2>
${seriesChoice('/network', asked, 'paid')}
<p class="sub">Gasless USDC settlements to anybody, agents or not.</p>
${seriesChart('volume', series)}</section>`,
        grown(growth),
        chains(stats),
        latestOf(list, asked, await namesOf(world, list.settlements)),
        asData(asked, series),
      ])
    },
  })
}

function about({ total_agents, claimed_count, settlements, generated_at }: Stats): Html {
  const facts: [string, number][] = [
    ['agents', total_agents],
    ['claimed by their owners', claimed_count],
    ['settlements to agents in 30 days', settlements.last_30d],
    ['settlements to agents ever', settlements.all],
  ]
  return html`<section class="hero"><h1>Network</h1><p class="lead">All agents together, as of ${minute(generated_at)}.</p>
<dl class="numbers">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${number(value)}</dd></div>`)}</dl></section>`
}

function grown({ interval, points }: Growth): Html {
  const counts = points.map(({ agents, claims }) => agents + claims)
  const shown = points.slice(firstShown(interval, counts))
  const agents = shown.reduce((sum, point) => sum + point.agents, 0)
  const claims = shown.reduce((sum, point) => sum + point.claims, 0)
  const bars = shown.map((point) => ({
    name: bucketName(interval, point.start),
    value: point.agents + point.claims,
    cells: [counted(point.agents, 'new agent'), counted(point.claims, 'first claim')],
  }))
  return html`<section aria-labelledby="growth"><h2 id="growth">New agents and claims</h2>
${chart({
  id: 'grown',
  title: 'New agents and first claims over time',
  summary: `${counted(agents, 'new agent')} and ${counted(claims, 'first claim')} over ${counted(shown.length, interval)}.`,
  columns: [interval === 'month' ? 'Month' : 'Day', 'New agents', 'First claims'],
  bars,
  scale: (value) => (Number.isInteger(value) ? short.format(value) : ''),
  isLastPartial: true,
})}</section>`
}

const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

function chains({ chains: all, erc8004_supply: supply }: Stats): Html {
  return html`<section aria-labelledby="chains"><h2 id="chains">ERC-8004 identities by chain</h2>
<div class="table" role="group" aria-labelledby="chains" tabindex="0"><table><thead><tr><th scope="col">Chain</th><th scope="col" class="number">Identities</th><th scope="col">Agents</th></tr></thead>
<tbody>${all.map(
    ({ chain }) =>
      html`<tr><th scope="row"><span class="chain ${chain}">${chainOf(chain).label}</span></th><td class="number">${number(supply[chain] ?? 0)}</td><td><a href="/?chain=${chainOf(chain).label}">list them</a></td></tr>`,
  )}</tbody></table></div></section>`
}

function latestOf({ settlements }: List, asked: Asked, names: Names): Html {
  const query = new URLSearchParams(
    (asked.chain ?? []).map((name): [string, string] => ['chain', chainOf(name).label]),
  ).toString()
  const stream = `/data/settlements.sse${query === '' ? '' : `?${query}`}`
  const labels = Object.fromEntries(chainNames.map((name) => [name, chainOf(name).label]))
  return html`<section aria-labelledby="newest"><h2 id="newest">Newest settlements</h2>
<p class="sub" id="live" data-stream="${stream}" data-every="15">As of when this page was made; with scripts on, new ones appear by themselves.</p>
<div id="live-rows">${
    settlements.length === 0 && html`<p class="empty">Nothing was paid in the last seven days.</p>`
  }<div${settlements.length === 0 && html` hidden`}>${settlementTable('Newest settlements', settlements, [], names)}</div></div>
<template id="live-row" data-labels="${JSON.stringify(labels)}"><tr><td><time class="minute"></time></td><td class="number"><data class="usd"><span class="cents"></span></data></td><td><span class="chain"></span></td><td><a class="hex"></a>${toItself}</td><td><a class="hex"></a></td><td><a class="hex"></a>${notFinal}</td></tr></template></section>`
}

function asData(asked: Asked, series: Series): Html {
  const { volume, count } = totalOf(series)
  const query = new URLSearchParams({
    interval: series.interval,
    ...(series.since === null ? {} : { since: series.since }),
  })
  for (const name of asked.chain ?? []) query.append('chain', chainOf(name).label)
  return html`<section aria-labelledby="data"><h2 id="data">Check it yourself</h2>
<p>${amount(volume)} in ${counted(count, 'settlement')}: <a href="/api/timeseries?${query.toString()}">series of settlements</a> · <a href="/api/growth?${query.toString()}">series of agents and claims</a> · <a href="/api/stats">totals</a></p></section>`
}
