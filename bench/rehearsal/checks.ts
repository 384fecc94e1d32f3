import type pg from 'pg'
import { isListed } from '../../db/queries/sql/settlement-filter.ts'
import type { DevChain } from '../../devnet/chain/chain.ts'
import { describeDifference, readChainTables } from '../../test/support/chain/oracle.ts'
import { until } from '../../test/support/until.ts'

/** Number of rolled-up sums that differ from their final settlements. */
export async function wrongSums(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ wrong: number }>(`
    select count(*)::int as wrong
      from (select chain, recipient, not ${isListed('selector')} as overload, count(*) as n, sum(amount) as amount
              from settlement s join settlement_rollup r using (chain)
             where s.block_number < r.next_block
             group by 1, 2, 3) fact
      full join settlement_total t using (chain, recipient, overload)
     where (fact.n, fact.amount) is distinct from (t.n, t.amount)`)
  return rows[0]?.wrong as number
}

/** Waits until a chain's rows from a block on equal those of a clean index of its last state; '' or the difference. */
export async function differenceFromClean(
  chain: DevChain,
  { pool, clean, fromBlock }: { pool: pg.Pool; clean: pg.Pool; fromBlock: number },
): Promise<string> {
  const head = Number(await chain.client.getBlockNumber())
  await until(`a clean index of ${chain.name} is at ${head}`, async () => {
    const { rows } = await clean.query<{ at: number }>('select indexed_block as at from chain_state where chain = $1', [
      chain.name,
    ])
    return (rows[0]?.at ?? -1) >= head
  })
  const expected = await readChainTables(clean, chain.name, fromBlock)
  let difference = ''
  const isSame = async () => {
    difference = describeDifference(await readChainTables(pool, chain.name, fromBlock), expected)
    return difference === ''
  }
  await until('the rows are the same', isSame).catch(() => {})
  return difference
}

/** Fids with an acknowledged claim that the database does not have. */
export async function lostClaims(pool: pg.Pool, acknowledged: readonly number[]): Promise<number[]> {
  const { rows } = await pool.query<{ fid: number }>('select distinct fid from claim where fid = any($1)', [
    acknowledged,
  ])
  const held = new Set(rows.map(({ fid }) => Number(fid)))
  return acknowledged.filter((fid) => !held.has(fid))
}
