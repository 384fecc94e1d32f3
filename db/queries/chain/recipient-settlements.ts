import type { Queryable } from '../../pool.ts'
import { type MovedSettlement, movedColumns } from '../rollup/sums.ts'
import { type StoredSettlement, settlementArrays, settlementColumns, unnestSettlements } from './settlement-arrays.ts'

/** Inserts settlements of final blocks that are not stored yet. Returns those that it inserted. */
export async function addSettlements(
  db: Queryable,
  chain: string,
  rows: readonly StoredSettlement[],
): Promise<MovedSettlement[]> {
  const added = await db.query<MovedSettlement>({
    name: 'add-settlements',
    text: `
insert into settlement (chain, ${settlementColumns()})
select $1, * from ${unnestSettlements(2)}
    on conflict do nothing
returning ${movedColumns}`,
    values: [chain, ...settlementArrays(rows)],
  })
  return added.rows
}
