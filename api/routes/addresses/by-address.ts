import { z } from 'zod'
import { profileLimits } from '../../../config/limits.ts'
import { addressSubject } from '../../../db/queries/addresses/by-address.ts'
import { addressFacts } from '../../../db/queries/agents/explain.ts'
import { explainAddress } from '../../explain/explanation.ts'
import { cursorParameter, pagedBody, readCursor } from '../../http/cursor.ts'
import { addressParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { addressSubjectAnswer } from '../../schemas/addresses/by-address.ts'
import { addressExplanation } from '../../schemas/agents/explain.ts'

const path = '/api/by-address/{address}'

/** GET /api/by-address/:address */
export const byAddress = route({
  path,
  operationId: 'getByAddress',
  summary: 'What an address is: an agent’s, or a holder of registrations that no account verifies.',
  params: z.object({ address: addressParameter }),
  query: z.object({ cursor: cursorParameter }),
  answer: {
    type: json,
    schema: addressSubjectAnswer,
    description: 'The agent, or the registrations that the address holds.',
  },
  errors: ['ERR_ADDRESS_MALFORMED', 'ERR_NOT_FOUND'],
  tool: {
    name: 'find_by_address',
    use: 'Which agents verify an EVM address, and which ERC-8004 registrations it holds.',
    untold: ['cursor'], // the first page is more than a model reads
  },
  resource: 'address://{address}',
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'this address is not verified by an agent and holds no registration',
  async read({ address, cursor }, { database, baseUrl }) {
    const list = { name: [path, address], order: ['integer', 'token'] as const }
    const after = readCursor(list, cursor)
    const subject = await addressSubject(database, { address, limit: profileLimits.registrationsOfAddress, after })
    if (!subject) return undefined
    if (subject.agent !== null) return subject.agent
    const fields = {
      kind: '"address-only"',
      address: JSON.stringify(address),
      registrations: subject.rows,
      registrations_total: `${subject.total}`,
    }
    return pagedBody(list, subject, { fields, url: `${baseUrl}/api/by-address/${address}`, query: {} })
  },
})

/** GET /api/by-address/:address/explain */
export const explainByAddress = route({
  path: '/api/by-address/{address}/explain',
  operationId: 'explainByAddress',
  summary: 'Why an address leads to an agent, or does not, and what to do next.',
  params: z.object({ address: addressParameter }),
  answer: { type: json, schema: addressExplanation, description: 'Each rule with what was found; for any address.' },
  errors: ['ERR_ADDRESS_MALFORMED'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  read: async ({ address }, { database }) =>
    JSON.stringify(explainAddress(address, await addressFacts(database, address))),
})
