import type { Queryable } from '../../pool.ts'
import type { BlockRange } from '../rollup/hourly.ts'
import { addSums } from '../rollup/sums.ts'

// Settlements that are loaded by recipient, in blocks that may be rolled up already.

/** A settlement as its row has it, but for the chain's name. */
export interface RecipientSettlement {
  readonly blockNumber: number
  readonly logIndex: number
  readonly blockTimestamp: Date
  /** Base units. */
  readonly amount: bigint
  readonly token: Buffer
  readonly payer: Buffer
  readonly recipient: Buffer
  readonly facilitator: Buffer
  readonly paymentNonce: Buffer
  readonly txHash: Buffer
  readonly selector: Buffer
  readonly selectorSource: string
}

/** Adds settlements of final blocks that are not there yet. Returns the recipient of each that was not. */
export async function addSettlements(
  db: Queryable,
  chain: string,
  rows: readonly RecipientSettlement[],
): Promise<Buffer[]> {
  const column = <K extends keyof RecipientSettlement>(name: K) => rows.map((row) => row[name])
  const added = await db.query<{ recipient: Buffer }>({
    name: 'add-settlements',
    text: `
insert into settlement (chain, block_number, log_index, block_timestamp, amount, token, payer, recipient, facilitator,
                        payment_nonce, tx_hash, selector, selector_source)
select $1, * from unnest($2::int[], $3::int[], $4::timestamptz[], $5::bigint[], $6::bytea[], $7::bytea[], $8::bytea[],
                         $9::bytea[], $10::bytea[], $11::bytea[], $12::bytea[], $13::"char"[])
    on conflict do nothing
returning recipient`,
    values: [
      chain,
      column('blockNumber'),
      column('logIndex'),
      column('blockTimestamp'),
      column('amount'),
      column('token'),
      column('payer'),
      column('recipient'),
      column('facilitator'),
      column('paymentNonce'),
      column('txHash'),
      column('selector'),
      column('selectorSource'),
    ],
  })
  return added.rows.map(({ recipient }) => recipient)
}

/**
 * Adds the settlements of some recipients in a range of blocks to the hours, totals and payers: for recipients that had
 * none in it before. Blocks that a backfill has reserved are left out, as theirs were not added here. Call under
 * `lockRollup`, in the transaction that adds the rows, with blocks that are rolled up.
 */
export async function addRecipientsToRollup(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: BlockRange,
  recipients: readonly Buffer[],
): Promise<void> {
  await db.query({
    name: 'add-recipients-to-rollup',
    text: addSums(`s.block_number between $2 and $3 and s.recipient = any ($4::bytea[])
     and not exists (select from backfill b
                      where b.chain = $1 and s.block_number between b.from_block and b.to_block)`),
    values: [chain, fromBlock, toBlock, recipients],
  })
}
