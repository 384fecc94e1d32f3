import { z } from 'zod'
import { chainOf } from '../../../config/chains.ts'
import { documentLimits } from '../../../config/limits.ts'
import type { Entry } from '../../feed/agent-entry.ts'
import { atomFeed } from '../../feed/atom.ts'
import { fidParameter } from '../../http/parameters.ts'
import { type Route, route } from '../../http/route.ts'
import { agent as agentRoute } from '../../routes/agents/agent.ts'
import { settlements as settlementsRoute } from '../../routes/settlements/settlements.ts'
import type { profile } from '../../schemas/agents/profile.ts'
import type { settlementList } from '../../schemas/settlements/settlement.ts'
import { nameOf } from '../parts/avatar.ts'
import type { Profile, Settlement } from '../parts/exact-json.ts'
import { dollars } from '../parts/figures.ts'
import { html } from '../parts/html.ts'
import { askExact, type World } from '../parts/page.ts'
import { settlementId } from '../parts/settlement-table.ts'
import { oneLine } from '../parts/text.ts'
import { historyOf } from './events.ts'

const newestSettlements = 20

/** Contract of the feed route: parameters, answer and errors, without the handler. */
export const agentFeedOperation = {
  path: '/agent/{fid}/feed.atom',
  operationId: 'getAgentFeed',
  summary: 'What happens to an agent, as an Atom 1.0 feed.',
  params: z.object({ fid: fidParameter }),
  query: z.object({}),
  answer: {
    type: 'application/atom+xml; charset=utf-8',
    schema: z.string(),
    description:
      'Registrations gained and lost, claims, descriptions found, and the newest settlements that are final, newest ' +
      `first: ${documentLimits.feedEntries} entries at most. An entry keeps its id.`,
  },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  maxAgeSeconds: 300,
} as const

/** `/agent/{fid}/feed.atom`: what happened to an agent, and its newest final settlements. */
export function agentFeed(world: World): Route {
  return route({
    ...agentFeedOperation,
    freshSeconds: 30,
    missing: 'No agent with this FID is known',
    async read({ fid }) {
      const [agent, list] = await Promise.all([
        askExact<z.output<typeof profile>>(world, agentRoute, { fid }),
        askExact<z.output<typeof settlementList>>(world, settlementsRoute, {
          fid,
          ...settlementsRoute.query.parse({ limit: `${newestSettlements}` }),
        }),
      ])
      if (!agent || !list) return undefined
      const siteUrl = `${world.siteUrl}/agent/${fid}`
      const entries = [...happened(agent, siteUrl), ...settled(agent, list.settlements, siteUrl)]
      entries.sort((one, other) => other.updated.getTime() - one.updated.getTime())
      const title = `${world.serviceName}: ${oneLine(nameOf(agent))}`
      return atomFeed(entries.slice(0, documentLimits.feedEntries), { title, feedUrl: `${siteUrl}/feed.atom`, siteUrl })
    },
  })
}

function happened(agent: Profile, siteUrl: string): Entry[] {
  return historyOf(agent).map(({ id, at, text, status }) => {
    const summary = status === null ? text : `${text}; now ${status}`
    return entry(agent, `${siteUrl}#${id}`, at, summary, status === null ? [] : [status])
  })
}

/** Feed entries of final settlements alone: feed readers keep an entry that a reorg would undo. */
function settled(agent: Profile, newest: readonly Settlement[], siteUrl: string): Entry[] {
  return newest
    .filter(({ final }) => final)
    .map((settlement) => {
      const { chain, payer_address: payer, amount_usdc: amount, block_timestamp: at } = settlement
      const summary = `Received ${dollars(amount)} on ${chainOf(chain).label} from ${payer}`
      const terms = ['settlement', `chain:${chainOf(chain).feedTerm}`]
      return entry(agent, `${siteUrl}#${settlementId(settlement)}`, at, summary, terms)
    })
}

function entry(agent: Profile, address: string, at: string, text: string, terms: readonly string[]): Entry {
  const summary = oneLine(text)
  const time = new Date(at)
  return {
    address,
    title: summary,
    author: oneLine(nameOf(agent)),
    summary,
    terms,
    content: html`<p>${summary}</p>`.text,
    published: time,
    updated: time,
  }
}
