import type { Queryable } from '../../pool.ts'

/** Block of a chain from which on all settlements are of a given time or later. */
export interface ChainStart {
  readonly chain: string
  /** The first block whose settlements are of that time or later. */
  readonly block: number
}

/** A chain, and the ISO time whose block is searched for. */
interface Border {
  readonly chain: string
  readonly since: string
}

/** The start of each chain, in the order of their names. */
export function settlementStarts(
  db: Queryable,
  { chains, since }: { chains: readonly string[]; since: string },
): Promise<ChainStart[]> {
  return startsAt(
    db,
    chains.toSorted().map((chain) => ({ chain, since })),
  )
}

/**
 * The start at each border, in their order. Time has no index: it is searched by halving, as blocks get newer and never
 * older; all borders in one statement, which costs far more to begin than to look once more.
 */
export async function startsAt(db: Queryable, borders: readonly Border[]): Promise<ChainStart[]> {
  const { rows } = await db.query<ChainStart>({
    name: 'settlement-starts',
    text: `
with recursive border as (
  select place, chain, since from unnest($1::text[], $2::timestamptz[]) with ordinality as given (chain, since, place)
),
newest as materialized (
  select one.chain, coalesce((select max(block_number) from settlement s where s.chain = one.chain), -1) as block
    from (select distinct chain from border) one
),
search as (
  select b.place, b.chain, b.since, 0 as low, n.block + 1 as high from border b join newest n using (chain)
   union all
  select s.place, s.chain, s.since, case when probe.early then probe.block + 1 else s.low end,
         case when probe.early then s.high else (s.low + s.high) / 2 end
    from search s
   cross join lateral (
     select block_number as block, block_timestamp < s.since as early
       from settlement
      where chain = s.chain and block_number >= (s.low + s.high) / 2
      order by block_number
      limit 1
   ) probe
   where s.low < s.high
)
select chain, low as block from search where low >= high order by place`,
    values: [borders.map(({ chain }) => chain), borders.map(({ since }) => since)],
  })
  return rows
}
