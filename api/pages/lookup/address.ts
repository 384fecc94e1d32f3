import { z } from 'zod'
import { chainOf, settlementChains } from '../../../config/chains.ts'
import { addressParameter } from '../../http/parameters.ts'
import type { Route } from '../../http/route.ts'
import { explainByAddress } from '../../routes/addresses/by-address.ts'
import { portfolio } from '../../routes/agents/as-of.ts'
import { allSettlements } from '../../routes/settlements/all-settlements.ts'
import type { portfolioAnswer } from '../../schemas/agents/as-of.ts'
import type { addressExplanation } from '../../schemas/agents/explain.ts'
import type { allSettlementsList } from '../../schemas/settlements/settlement.ts'
import type { Exact } from '../parts/exact-json.ts'
import { amount, counted, figure } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { layout } from '../parts/layout.ts'
import { agentLink, explorerLink, identityLink } from '../parts/links.ts'
import { type Names, namesOf } from '../parts/names.ts'
import { askExact, page, type World } from '../parts/page.ts'
import { settlementTable } from '../parts/settlement-table.ts'
import { day, period } from '../parts/times.ts'

type Portfolio = Exact<z.output<typeof portfolioAnswer>>
type Explanation = Exact<z.output<typeof addressExplanation>>
type List = Exact<z.output<typeof allSettlementsList>>

/** Most settlements of each list, and most registrations; the JSON has more. */
const newest = 20
const mostTokens = 50

/** `/address/{address}`: whose it is, what it holds, what it was paid and paid. For any address, known or not. */
export function addressPage(world: World): Route {
  return page({
    path: '/address/{address}',
    params: z.object({ address: addressParameter }),
    maxAgeSeconds: 30,
    freshSeconds: 10,
    async view({ address }) {
      const settled = (who: 'payer' | 'recipient') =>
        askExact<List>(world, allSettlements, allSettlements.query.parse({ [who]: address, limit: `${newest}` }))
      const [held, explained, received, paid] = await Promise.all([
        askExact<Portfolio>(world, portfolio, { address }),
        askExact<Explanation>(world, explainByAddress, { address }),
        settled('recipient'),
        settled('payer'),
      ])
      if (!held || !explained) return undefined
      const names = await namesOf(world, [...(received?.settlements ?? []), ...(paid?.settlements ?? [])])
      const head = {
        title: `Address ${address}`,
        description: `${explained.summary} Received ${counted(held.settlements_in.count, 'settlement')}, paid ${figure(held.settlements_out.count)}.`,
        path: `/address/${address}`,
      }
      return layout(world, head, [
        about(held, explained),
        whose(held, explained),
        tokens(world, held),
        money('received', 'Received', received, held.settlements_in, `recipient=${address}`, { address, names }),
        money('paid', 'Paid', paid, held.settlements_out, `payer=${address}`, { address, names }),
        asData(address, held.agents.length + held.registrations_total > 0),
      ])
    },
  })
}

function about(
  { address, registrations_total: tokens, ...held }: Portfolio,
  { summary, fid, in_index: listed }: Explanation,
): Html {
  const facts: [string, Html | string][] = [
    [tokens === 1 ? 'identity held' : 'identities held', figure(tokens)],
    [
      counted(held.settlements_in.count, 'settlement received', 'settlements received'),
      amount(held.settlements_in.amount_usdc),
    ],
    [
      counted(held.settlements_out.count, 'settlement paid', 'settlements paid'),
      amount(held.settlements_out.amount_usdc),
    ],
  ]
  return html`<section class="hero"><h1>Address</h1>
<p class="lead"><code class="whole">${address}</code></p>
<p>${summary.replace(address, 'It')} ${listed && fid !== null && html`<a href="/agent/${fid}">Its page</a> · `}<a href="/explain?q=${address}">Why?</a></p>
<dl class="numbers three">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></section>`
}

function whose({ agents, other_agents: others }: Portfolio, { verifications }: Explanation): Html {
  const handles = new Map(agents.map((agent) => [agent.fid, agent.handle]))
  return html`<section aria-labelledby="whose"><h2 id="whose">Who verifies it</h2>
${
  verifications.length === 0
    ? html`<p class="empty">No account is known to verify this address.</p>`
    : html`<ul class="rows tight">${verifications.map(
        ({ fid, verified_at, ended_at, agent_status: status }) =>
          html`<li>${status === null ? html`<a href="/owner/${fid}">FID ${fid}</a>` : agentLink({ fid, handle: handles.get(fid) ?? null })} <span class="sub">${period(verified_at, ended_at)}${status === null && ' · no agent'}</span></li>`,
      )}</ul>`
}
${others.length > 0 && html`<p>Agents that share with it an address that holds an identity: ${others.map((other, index) => html`${index > 0 && ', '}${agentLink(other)}`)}.</p>`}
</section>`
}

function tokens(world: World, { registrations, registrations_total: total }: Portfolio): Html {
  if (total === 0) return html``
  const shown = registrations.slice(0, mostTokens)
  return html`<section aria-labelledby="tokens"><h2 id="tokens">ERC-8004 identities it holds</h2>
<ul class="plain">${shown.map(
    ({ chain, erc8004_id: id, acquired_at }) =>
      html`<li><span class="chain ${chain}">${chainOf(chain).label}</span> ${identityLink(world, chain, id)} <span class="sub">since ${day(acquired_at)}</span></li>`,
  )}</ul>
${total > shown.length && html`<p class="sub">${figure(shown.length)} of ${figure(total)}.</p>`}
</section>`
}

function money(
  id: string,
  title: string,
  list: List | undefined,
  sum: Portfolio['settlements_in'],
  query: string,
  { address, names }: { readonly address: string; readonly names: Names },
): Html {
  const rows = list?.settlements ?? []
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${
  rows.length === 0
    ? html`<p class="empty">No gasless USDC settlement ${id === 'paid' ? 'from' : 'to'} this address is known.</p>`
    : html`${settlementTable(title, rows, [address], names)}
<p class="sub">${figure(rows.length)} of ${figure(Math.max(sum.count, rows.length))}, newest first. <a href="/api/settlements?${query}&amp;limit=100&amp;cursor=">All as JSON</a></p>`
}</section>`
}

/** Links to explorers and JSON. `isKnown`: the address has an agent or a registration; else the API answers 404. */
function asData(address: string, isKnown: boolean): Html {
  return html`<section aria-labelledby="data"><h2 id="data">Check it yourself</h2>
<p>At the explorers of the chains: ${settlementChains().map((chain, index) => html`${index > 0 && ' · '}${explorerLink(chain, address)}`)}</p>
<p>As data: ${isKnown && html`<a href="/api/by-address/${address}">what it is</a> · `}<a href="/api/by-address/${address}/portfolio">portfolio</a> · <a href="/api/by-address/${address}/owners">whose it was, and when</a></p>
</section>`
}
