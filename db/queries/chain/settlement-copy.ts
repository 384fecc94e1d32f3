import pg from 'pg'

/** All but `id`, which rows of final blocks do not have. */
export const copiedColumns = `(amount, block_timestamp, block_number, log_index, chain, selector_source, selector,
   token, payer, recipient, facilitator, payment_nonce, tx_hash)`

/** Takes binary rows with these thirteen columns, in this order; `id` stays null: rows of final blocks have none. */
export const copySettlements = `copy settlement
  ${copiedColumns}
  from stdin (format binary)`

/** COPY of the same binary rows into another table of the shape of `settlement`. */
export function copySettlementsInto(table: string): string {
  return `copy ${pg.escapeIdentifier(table)} ${copiedColumns} from stdin (format binary)`
}

/**
 * Gives the rows of a range of blocks back as they were taken, in the order of the chain; `table` is `settlement` or
 * one of the same shape.
 */
export function copySettlementsOut(table: string, chain: string, fromBlock: number, toBlock: number): string {
  return `copy (select amount, block_timestamp, block_number, log_index, chain, selector_source, selector,
         token, payer, recipient, facilitator, payment_nonce, tx_hash
    from ${pg.escapeIdentifier(table)}
   where chain = ${pg.escapeLiteral(chain)} and block_number between ${Math.trunc(fromBlock)} and ${Math.trunc(toBlock)}
   order by block_number, log_index) to stdout (format binary)`
}
