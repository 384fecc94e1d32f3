import { z } from 'zod'
import { agentExists } from '../../../db/queries/agents/agents.ts'
import { incomePayments as readPayments } from '../../../db/queries/income/payments.ts'
import { cursorParameter, pagedBody, readCursor } from '../../http/cursor.ts'
import { askable } from '../../http/filter-parameters.ts'
import { fidParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { incomePayments } from '../../schemas/income/income.ts'
import { settlementCursor, settlementFilters, settlementPaging } from '../settlements/settlements.ts'

const { chain, since, until } = settlementFilters
export const incomeFilters = { chain, since, until }
/** What the routes over an agent's payments have in common. */
export const paymentsOfAgent = {
  params: z.object({ fid: fidParameter }),
  missing: 'no agent with this fid',
  maxAgeSeconds: 30,
  freshSeconds: 5,
}

/** GET /api/agent/:fid/income/payments */
export const incomeRows = route({
  ...paymentsOfAgent,
  path: '/api/agent/{fid}/income/payments',
  operationId: 'listIncome',
  summary: 'The payments that an agent’s income is made of, newest first unless told otherwise.',
  query: z.object({
    limit: settlementPaging.limit,
    ...incomeFilters,
    order: settlementPaging.order,
    cursor: cursorParameter,
  }),
  answer: { type: json, schema: incomePayments, description: 'Payments, those of blocks that are not final too.' },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  async read({ fid, limit, order, cursor, ...given }, { database, baseUrl }) {
    const path = `/api/agent/${fid}/income/payments`
    const list = { name: [path, order, given], order: settlementCursor }
    const after = readCursor(list, cursor)
    if (!(await agentExists(database, fid))) return undefined
    const filter = askable(given)
    const page = filter
      ? await readPayments(database, { fid, limit, order, filter, after })
      : { rows: '[]', count: 0, next: null }
    const fields = { fid: `${fid}`, count: `${page.count}`, payments: page.rows }
    return pagedBody(list, page, { fields, url: `${baseUrl}${path}`, query: { ...given, order, limit } })
  },
})
