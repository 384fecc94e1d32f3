import type { Queryable } from '../../pool.ts'

/** Age of each chain's newest indexed block, whole seconds; chains without a block are left out. */
export async function chainLags(db: Queryable): Promise<{ chain: string; lag_seconds: number }[]> {
  const { rows } = await db.query({
    name: 'chain-lags',
    text: `select chain, greatest(0, extract(epoch from now() - indexed_at))::int as lag_seconds
             from chain_state
            where indexed_at is not null`,
  })
  return rows
}

/** Resolves when the database answers and has this program's tables; throws otherwise. */
export async function ping(db: Queryable): Promise<void> {
  await db.query({ name: 'ping', text: 'select 1 from agent limit 1' })
}
