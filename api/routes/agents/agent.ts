import { z } from 'zod'
import { agentAddresses } from '../../../db/queries/addresses/addresses.ts'
import { agentProfile } from '../../../db/queries/agents/profile.ts'
import { fidParameter, fieldsParameter } from '../../http/parameters.ts'
import { installationOf, json, route } from '../../http/route.ts'
import { addressList } from '../../schemas/addresses/addresses.ts'
import { profile, profileFields } from '../../schemas/agents/profile.ts'

/** GET /api/agent/:fid */
export const agent = route({
  path: '/api/agent/{fid}',
  operationId: 'getAgent',
  summary: 'The full profile of an agent.',
  params: z.object({ fid: fidParameter }),
  query: z.object({ fields: fieldsParameter(Object.keys(profile.shape)) }),
  answer: { type: json, schema: z.union([profile, profileFields]), description: 'The profile, or `fields` of it.' },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  tool: { name: 'get_agent', use: 'Everything known of one agent by its fid. Long: take search_agents for a list.' },
  resource: 'agent://{fid}',
  signable: true,
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  read: ({ fid, fields }, { database, chains, baseUrl, settlementOverloads }) =>
    agentProfile(database, { fid, fields, settlementOverloads, installation: installationOf({ chains, baseUrl }) }),
})

/** GET /api/agent/:fid/addresses */
export const addresses = route({
  path: '/api/agent/{fid}/addresses',
  operationId: 'listAddresses',
  summary: 'The verified addresses of an agent, and what the proof of each is worth.',
  params: z.object({ fid: fidParameter }),
  answer: { type: json, schema: addressList, description: 'Sorted by address.' },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  async read({ fid }, { database }) {
    const found = await agentAddresses(database, fid)
    return found && JSON.stringify({ fid, addresses: found })
  },
})
