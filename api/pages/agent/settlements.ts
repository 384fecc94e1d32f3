import { z } from 'zod'
import type { ChainName } from '../../../config/chains.ts'
import { queryLimits } from '../../../config/limits.ts'
import { fidParameter } from '../../http/parameters.ts'
import { type Route, route } from '../../http/route.ts'
import { settlements as settlementsRoute } from '../../routes/settlements/settlements.ts'
import type { settlementList } from '../../schemas/settlements/settlement.ts'
import type { Exact } from '../parts/exact-json.ts'
import { askExact, type World } from '../parts/page.ts'
import { seriesParameters } from '../parts/series.ts'

/** Settlements on one page. */
const rows = 20

/** Cursor that the page before gave as its next; undefined: the first page. */
export const afterParameter = z
  .unknown()
  .optional()
  .transform((value) => {
    const text = [value].flat()[0]
    return typeof text === 'string' && text !== '' ? text.slice(0, queryLimits.cursorCharacters + 1) : undefined
  })

interface Wanted {
  readonly fid: number
  readonly after: string | undefined
  readonly chain: readonly ChainName[] | null
}

/** A page of an agent's settlements, newest first. Undefined: there is no such agent. */
export function settlementsOf(world: World, { fid, after, chain }: Wanted) {
  const input = { ...settlementsRoute.query.parse({ limit: `${rows}`, cursor: after ?? '' }), fid, chain }
  return askExact<z.output<typeof settlementList>>(world, settlementsRoute, input)
}

type Row = Exact<z.output<typeof settlementList>>['settlements'][number]

const columns: readonly (keyof Row)[] = [
  'block_timestamp',
  'chain',
  'amount_usdc',
  'payer_address',
  'recipient_address',
  'tx_hash',
  'block_number',
  'log_index',
  'facilitator_address',
  'payment_nonce',
  'final',
]

/** `/agent/{fid}/settlements.csv`: one page of an agent's settlements as CSV (RFC 4180); no value needs quotes. */
export function settlementsCsv(world: World): Route {
  return route({
    path: '/agent/{fid}/settlements.csv',
    operationId: 'agentSettlementsCsv',
    summary: 'The settlements that a page of an agent shows.',
    params: z.object({ fid: fidParameter }),
    query: z.object({ chain: seriesParameters.chain, after: afterParameter }),
    answer: { type: 'text/csv; charset=utf-8; header=present', schema: z.string(), description: 'The rows.' },
    errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
    maxAgeSeconds: 30,
    freshSeconds: 5,
    missing: 'No agent with this FID is known',
    async read({ fid, after, chain }) {
      const list = await settlementsOf(world, { fid, after, chain })
      if (!list) return undefined
      const lines = list.settlements.map((row) => columns.map((column) => String(row[column])).join(','))
      return [columns.join(','), ...lines, ''].join('\r\n')
    },
  })
}
