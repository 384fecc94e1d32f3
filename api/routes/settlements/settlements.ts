import { z } from 'zod'
import { rowLimits } from '../../../config/limits.ts'
import { agentSettlements, settlementPage } from '../../../db/queries/settlements/settlements.ts'
import type { SettlementFilter } from '../../../db/queries/sql/settlement-filter.ts'
import { cursorParameter, objectText, pagedBody, readCursor, withSince } from '../../http/cursor.ts'
import {
  addressFilter,
  askable,
  baseUnits,
  dollarsFilter,
  flagFilter,
  selectorFilter,
  timeFilter,
} from '../../http/filter-parameters.ts'
import { chainsParameter, fidParameter, integerParameter, wordParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { settlementList } from '../../schemas/settlements/settlement.ts'

const path = '/api/agent/{fid}/settlements'

/** Filters of every list of settlements. */
export const settlementFilters = {
  chain: chainsParameter,
  payer: addressFilter('Who signed the authorization.'),
  facilitator: addressFilter('Sender of the transaction.'),
  selector: selectorFilter('The function called.'),
  min_amount: dollarsFilter('Dollars, at most six decimals, inclusive.'),
  max_amount: dollarsFilter('Dollars, at most six decimals, inclusive.'),
  since: timeFilter('ISO 8601 with a zone, inclusive.'),
  until: timeFilter('ISO 8601 with a zone, exclusive.'),
  final: flagFilter('Whether it is at or below the finalized block.'),
}
/** Paging parameters of every list of settlements. */
export const settlementPaging = {
  limit: integerParameter(rowLimits.settlements, 'Rows at most.'),
  order: wordParameter(['desc', 'asc'], 'desc', 'Newest or oldest first.'),
  cursor: cursorParameter,
}
export const settlementCursor = ['time', 'word', 'integer', 'integer'] as const

interface Amounts {
  readonly min_amount: string | null
  readonly max_amount: string | null
}

/** A filter with its bounds on amounts converted from dollars to base units, as the statements take them. */
export function inBaseUnits<T extends Amounts>(filter: T): T {
  const units = (dollars: string | null) => (dollars === null ? null : baseUnits(dollars))
  return { ...filter, min_amount: units(filter.min_amount), max_amount: units(filter.max_amount) }
}

/** GET /api/agent/:fid/settlements */
export const settlements = route({
  path,
  operationId: 'listSettlements',
  summary: 'The settlements an agent received, newest first unless told otherwise.',
  params: z.object({ fid: fidParameter }),
  query: z.object({
    limit: settlementPaging.limit,
    ...settlementFilters,
    order: settlementPaging.order,
    cursor: settlementPaging.cursor,
  }),
  answer: {
    type: json,
    schema: settlementList,
    description:
      'Settlements; with `cursor`, and where a filter leaves so few that the search ended early, also where to go on.',
  },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  signable: true,
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  async read({ fid, limit, order, cursor, ...given }, { database, settlementOverloads, baseUrl }) {
    const isPlain = Object.values(given).every((value) => value === null) && order === 'desc' && cursor === undefined
    if (isPlain) return agentSettlements(database, { fid, limit, settlementOverloads })
    const list = { name: [path, fid, order, given], order: settlementCursor }
    const asked = askable(given)
    const after = readCursor(list, cursor)
    const page = await settlementPage(database, {
      fid,
      limit,
      order,
      after,
      settlementOverloads,
      filter: asked ? inBaseUnits(asked) : matchless,
    })
    if (!page) return undefined
    const fields = { fid: `${fid}`, count: `${page.count}`, settlements: page.rows }
    // A search cut short gives a cursor even if none was asked for: a short list does not mean the end.
    if (cursor === undefined && !page.isCut) return objectText(withSince(fields, page))
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
