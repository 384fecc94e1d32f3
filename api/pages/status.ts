import type { z } from 'zod'
import { lagObjective } from '../../config/chains.row.ts'
import { chainOf } from '../../config/chains.ts'
import { sourceNamed } from '../../config/sources.ts'
import { type SourceProgress, sourceProgress } from '../../db/queries/sources/source-progress.ts'
import type { Route } from '../http/route.ts'
import { stats as statsRoute } from '../routes/directory/stats.ts'
import type { stats as statsAnswer } from '../schemas/directory/stats.ts'
import type { Exact } from './parts/exact-json.ts'
import { number } from './parts/figures.ts'
import { type Html, html } from './parts/html.ts'
import { layout } from './parts/layout.ts'
import { askExact, page, type World } from './parts/page.ts'
import { ago, duration, minute } from './parts/times.ts'

type Stats = Exact<z.output<typeof statsAnswer>>

/** `/status`: how far each chain is indexed and each source is read. */
export function statusPage(world: World): Route {
  return page({
    path: '/status',
    maxAgeSeconds: 30,
    freshSeconds: 30,
    async view() {
      const [stats, sources] = await Promise.all([
        askExact<z.output<typeof statsAnswer>>(world, statsRoute, {}),
        sourceProgress(world.database),
      ])
      if (!stats) return undefined
      const head = {
        title: 'Status',
        description: 'How far each chain is indexed, and how far each source is read.',
        path: '/status',
      }
      return layout(world, head, [summary(stats), chainTable(stats), sourceTable(sources, world.now())])
    },
  })
}

function summary({ chains: all, hub, log, generated_at }: Stats): Html {
  const started = all.filter(({ lag_seconds }) => lag_seconds !== null)
  const late = started.filter(isLate)
  const words =
    started.length === 0
      ? 'No chain is indexed yet.'
      : late.length === 0
        ? 'Every indexed chain is up to date.'
        : `Behind: ${late.map(({ chain }) => chainOf(chain).label).join(', ')}.`
  return html`<section class="hero"><h1>Status</h1><p class="lead">${words} ${social(hub)} ${lost(log)} As of ${minute(generated_at)}.</p></section>`
}

function social(hub: Stats['hub']): string {
  if (hub === null) return ''
  return hub.believed
    ? `The social network is read from ${hub.host}.`
    : `The social network is not read: ${hub.host} is not believed.`
}

/** That entries of the transparency log were lost, for good: whoever has what was signed before can compare. */
function lost(log: Stats['log']): Html {
  if (!log?.before) return html``
  const { origin, entries } = log.before
  return html`The transparency log is number ${number(log.number)}: entries of the one before, ${origin}, were lost. The last that is known of it is a checkpoint of ${number(entries)} entries, in <a href="/api/stats">the statistics</a>.`
}

type Progress = Stats['chains'][number]

/** Whether a chain misses its objective; indexed no further than it is final, its tip is not read from a node. */
function isLate({ lag_seconds, indexed_block, finalized_block }: Progress): boolean {
  const readsTip = indexed_block !== null && finalized_block !== null && indexed_block > finalized_block
  return lag_seconds !== null && lag_seconds > (readsTip ? lagObjective.atTip : lagObjective.whenFinal)
}

function chainTable({ chains: all, erc8004_supply: supply }: Stats): Html {
  const block = (height: number | null) => html`${height === null ? '–' : number(height)}`
  const row = (progress: Progress) => {
    const { chain, head_block, indexed_block, finalized_block, lag_seconds } = progress
    const dot = lag_seconds === null ? 'idle' : isLate(progress) ? 'down' : 'alive'
    const behind = html`${lag_seconds === null ? 'not started' : duration(lag_seconds)}`
    const blocks = [head_block, indexed_block, finalized_block].map(block)
    return [
      html`<span class="dot ${dot}"></span>${chainOf(chain).label}`,
      ...blocks,
      behind,
      block(supply[chain] ?? null),
    ]
  }
  return table('Chains', ['Chain', 'Head', 'Indexed', 'Final', 'Behind by', 'Identities'], all.map(row))
}

/** Table whose first cell of each row is its header; on a narrow page each cell shows the name of its column. */
function table(title: string, [first, ...names]: readonly string[], rows: readonly (readonly Html[])[]): Html {
  const id = title.toLowerCase()
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
<div class="table wraps named" role="group" aria-labelledby="${id}" tabindex="0"><table>
<thead><tr><th scope="col">${first}</th>${names.map((name) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>${rows.map(([about, ...cells]) => html`<tr><th scope="row">${about}</th>${cells.map((cell, index) => html`<td class="number" data-name="${names[index]}">${cell}</td>`)}</tr>`)}</tbody></table></div></section>`
}

function sourceTable(sources: readonly SourceProgress[], now: number): Html {
  if (sources.length === 0) {
    return html`<section aria-labelledby="sources"><h2 id="sources">Sources</h2><p class="empty">No source has been read yet.</p></section>`
  }
  const row = ({ source, known, due, failing, lastSuccessAt }: SourceProgress) => [
    html`${sourceNamed(source)?.label ?? source}`,
    ago(lastSuccessAt?.toISOString() ?? null, now),
    ...[due, failing, known].map((n) => html`${number(n)}`),
  ]
  return table('Sources', ['Source', 'Last success', 'Waiting', 'Failing', 'Known'], sources.map(row))
}
