import { z } from 'zod'
import type { ChainName } from '../../../config/chains.ts'
import { queryLimits } from '../../../config/limits.ts'
import { settlements as settlementsRoute } from '../../routes/settlements/settlements.ts'
import type { settlementList } from '../../schemas/settlements/settlement.ts'
import { askExact, type World } from '../parts/page.ts'

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
