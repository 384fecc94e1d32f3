import type { Queryable } from '../../../pool.ts'

/** A second pass over blocks that were read by a version without payments, with its progress. */
export interface PaymentPass {
  readonly fromBlock: number
  /** Inclusive. */
  readonly toBlock: number
  /** Cursor: payments of all blocks below it are stored. */
  readonly nextBlock: number
  /** Hash of the first block read, lowercase hex; null: nothing is read yet. */
  readonly firstHash: string | null
  /** Hash of the block below `nextBlock`, lowercase hex. */
  readonly lastHash: string | null
  readonly payments: number
  /** Sum of gross amounts in base units, over all tokens. */
  readonly amount: bigint
  readonly checksum: bigint
}

/** All passes of a chain, finished ones included, ascending. */
export async function readPasses(db: Queryable, chain: string): Promise<PaymentPass[]> {
  const { rows } = await db.query<Omit<PaymentPass, 'amount' | 'checksum'> & { amount: string; checksum: string }>({
    name: 'read-payment-passes',
    text: `
select from_block as "fromBlock", to_block as "toBlock", next_block as "nextBlock",
       '0x' || encode(first_hash, 'hex') as "firstHash", '0x' || encode(last_hash, 'hex') as "lastHash",
       payments::float8 as payments, amount::text as amount, checksum::text as checksum
  from payment_pass
 where chain = $1
 order by from_block`,
    values: [chain],
  })
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount), checksum: BigInt(row.checksum) }))
}

interface PassStep extends Pick<PaymentPass, 'fromBlock' | 'nextBlock' | 'payments' | 'amount' | 'checksum'> {
  /** Cursor that the pass must have for this step to apply. */
  readonly from: number
  /** Lowercase hex. */
  readonly firstHash: string
  readonly lastHash: string
}

/**
 * Advances a pass, in the transaction that adds the rows. False: its cursor is elsewhere, or it ends before the step.
 */
export async function movePass(db: Queryable, chain: string, step: PassStep): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'move-payment-pass',
    text: `
update payment_pass
   set next_block = $4, first_hash = coalesce(first_hash, decode(substr($5, 3), 'hex')),
       last_hash = decode(substr($6, 3), 'hex'), payments = payments + $7, amount = amount + $8::numeric,
       checksum = (checksum + $9::numeric) % 18446744073709551616
 where chain = $1 and from_block = $2 and next_block = $3 and to_block >= $4 - 1`,
    values: [
      chain,
      step.fromBlock,
      step.from,
      step.nextBlock,
      step.firstHash,
      step.lastHash,
      step.payments,
      String(step.amount),
      String(step.checksum),
    ],
  })
  return rowCount === 1
}

/** Ends the passes of a chain at a block, because the rows above it are deleted. One that was beyond it starts over. */
export async function cutPasses(db: Queryable, chain: string, block: number): Promise<void> {
  await db.query('delete from payment_pass where chain = $1 and from_block > $2', [chain, block])
  await db.query(
    `update payment_pass
        set next_block = from_block, first_hash = null, last_hash = null, payments = 0, amount = 0, checksum = 0
      where chain = $1 and to_block > $2 and next_block > $2 + 1`,
    [chain, block],
  )
  await db.query('update payment_pass set to_block = $2 where chain = $1 and to_block > $2', [chain, block])
}
