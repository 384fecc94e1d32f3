import type { Queryable } from '../../pool.ts'

/**
 * Age in seconds of each chain's oldest settlement that is not rolled up yet; 0 when all are. Blocks that a backfill
 * has loaded below the roll-up's cursor do not count: their age says nothing of a delay.
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
