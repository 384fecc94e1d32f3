import { settlementSeries } from '../../../db/queries/settlements/timeseries.ts'
import { hour } from '../../../ops/time.ts'
import { parseAnswer } from '../parts/exact-json.ts'
import type { World } from '../parts/page.ts'
import type { Series } from '../parts/series.ts'

export const monthMs = 30 * 86_400_000
/** Settlements up to which a page counts distinct payers itself; the API's series go higher and may take longer. */
const payersUpTo = 2_000

/** Settlements over one range of time, on all chains together. */
export type Sum = Omit<Series['points'][number], 'start'>

/** Settlements to an agent, those from itself too, since a time, in milliseconds since the epoch, cut to the full hour. */
export async function paidSince(
  { database, settlementOverloads, now }: World,
  fid: number,
  since: number,
): Promise<Sum> {
  const starts = [Math.floor(since / hour) * hour]
  const end = Math.ceil((now() + 1) / hour) * hour
  const asked = { fid, starts, end, chain: null, settlementOverloads, payersUpTo }
  const [sum] = parseAnswer<Sum[]>(await settlementSeries(database, asked))
  return sum ?? { settlements: 0, amount_usdc: '0', unique_payers: 0, median_usdc: null }
}
