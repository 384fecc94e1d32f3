import type { ClientBase } from 'pg'

const columns = `amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token, payer, recipient,
  facilitator, payment_nonce, tx_hash`

/** Has the server write settlements of a table into a file, in the order of the chain; returns their number. */
export async function writeRows(client: ClientBase, from: string, file: string, most?: number): Promise<number> {
  const limit = most === undefined ? '' : `limit ${most}`
  const { rowCount } = await client.query(
    `copy (select ${columns} from ${from} order by block_number, log_index ${limit}) to '${file}' (format binary)`,
  )
  return rowCount ?? 0
}

/** Seconds of one COPY by the server from a file into a table with its key and all its indexes. */
export async function copyAlone(client: ClientBase, into: string, file: string): Promise<number> {
  const began = performance.now()
  await client.query(`copy ${into} (${columns}) from '${file}' (format binary)`)
  return (performance.now() - began) / 1_000
}
