import { z } from 'zod'
import { readingLimits } from '../../../config/limits.ts'
import { allSettlements as findSettlements } from '../../../db/queries/settlements/all-settlements.ts'
import { cursorParameter, pagedBody, readCursor } from '../../http/cursor.ts'
import { invalidRequest } from '../../http/errors.ts'
import { addressFilter, askable, countFilter, hashFilter } from '../../http/filter-parameters.ts'
import { json, route } from '../../http/route.ts'
import { allSettlementsList } from '../../schemas/settlements/settlement.ts'
import { inBaseUnits, settlementCursor, settlementFilters, settlementPaging } from './settlements.ts'

const path = '/api/settlements'
const { settlementDays } = readingLimits

/** GET /api/settlements */
export const allSettlements = route({
  path,
  operationId: 'listAllSettlements',
  summary: 'Settlements of everybody, whoever was paid, newest first unless told otherwise.',
  query: z.object({
    fid: countFilter('Paid to an address that this agent verifies now.'),
    recipient: addressFilter('Who was paid.'),
    tx_hash: hashFilter('The transaction.'),
    ...settlementFilters,
    limit: settlementPaging.limit,
    order: settlementPaging.order,
    cursor: cursorParameter,
  }),
  answer: {
    type: json,
    schema: allSettlementsList,
    description:
      'Needs one of `fid`, `payer`, `recipient`, `facilitator`, `tx_hash`, or a `since` of at most ' +
      `${settlementDays} days ago; ` +
      'otherwise 400. A page for which very many settlements would have to be looked at is short, or empty; only a ' +
      '`next_cursor` of null says that nothing follows.',
  },
  errors: ['ERR_NOT_FOUND', 'ERR_PAYLOAD_INVALID'],
  tool: {
    name: 'list_settlements',
    use: 'Gasless USDC payments by agent, payer, recipient, facilitator or transaction, newest first. One of these is needed.',
    untold: ['selector', 'min_amount', 'max_amount', 'final', 'order'],
  },
  resource: 'settlement://{chain}/{tx_hash}',
  maxAgeSeconds: 30,
  freshSeconds: 5,
  async read({ limit, order, cursor, ...given }, { database, settlementOverloads, baseUrl, now }) {
    const { fid, payer, recipient, facilitator, tx_hash } = given
    const isNarrow = [fid, payer, recipient, facilitator, tx_hash].some((value) => value !== null)
    const oldest = now() - settlementDays * 86_400_000
    const since = typeof given.since === 'string' ? Date.parse(given.since) : undefined
    const list = { name: [path, order, given], order: settlementCursor }
    const after = readCursor(list, cursor)
    // The first page alone is asked how old it is: a walk that began in time goes on, however long it takes.
    const isTooOld = after === undefined && since !== undefined && since < oldest
    if (!isNarrow && (given.since === null || isTooOld)) {
      throw invalidRequest(
        'since',
        `must be at most ${settlementDays} days ago, or one of fid, payer, recipient, facilitator and tx_hash given`,
      )
    }
    const asked = askable(given)
    const page = asked
      ? await findSettlements(database, { limit, order, after, settlementOverloads, filter: inBaseUnits(asked) })
      : { rows: '[]', count: 0, next: null }
    const fields = { count: `${page.count}`, settlements: page.rows }
    return pagedBody(list, page, { fields, url: `${baseUrl}${path}`, query: { ...given, order, limit } })
  },
})
