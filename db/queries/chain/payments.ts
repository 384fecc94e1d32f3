import type { Queryable } from '../../pool.ts'

/** Adds payments that are not there yet: `rows` is a JSON array of objects with the columns' names. */
export async function insertPayments(db: Queryable, rows: string): Promise<void> {
  await db.query({
    name: 'insert-payments',
    text: `insert into payment select * from json_populate_recordset(null::payment, $1::json) on conflict do nothing`,
    values: [rows],
  })
}

/** Both ends included. */
export async function deletePaymentsWithin(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: { readonly fromBlock: number; readonly toBlock: number },
): Promise<void> {
  await db.query('delete from payment where chain = $1 and block_number between $2 and $3', [chain, fromBlock, toBlock])
}
