import { z } from 'zod'
import { addressPortfolio } from '../../../db/queries/addresses/portfolio.ts'
import { addressOwners, agentState } from '../../../db/queries/agents/as-of.ts'
import { agentControl } from '../../../db/queries/agents/control.ts'
import { cursorParameter, pagedBody, readCursor } from '../../http/cursor.ts'
import { askable, momentFilter } from '../../http/filter-parameters.ts'
import { addressParameter, fidParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { addressOwnersAnswer, agentStateAnswer, portfolioAnswer } from '../../schemas/agents/as-of.ts'
import { agentControlAnswer } from '../../schemas/agents/control.ts'

const asOf = momentFilter('ISO 8601 with a zone. Without it, all that was, with beginnings and ends.')
const description =
  'How it was then, not what was known of it then: a verification found late changes what yesterday looks like.'
/** Stands for a time that cannot be parsed: the epoch, before any event. */
const never = 0

const momentOf = (as_of: z.output<typeof asOf>) => {
  const asked = askable({ as_of })
  if (!asked) return never
  return asked.as_of === null ? null : Date.parse(asked.as_of)
}

/** GET /api/agent/:fid/state */
export const state = route({
  path: '/api/agent/{fid}/state',
  operationId: 'getAgentState',
  summary: 'What an agent held, and which addresses were its own, at a time.',
  params: z.object({ fid: fidParameter }),
  query: z.object({ as_of: asOf }),
  answer: { type: json, schema: agentStateAnswer, description },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  tool: { name: 'agent_state_at', use: 'Addresses and registrations one agent had at a time in the past.' },
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  read: ({ fid, as_of }, { database }) => agentState(database, fid, momentOf(as_of)),
})

/** GET /api/agent/:fid/control */
export const control = route({
  path: '/api/agent/{fid}/control',
  operationId: 'getAgentControl',
  summary: 'Who could change an agent’s registrations, and by what.',
  params: z.object({ fid: fidParameter }),
  query: z.object({ as_of: momentFilter('ISO 8601 with a zone. Without it, now.') }),
  answer: {
    type: json,
    schema: agentControlAnswer,
    description: 'Owners, approved addresses and operators, by the events of the registries.',
  },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  tool: {
    name: 'get_control',
    use: 'Who could change or move the registrations of one agent, and by what.',
    untold: ['as_of'],
  },
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  read: ({ fid, as_of }, { database }) => agentControl(database, fid, momentOf(as_of)),
})

/** GET /api/by-address/:address/owners */
export const owners = route({
  path: '/api/by-address/{address}/owners',
  operationId: 'getAddressOwners',
  summary: 'Whose an address was, and what it held, at a time.',
  params: z.object({ address: addressParameter }),
  query: z.object({ as_of: asOf }),
  answer: { type: json, schema: addressOwnersAnswer, description },
  errors: ['ERR_ADDRESS_MALFORMED'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  read: ({ address, as_of }, { database }) => addressOwners(database, address, momentOf(as_of)),
})

const portfolioPath = '/api/by-address/{address}/portfolio'

/** GET /api/by-address/:address/portfolio */
export const portfolio = route({
  path: portfolioPath,
  operationId: 'getAddressPortfolio',
  summary: 'What an address holds now, whose it is, and what it was paid and paid.',
  params: z.object({ address: addressParameter }),
  query: z.object({ cursor: cursorParameter }),
  answer: { type: json, schema: portfolioAnswer, description: 'Empty lists and zeros for an address nobody knows.' },
  errors: ['ERR_ADDRESS_MALFORMED', 'ERR_NOT_FOUND'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  async read({ address, cursor }, { database, baseUrl, settlementOverloads }) {
    const list = { name: [portfolioPath, address], order: ['integer', 'token'] as const }
    const after = readCursor(list, cursor)
    const { fields, ...page } = await addressPortfolio(database, { address, settlementOverloads, after })
    return pagedBody(list, page, { fields, url: `${baseUrl}/api/by-address/${address}/portfolio`, query: {} })
  },
})
