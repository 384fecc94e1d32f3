import { z } from 'zod'
import { chainOf } from '../../../config/chains.ts'
import { sentSettlements } from '../../../db/queries/income/sent-settlements.ts'
import type { Route } from '../../http/route.ts'
import { facilitators } from '../../routes/income/facilitators.ts'
import type { facilitatorList } from '../../schemas/income/facilitators.ts'
import { chainBadges } from '../parts/badges.ts'
import { type Exact, parseAnswer, type Settlement } from '../parts/exact-json.ts'
import { amount, counted, figure, number } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { layout } from '../parts/layout.ts'
import { ownAddress } from '../parts/links.ts'
import { facilitatorPath, namesOf } from '../parts/names.ts'
import { askExact, page, type World } from '../parts/page.ts'
import { settlementTable } from '../parts/settlement-table.ts'
import { shortName } from '../parts/text.ts'
import { day } from '../parts/times.ts'

type Facilitator = Exact<z.output<typeof facilitatorList>>['facilitators'][number]

/** Most senders on the page, and most settlements of all of them; the JSON has more. */
const mostSenders = 30
const newest = 20

/** `/facilitator/{name}`: what a facilitator known by name settled, from which addresses. */
export function facilitatorPage(world: World): Route {
  return page({
    path: '/facilitator/{name}',
    params: z.object({ name: z.string() }),
    maxAgeSeconds: 60,
    freshSeconds: 30,
    missing: 'No facilitator of this name is known',
    async view({ name }) {
      const list = await askExact<z.output<typeof facilitatorList>>(world, facilitators, {})
      const found = list?.facilitators.find((one) => one.name === name)
      if (!found) return undefined
      const { database, settlementOverloads } = world
      const rows = parseAnswer<Settlement[]>(
        await sentSettlements(database, { name, limit: newest, settlementOverloads }),
      )
      const head = {
        title: `${shortName(name)}, a facilitator`,
        description: `${shortName(name)} settled ${counted(found.settlements, 'gasless USDC payment')} for others.`,
        path: facilitatorPath(name),
      }
      return layout(
        world,
        head,
        [
          about(found),
          senders(found),
          rows.length > 0 &&
            html`<section aria-labelledby="settlements"><h2 id="settlements">Newest settlements</h2>
${settlementTable('Newest settlements', rows, [], await namesOf(world, rows))}</section>`,
          html`<section aria-labelledby="data"><h2 id="data">Check it yourself</h2><p><a href="/api/facilitators">All facilitators as JSON</a>, with who says that an address is theirs.</p></section>`,
        ].filter((part) => part !== false),
      )
    },
  })
}

function about({ name, chains, settlements, volume_usdc, first_used_at, last_used_at }: Facilitator): Html {
  const facts: [string, Html][] = [
    [settlements === 1 ? 'settlement' : 'settlements', number(settlements)],
    ['volume', amount(volume_usdc)],
    ['first and last', html`${day(first_used_at)}, ${day(last_used_at)}`],
  ]
  return html`<section class="hero"><h1><bdi>${shortName(name)}</bdi></h1>
<p class="lead">A facilitator: it sends the transactions of payments for others, and pays their gas.</p>
${chainBadges(chains.map((chain) => chainOf(chain).label))}
<dl class="numbers three">${facts.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl></section>`
}

function senders({ senders: all }: Facilitator): Html {
  return html`<section aria-labelledby="senders"><h2 id="senders">Addresses it sends from</h2>
<ul class="plain">${all.slice(0, mostSenders).map(({ address, source }) => html`<li>${ownAddress(address)} <span class="sub">as ${source} says, <a href="/api/settlements?facilitator=${address}&amp;limit=100&amp;cursor=">what it sent as JSON</a></span></li>`)}</ul>
${all.length > mostSenders && html`<p class="sub">${figure(mostSenders)} of ${figure(all.length)}.</p>`}</section>`
}
