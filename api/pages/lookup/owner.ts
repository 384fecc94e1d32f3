import { z } from 'zod'
import { chainOf } from '../../../config/chains.ts'
import { fidParameter } from '../../http/parameters.ts'
import type { Route } from '../../http/route.ts'
import { agent as agentRoute } from '../../routes/agents/agent.ts'
import { portfolio } from '../../routes/agents/as-of.ts'
import { explainAgent } from '../../routes/agents/explain-agent.ts'
import type { portfolioAnswer } from '../../schemas/agents/as-of.ts'
import type { agentExplanation } from '../../schemas/agents/explain.ts'
import type { profile } from '../../schemas/agents/profile.ts'
import { avatar, nameOf } from '../parts/avatar.ts'
import { claimedMark, statusBadge } from '../parts/badges.ts'
import type { Exact, Profile } from '../parts/exact-json.ts'
import { amount, counted, figure } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { layout } from '../parts/layout.ts'
import { agentLink, identityLink, ownAddress } from '../parts/links.ts'
import { askExact, page, type World } from '../parts/page.ts'
import { day, period } from '../parts/times.ts'

type Portfolio = Exact<z.output<typeof portfolioAnswer>>
type Explanation = Exact<z.output<typeof agentExplanation>>

/** Most addresses whose portfolios are shown, and most registrations of each. */
const mostAddresses = 10
const mostTokens = 12

/** `/owner/{fid}`: what an account holds and moves at all of its verified addresses, whether it is an agent or not. */
export function ownerPage(world: World): Route {
  return page({
    path: '/owner/{fid}',
    params: z.object({ fid: fidParameter }),
    maxAgeSeconds: 30,
    freshSeconds: 10,
    missing: 'Nothing is known of an account with this FID',
    async view({ fid }) {
      const [agent, explained] = await Promise.all([
        askExact<z.output<typeof profile>>(world, agentRoute, { fid }),
        askExact<z.output<typeof agentExplanation>>(world, explainAgent, { fid }),
      ])
      const verifications = explained?.verifications ?? []
      if (!agent && verifications.length === 0) return undefined
      const live = verifications.filter(({ ended_at }) => ended_at === null)
      const held = await Promise.all(
        live
          .slice(0, mostAddresses)
          .map(({ address }) => askExact<z.output<typeof portfolioAnswer>>(world, portfolio, { address })),
      )
      const portfolios = held.filter((one) => one !== undefined)
      const name = agent ? nameOf(agent) : `FID ${fid}`
      const head = {
        title: `What ${name} holds`,
        description: `Verified addresses, ERC-8004 identities and settlements of the account with FID ${fid}.`,
        path: `/owner/${fid}`,
      }
      return layout(world, head, [
        about(fid, agent, portfolios, live.length),
        ...portfolios.map((one) =>
          ofAddress(
            world,
            one,
            live.find(({ address }) => address === one.address),
          ),
        ),
        former(verifications.filter(({ ended_at }) => ended_at !== null)),
        others(fid, portfolios),
        asData(fid, agent !== undefined),
      ])
    },
  })
}

const named = (value: number, one: string, many: string): [string, string] => [value === 1 ? one : many, figure(value)]

/** Name and figures of an account: of its `addresses`, those with a portfolio are looked at. */
function about(fid: number, agent: Profile | undefined, portfolios: readonly Portfolio[], addresses: number): Html {
  const sum = (of: (one: Portfolio) => number) => portfolios.reduce((total, one) => total + of(one), 0)
  const facts: [string, string][] = [
    named(addresses, 'address', 'addresses'),
    named(
      sum((one) => one.registrations_total),
      'identity held',
      'identities held',
    ),
    named(
      sum((one) => one.settlements_in.count),
      'settlement received',
      'settlements received',
    ),
    named(
      sum((one) => one.settlements_out.count),
      'settlement paid',
      'settlements paid',
    ),
  ]
  return html`<section class="profile">${agent && avatar(agent, 'large')}<div>
<h1><bdi>${agent ? nameOf(agent) : `FID ${fid}`}</bdi></h1>
<p class="line">Account with FID ${fid}${agent && html` · ${agentLink(agent)} ${statusBadge(agent.agent_status)} ${claimedMark(agent.claimed)}`}</p>
${!agent && html`<p class="line">This account is not listed as an agent. <a href="/explain?q=${fid}">Why?</a></p>`}
</div></section>
<dl class="numbers">${facts.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>
${addresses > portfolios.length && html`<p class="sub">Identities and settlements are figures of ${figure(portfolios.length)} of ${counted(addresses, 'verified address', 'verified addresses')}.</p>`}`
}

function ofAddress(world: World, one: Portfolio, verified: Explanation['verifications'][number] | undefined): Html {
  const { address, registrations, registrations_total: total, settlements_in, settlements_out } = one
  const shown = registrations.slice(0, mostTokens)
  return html`<section aria-labelledby="a${address}"><h2 id="a${address}">${ownAddress(address)}</h2>
<p class="sub">${verified?.verified_at && html`Verified since ${day(verified.verified_at)}. `}Received ${amount(settlements_in.amount_usdc)} in ${counted(settlements_in.count, 'settlement')}, paid ${amount(settlements_out.amount_usdc)} in ${counted(settlements_out.count, 'settlement')}.</p>
${
  shown.length === 0
    ? html`<p class="empty">It holds no ERC-8004 identity now.</p>`
    : html`<ul class="chains tokens">${shown.map(
        ({ chain, erc8004_id: id }) =>
          html`<li><span class="chain ${chain}">${chainOf(chain).label}</span> ${identityLink(world, chain, id)}</li>`,
      )}</ul>`
}
${total > shown.length && html`<p class="sub">${figure(shown.length)} of ${figure(total)}. <a href="/address/${address}">More</a></p>`}
</section>`
}

function former(ended: Explanation['verifications']): Html {
  if (ended.length === 0) return html``
  return html`<section aria-labelledby="former"><h2 id="former">No longer verified</h2><ul class="rows tight">${ended
    .slice(0, mostAddresses)
    .map(
      ({ address, verified_at, ended_at }) =>
        html`<li>${ownAddress(address)} <span class="sub">${period(verified_at, ended_at)}</span></li>`,
    )}</ul></section>`
}

/** Agents that share an address with this account. */
function others(fid: number, portfolios: readonly Portfolio[]): Html {
  const met = portfolios.flatMap(({ agents, other_agents }) => [...agents, ...other_agents])
  const agents = [...new Map(met.map((one) => [one.fid, one])).values()].filter((one) => one.fid !== fid)
  if (agents.length === 0) return html``
  return html`<section aria-labelledby="others"><h2 id="others">Agents at the same addresses</h2>
<ul class="rows tight">${agents.map((one) => html`<li>${agentLink(one)} ${one.display_name !== null && html`<span class="sub"><bdi>${nameOf(one)}</bdi></span>`} ${claimedMark(one.claimed)}</li>`)}</ul></section>`
}

function asData(fid: number, isAgent: boolean): Html {
  const held = html` · <a href="/api/agent/${fid}/addresses">addresses and their proofs</a> · <a href="/api/agent/${fid}/state">what it held, and when</a>`
  return html`<section aria-labelledby="data"><h2 id="data">Check it yourself</h2>
<p><a href="/explain?q=${fid}">Why it is listed, or is not</a> · As data: <a href="/api/agent/${fid}/explain">that explanation</a>${isAgent && held}</p></section>`
}
