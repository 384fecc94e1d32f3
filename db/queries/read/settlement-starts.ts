import type { Queryable } from '../../pool.ts'

/** Where a chain's settlements of a time and later begin. */
export interface ChainStart {
  readonly chain: string
  /** The first block whose settlements are of that time or later. */
  readonly block: number
}

/**
 * The start of each chain, in the order of their names. Time has no index: it is searched by halving, as blocks get
 * newer and never older.
 */
export async function settlementStarts(
  db: Queryable,
  { chains, since }: { chains: readonly string[]; since: string },
): Promise<ChainStart[]> {
  const { rows } = await db.query<ChainStart>({
    name: 'settlement-starts',
    text: `
with recursive search as (
  select chain.name as chain, 0 as low,
         coalesce((select max(block_number) from settlement s where s.chain = chain.name), -1) + 1 as high
    from unnest($1::text[]) as chain (name)
   union all
  select s.chain, case when probe.early then probe.block + 1 else s.low end,
         case when probe.early then s.high else (s.low + s.high) / 2 end
    from search s
   cross join lateral (
     select block_number as block, block_timestamp < $2 as early
       from settlement
      where chain = s.chain and block_number >= (s.low + s.high) / 2
      order by block_number
      limit 1
   ) probe
   where s.low < s.high
)
select chain, low as block from search where low >= high order by chain`,
    values: [chains, since],
  })
  return rows
}
