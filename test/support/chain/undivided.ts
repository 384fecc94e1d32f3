import type pg from 'pg'

/** Gives a chain without settlements one table for all of its blocks, as chains had before their partitions. */
export async function makeUndivided(pool: pg.Pool, chain: string): Promise<void> {
  await pool.query(`drop table settlement_${chain}`)
  await pool.query(`create table settlement_${chain} (like settlement including defaults)`)
  await pool.query(`alter table settlement attach partition settlement_${chain} for values in ('${chain}')`)
}
