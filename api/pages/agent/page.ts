import { z } from 'zod'
import { agentSettlementDays } from '../../../db/queries/read/settlement-days.ts'
import { type Html, html } from '../../http/html.ts'
import { fidParameter } from '../../http/parameters.ts'
import type { Route } from '../../http/route.ts'
import { agent as agentRoute } from '../../routes/agent.ts'
import { settlements as settlementsRoute } from '../../routes/settlements.ts'
import type { profile } from '../../schemas/profile.ts'
import type { settlementList } from '../../schemas/settlement.ts'
import type { Profile } from '../parts/answers.ts'
import { avatar, nameOf } from '../parts/avatar.ts'
import { chainBadges, claimedMark, statusBadge } from '../parts/badges.ts'
import { counted, figure } from '../parts/figures.ts'
import { layout } from '../parts/layout.ts'
import { askExact, page, type World } from '../parts/page.ts'
import { ago, day } from '../parts/times.ts'
import { accounts } from './accounts.ts'
import { edges } from './edges.ts'
import { history } from './history.ts'
import { proof } from './proof.ts'
import { registrations } from './registrations.ts'
import { settlements } from './settlements.ts'
import { specs } from './specs.ts'

const newestSettlements = 20
const chartDays = 30

/** `/agent/{fid}`: everything known of one agent. */
export function agentPage(world: World): Route {
  return page({
    path: '/agent/{fid}',
    params: z.object({ fid: fidParameter }),
    query: z.object({}),
    maxAgeSeconds: 30,
    freshSeconds: 5,
    missing: 'No agent with this FID is known',
    async view({ fid }) {
      const { database, settlementOverloads, now } = world
      const [agent, list, days] = await Promise.all([
        askExact<z.output<typeof profile>>(world, agentRoute, { fid }),
        askExact<z.output<typeof settlementList>>(world, settlementsRoute, {
          fid,
          ...settlementsRoute.query.parse({ limit: `${newestSettlements}` }),
        }),
        agentSettlementDays(database, { fid, settlementOverloads, days: chartDays }),
      ])
      if (!agent || !list) return undefined
      return layout(world, head(agent), [
        about(agent, now()),
        proof(agent, world.siteUrl) ?? html``,
        settlements(agent, list.settlements, days),
        registrations(agent),
        specs(agent, now()),
        accounts(agent),
        edges(agent),
        history(agent),
        asData(agent, world.siteUrl),
      ])
    },
  })
}

function head(agent: Profile) {
  const { fid, chains, claimed, settlements_30d: settled, pfp_url: image } = agent
  const name = nameOf(agent)
  const where = chains.length > 0 ? `on ${chains.join(', ')}` : 'without a registration now'
  return {
    title: agent.handle !== null && agent.handle !== name ? `${name} (@${agent.handle})` : name,
    description: `${claimed ? 'A claimed' : 'An'} AI agent ${where}; ${counted(settled, 'settlement')} in the last 30 days. FID ${fid}.`,
    path: `/agent/${fid}`,
    image,
    feeds: [{ title: `What happens to ${name}`, path: `/agent/${fid}/feed.atom` }],
  }
}

function about(agent: Profile, now: number): Html {
  const { fid, handle, bio, chains, claimed, claimed_at, claim_method, agent_status, oli } = agent
  const facts: [string, Html | string][] = [
    ['Settlements in 30 days', figure(agent.settlements_30d)],
    ['Settlements ever', figure(agent.settlements_all)],
    ['Registered', day(agent.registered_at)],
    ['Last seen', ago(agent.last_seen_at, now)],
  ]
  return html`<section class="profile">
${avatar(agent, 'large')}
<div>
<h1><bdi>${nameOf(agent)}</bdi></h1>
<p class="line">${handle !== null && html`<bdi>@${handle}</bdi> · `}FID ${fid}${oli !== null && html` · <bdi>${oli}</bdi>`}</p>
<p class="line">${statusBadge(agent_status)} ${claimedMark(claimed)} ${
    claimed
      ? html`<span class="sub">since ${day(claimed_at)}, last by ${claim_method}</span>`
      : html`<a class="sub" href="/claim?fid=${fid}">Yours? Claim it</a>`
  }</p>
${bio !== null && html`<p class="bio" dir="auto">${bio}</p>`}
${chainBadges(chains)}
</div>
</section>
<dl class="numbers">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

function asData({ fid }: Profile, siteUrl: string): Html {
  return html`<section aria-labelledby="data"><h2 id="data">As data</h2>
<p><a href="/api/agent/${fid}">Profile as JSON</a> · <a href="/api/agent/${fid}/settlements">Settlements as JSON</a> · <a href="/agent/${fid}/feed.atom">Atom feed of this agent</a></p>
<pre tabindex="0"><code>curl ${siteUrl}/api/agent/${fid}</code></pre>
</section>`
}
