import { z } from 'zod'
import { uptimeLimits } from '../../../config/limits.ts'
import { earnedBy } from '../../../db/queries/income/earned.ts'
import { fidParameter } from '../../http/parameters.ts'
import type { Route } from '../../http/route.ts'
import { addresses as addressesRoute, agent as agentRoute } from '../../routes/agents/agent.ts'
import { doctor as doctorRoute } from '../../routes/documents/doctor.ts'
import { prices as pricesRoute } from '../../routes/documents/prices.ts'
import { uptime as uptimeRoute } from '../../routes/documents/uptime.ts'
import { income as incomeRoute, incomeTimeseries } from '../../routes/income/income.ts'
import { registrations as registrationsRoute } from '../../routes/registrations/registrations.ts'
import type { profile } from '../../schemas/agents/profile.ts'
import type { agentPrices } from '../../schemas/documents/enriched.ts'
import { avatar, nameOf } from '../parts/avatar.ts'
import { chainBadges, claimedMark, statedMark, statusBadge } from '../parts/badges.ts'
import type { Profile } from '../parts/exact-json.ts'
import { counted } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { layout } from '../parts/layout.ts'
import { namesOf } from '../parts/names.ts'
import { askExact, page, type World } from '../parts/page.ts'
import { ownPayments, seriesInput, seriesParameters, seriesPath } from '../parts/series.ts'
import { excerpt, shortName } from '../parts/text.ts'
import { ago, day } from '../parts/times.ts'
import { abilities } from './abilities.ts'
import { accounts } from './accounts.ts'
import { checks } from './checks.ts'
import { type Diagnosis, doctor } from './doctor.ts'
import { edges } from './edges.ts'
import { history } from './events.ts'
import { feedback, feedbackOf } from './feedback.ts'
import { type Income, type IncomeSeries, selfParameter } from './income.ts'
import { money } from './money.ts'
import { monthMs, paidSince } from './payment-sums.ts'
import { type Held, registrations, shownRegistrations } from './registrations.ts'
import { afterParameter, settlementsOf } from './settlements.ts'
import { specs } from './specs.ts'
import { type Addresses, standing } from './standing.ts'
import type { Uptime } from './uptime.ts'

const bioCharacters = 500

/** `/agent/{fid}`: who stands behind an agent, whether it is alive, what it does, what it earned; then all the rest. */
export function agentPage(world: World): Route {
  return page({
    path: '/agent/{fid}',
    params: z.object({ fid: fidParameter }),
    query: z.object({ ...seriesParameters, self: selfParameter, after: afterParameter }),
    maxAgeSeconds: 30,
    freshSeconds: 5,
    missing: 'No agent with this FID is known',
    async view({ fid, after, self, ...asked }) {
      const now = world.now()
      const [agent, addresses, held, uptime, asks, found, said, list, month, income, incomeSeries, stored] =
        await Promise.all([
          askExact<z.output<typeof profile>>(world, agentRoute, { fid }),
          askExact<Addresses>(world, addressesRoute, { fid }),
          askExact<Held>(world, registrationsRoute, { fid, ...shownRegistrations }),
          askExact<Uptime>(world, uptimeRoute, { fid, days: uptimeLimits.days.fallback }),
          askExact<z.output<typeof agentPrices>>(world, pricesRoute, { fid }),
          askExact<Diagnosis>(world, doctorRoute, { fid }),
          feedbackOf(world, fid),
          settlementsOf(world, { fid, after, chain: asked.chain }),
          paidSince(world, fid, now - monthMs),
          askExact<Income>(world, incomeRoute, { fid }),
          askExact<IncomeSeries>(world, incomeTimeseries, { ...seriesInput(incomeTimeseries, asked, now), fid }),
          earnedBy(world.database, [fid]),
        ])
      if (!agent || !list) return undefined
      const { settlements, next_cursor: next = null } = list
      const names = await namesOf(
        world,
        settlements,
        said?.feedback.map((one) => one.client_address),
      )
      const more = [...ownPayments(self), ...(after === undefined ? [] : [['after', after] as const])]
      return layout(world, head(agent, seriesPath(`/agent/${fid}`, asked, more), world.siteUrl), [
        about(agent, now),
        standing(agent, addresses),
        specs(agent, uptime, now),
        doctor(fid, found),
        abilities(agent, month, asks?.prices ?? []),
        money(agent, { settlements, names, next, asked, after, income, incomeSeries, earned: stored.get(fid), self }),
        feedback(agent, said, names),
        registrations(agent, held),
        accounts(agent),
        edges(agent),
        history(agent),
        checks(agent, world.siteUrl),
      ])
    },
  })
}

function head(agent: Profile, path: string, siteUrl: string) {
  const { fid, chains, claimed, settlements_30d: settled } = agent
  const name = nameOf(agent)
  const where = chains.length > 0 ? `on ${chains.join(', ')}` : 'without a registration now'
  const image = `/agent/${fid}/card.png`
  return {
    title: agent.handle !== null && agent.handle !== name ? `${name} (@${shortName(agent.handle)})` : name,
    description: `${claimed ? 'A claimed' : 'An'} AI agent ${where}; ${counted(settled, 'settlement')} in the last 30 days. FID ${fid}.`,
    path,
    canonical: `/agent/${fid}`,
    image: { path: image, alt: `${name}: ${claimed ? 'a claimed' : 'an'} AI agent ${where}` },
    about: {
      '@type': 'ProfilePage',
      url: `${siteUrl}/agent/${fid}`,
      mainEntity: {
        '@type': 'SoftwareApplication',
        applicationCategory: 'AI agent',
        name,
        identifier: String(fid),
        url: `${siteUrl}/agent/${fid}`,
        image: siteUrl + image,
        description: agent.bio === null ? undefined : excerpt(agent.bio, bioCharacters),
      },
    },
    feeds: [{ title: `What happens to ${name}`, path: `/agent/${fid}/feed.atom` }],
  }
}

function about(agent: Profile, now: number): Html {
  const { fid, handle, bio, chains, claimed, agent_status, oli } = agent
  return html`<section class="profile">
${avatar(agent, 'large')}
<div>
<h1><bdi>${nameOf(agent)}</bdi></h1>
<p class="line">${handle !== null && html`<bdi>@${shortName(handle)}</bdi>${statedMark(agent.handle_assurance)} · `}FID ${fid}${oli !== null && html` · <bdi>${shortName(oli)}</bdi>`}</p>
<p class="line">${statusBadge(agent_status)} ${claimedMark(claimed)} <span class="sub">registered ${day(agent.registered_at)}${agent.last_seen_at !== null && html`, seen ${ago(agent.last_seen_at, now)}`}</span></p>
${bio !== null && html`<p class="bio" dir="auto">${excerpt(bio, bioCharacters)}</p>`}
${chainBadges(chains)}
</div>
</section>`
}
