import { z } from 'zod'
import { addressFacts } from '../../../db/queries/agents/explain.ts'
import { explainAddress } from '../../explain/explanation.ts'
import { addressParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { addressExplanation } from '../../schemas/agents/explain.ts'

/** GET /api/by-address/:address/explain */
export const explainByAddress = route({
  path: '/api/by-address/{address}/explain',
  operationId: 'explainByAddress',
  summary: 'Why an address leads to an agent, or does not, and what to do next.',
  params: z.object({ address: addressParameter }),
  query: z.object({}),
  answer: { type: json, schema: addressExplanation, description: 'Each rule with what was found; for any address.' },
  errors: ['ERR_ADDRESS_MALFORMED'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  read: async ({ address }, { database }) =>
    JSON.stringify(explainAddress(address, await addressFacts(database, address))),
})
