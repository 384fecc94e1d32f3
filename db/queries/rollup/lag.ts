import type { Queryable } from '../../pool.ts'

/**
 * How old the oldest settlement of each chain is that the roll-up has not reached, in seconds; 0 when it has reached all.
 * Blocks that a backfill has loaded below the roll-up's mark are not looked at: they are as old as they are.
 */
export async function rollupLags(db: Queryable, now: Date): Promise<{ chain: string; seconds: number }[]> {
  const { rows } = await db.query<{ chain: string; seconds: number }>({
    name: 'rollup-lags',
    text: `
select r.chain, coalesce(greatest(0, extract(epoch from $1::timestamptz - s.block_timestamp)), 0)::float8 as seconds
  from settlement_rollup r
  left join lateral (
    select block_timestamp
      from settlement
     where chain = r.chain and block_number >= r.next_block
     order by block_number
     limit 1) s on true
 order by r.chain`,
    values: [now],
  })
  return rows
}
