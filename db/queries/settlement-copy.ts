/** Takes binary rows with these thirteen columns, in this order; `id` stays null: rows of final blocks have none. */
export const copySettlements = `copy settlement
  (amount, block_timestamp, block_number, log_index, chain, selector_source, selector,
   token, payer, recipient, facilitator, payment_nonce, tx_hash)
  from stdin (format binary)`
