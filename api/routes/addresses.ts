import { z } from 'zod'
import { agentAddresses } from '../../db/queries/read/addresses.ts'
import { fidParameter } from '../http/parameters.ts'
import { json, route } from '../http/route.ts'
import { addressList } from '../schemas/addresses.ts'

/** GET /api/agent/:fid/addresses */
export const addresses = route({
  path: '/api/agent/{fid}/addresses',
  operationId: 'listAddresses',
  summary: 'The verified addresses of an agent, and what the proof of each is worth.',
  params: z.object({ fid: fidParameter }),
  query: z.object({}),
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
