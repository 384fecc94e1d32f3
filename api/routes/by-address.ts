import { z } from 'zod'
import { addressSubject } from '../../db/queries/read/by-address.ts'
import { addressParameter } from '../http/parameters.ts'
import { json, route } from '../http/route.ts'
import { addressSubjectAnswer } from '../schemas/by-address.ts'

/** GET /api/by-address/:address */
export const byAddress = route({
  path: '/api/by-address/{address}',
  operationId: 'getByAddress',
  summary: 'What an address is: an agent’s, or a holder of registrations that no account verifies.',
  params: z.object({ address: addressParameter }),
  query: z.object({}),
  answer: {
    type: json,
    schema: addressSubjectAnswer,
    description: 'The agent, or the registrations that the address holds.',
  },
  errors: ['ERR_ADDRESS_MALFORMED', 'ERR_NOT_FOUND'],
  tool: {
    name: 'find_by_address',
    use: 'Which agents verify an EVM address, and which ERC-8004 registrations it holds.',
  },
  resource: 'address://{address}',
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'this address is not verified by an agent and holds no registration',
  read: ({ address }, { database }) => addressSubject(database, address),
})
