import { z } from 'zod'
import { agentSettlements } from '../../db/queries/read/settlements.ts'
import { fidParameter, integerParameter } from '../http/parameters.ts'
import { json, route } from '../http/route.ts'
import { settlementList } from '../schemas/settlement.ts'

/** GET /api/agent/:fid/settlements */
export const settlements = route({
  path: '/api/agent/{fid}/settlements',
  operationId: 'listSettlements',
  summary: 'The newest settlements an agent received.',
  params: z.object({ fid: fidParameter }),
  query: z.object({ limit: integerParameter({ minimum: 1, maximum: 100, fallback: 20 }, 'Rows at most.') }),
  answer: { type: json, schema: settlementList, description: 'Settlements, newest first.' },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  read: ({ fid, limit }, { database, settlementOverloads }) =>
    agentSettlements(database, { fid, limit, settlementOverloads }),
})
