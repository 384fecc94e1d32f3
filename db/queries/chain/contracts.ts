import type { Queryable } from '../../pool.ts'

/** A contract whose events are indexed. */
export interface IndexedContract {
  /** Lowercase hex. */
  readonly address: string
  readonly fromBlock: number
}

/** The contracts that a chain was last indexed with; empty: none are stored. */
export async function readContracts(db: Queryable, chain: string): Promise<IndexedContract[]> {
  const { rows } = await db.query<IndexedContract>(
    'select address, from_block as "fromBlock" from chain_contract where chain = $1 order by address',
    [chain],
  )
  return rows
}

/** Stores the contracts that a chain is indexed with from now on. One that is given twice begins at the first block. */
export async function writeContracts(
  db: Queryable,
  chain: string,
  contracts: readonly IndexedContract[],
): Promise<void> {
  await db.query(
    `with given as (select address, min(from_block) as from_block
                      from unnest($2::text[], $3::int[]) as given (address, from_block) group by address),
          gone as (delete from chain_contract where chain = $1 and address not in (select address from given))
     insert into chain_contract (chain, address, from_block) select $1, address, from_block from given
         on conflict (chain, address) do update set from_block = excluded.from_block`,
    [chain, contracts.map(({ address }) => address), contracts.map(({ fromBlock }) => fromBlock)],
  )
}

/** Last block that the processor has indexed or a backfill has reserved; -1: none. */
export async function lastTakenBlock(db: Queryable, chain: string): Promise<number> {
  const { rows } = await db.query<{ block: number }>(
    `select greatest((select indexed_block from chain_state where chain = $1),
                     (select max(to_block) from backfill where chain = $1), -1)::int as block`,
    [chain],
  )
  return rows[0]?.block ?? -1
}
