import { z } from 'zod'
import { agentSettlements, type SettlementFilter, settlementPage } from '../../db/queries/read/settlements.ts'
import { cursorParameter, pagedBody, readCursor } from '../http/cursor.ts'
import {
  addressFilter,
  askable,
  baseUnits,
  dollarsFilter,
  flagFilter,
  selectorFilter,
  timeFilter,
} from '../http/filter-parameters.ts'
import { chainsParameter, fidParameter, integerParameter, wordParameter } from '../http/parameters.ts'
import { json, route } from '../http/route.ts'
import { settlementList } from '../schemas/settlement.ts'

const path = '/api/agent/{fid}/settlements'
const columns = ['time', 'word', 'integer', 'integer'] as const

/** GET /api/agent/:fid/settlements */
export const settlements = route({
  path,
  operationId: 'listSettlements',
  summary: 'The settlements an agent received, newest first unless told otherwise.',
  params: z.object({ fid: fidParameter }),
  query: z.object({
    limit: integerParameter({ minimum: 1, maximum: 100, fallback: 20 }, 'Rows at most.'),
    chain: chainsParameter,
    payer: addressFilter('Who signed the authorization.'),
    facilitator: addressFilter('Sender of the transaction.'),
    selector: selectorFilter('The function called.'),
    min_amount: dollarsFilter('Dollars, at most six decimals, inclusive.'),
    max_amount: dollarsFilter('Dollars, at most six decimals, inclusive.'),
    since: timeFilter('ISO 8601 with a zone, inclusive.'),
    until: timeFilter('ISO 8601 with a zone, exclusive.'),
    final: flagFilter('Whether it is at or below the finalized block.'),
    order: wordParameter(['desc', 'asc'], 'desc', 'Newest or oldest first.'),
    cursor: cursorParameter,
  }),
  answer: { type: json, schema: settlementList, description: 'Settlements; with `cursor` also where to go on.' },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  tool: {
    name: 'list_settlements',
    use: 'Gasless USDC payments that an agent received, newest first, with filters by payer, amount, chain and time.',
  },
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  async read({ fid, limit, order, cursor, ...given }, { database, settlementOverloads, baseUrl }) {
    const isPlain = Object.values(given).every((value) => value === null) && order === 'desc' && cursor === undefined
    if (isPlain) return agentSettlements(database, { fid, limit, settlementOverloads })
    const list = { name: [path, fid, order, given], order: columns }
    const asked = askable(given)
    const after = readCursor(list, cursor)
    const units = (dollars: string | null) => (dollars === null ? null : baseUnits(dollars))
    const filter: SettlementFilter | undefined = asked && {
      ...asked,
      min_amount: units(asked.min_amount),
      max_amount: units(asked.max_amount),
    }
    const page = await settlementPage(database, {
      fid,
      limit,
      order,
      after,
      settlementOverloads,
      filter: filter ?? matchless,
    })
    if (!page) return undefined
    const fields = { fid: `${fid}`, count: `${page.count}`, settlements: page.rows }
    if (cursor === undefined) return `{"fid":${fid},"count":${page.count},"settlements":${page.rows}}`
    const url = `${baseUrl}/api/agent/${fid}/settlements`
    return pagedBody(list, page, { fields, url, query: { ...asked, order, limit } })
  },
})

const matchless: SettlementFilter = {
  chain: [],
  payer: null,
  facilitator: null,
  selector: null,
  min_amount: null,
  max_amount: null,
  since: null,
  until: null,
  final: null,
}
