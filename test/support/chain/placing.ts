import { setTimeout as delay } from 'node:timers/promises'
import { readChains } from '../../../config/chains.file.ts'
import { readStaging } from '../../../db/queries/chain/staging-partitions.ts'
import { reserveRange } from '../../../processors/backfill/reservation.ts'
import { placePartition } from '../../../processors/backfill/staging-placement.ts'
import { createTestDatabase } from '../database.ts'

interface PlacingRun {
  /** Rows of the chain afterwards, and the number that must be there. */
  readonly rows: number
  readonly expected: number
  /** Rows above the final block that a reorg could no longer undo. */
  readonly stuck: number
  /** Latency of the reader's slowest answer in milliseconds, and the number of answers. */
  readonly slowest: number
  readonly answers: number
  /** Latency in milliseconds of the slowest answer to a statement that reads no table: the machine's own delays. */
  readonly slowestOfAny: number
}

const { base } = readChains({ env: {} })
const rowsPerBlock = 10
const loadedBlocks = 1_000
const hotBlocks = 20
const readPauseMs = 5
/** Blocks whose settlements one statement inserts: far below what the pool's statement timeout ends. */
const insertedBlocks = 10_000

/** Settlements of blocks, ten a block; `id`: an expression, null for rows of final blocks. */
const insertBlocks = (table: string, id: string) => `
insert into ${table} (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token, payer,
                      recipient, facilitator, payment_nonce, tx_hash, id)
select 1, '2026-01-01', n / ${rowsPerBlock}, n % ${rowsPerBlock}, 'base', 'c', '\\xe3ee160e', '\\x00',
       decode(lpad(to_hex(n % 5000), 40, '0'), 'hex'), decode(lpad(to_hex(n % 1000), 40, '0'), 'hex'),
       '\\x00', decode(lpad(to_hex(n), 64, '0'), 'hex'), decode(lpad(to_hex(n), 64, '0'), 'hex'), ${id}
  from generate_series($1::bigint * ${rowsPerBlock}, ($2::bigint + 1) * ${rowsPerBlock} - 1) n`

/**
 * Places a loaded partition into which the processor has written `rows` settlements meanwhile and goes on writing, while
 * somebody reads the settlements of the chain without a pause.
 */
export async function placeUnderReader(rows: number): Promise<PlacingRun> {
  const database = await createTestDatabase()
  const { pool } = database
  try {
    const { id } = (await reserveRange(pool, base, { fromBlock: 0, toBlock: loadedBlocks - 1 }, 1))!
    const [staging] = await readStaging(pool, id)
    if (!staging) throw new Error('no partition has a staging table')
    await pool.query(insertBlocks(staging.table, 'null'), [0, loadedBlocks - 1])
    await pool.query('update backfill_shard set next_block = last_block + 1')
    let head = loadedBlocks + rows / rowsPerBlock
    for (let from = loadedBlocks; from <= head - hotBlocks; from += insertedBlocks)
      await pool.query(insertBlocks('settlement', 'null'), [
        from,
        Math.min(from + insertedBlocks - 1, head - hotBlocks),
      ])
    await pool.query(insertBlocks('settlement', `'base-' || n`), [head - hotBlocks + 1, head])
    await pool.query(
      `insert into chain_state (chain, chain_id, indexed_block, finalized_block, head_block, updated_at)
       values ('base', 8453, $1::int, $2, $1, now())`,
      [head, head - hotBlocks],
    )
    let isOver = false
    let answers = 0
    /** Runs a statement without a pause until the placing is over; returns the slowest latency in milliseconds. */
    const ask = async (statement: string, answered = () => {}) => {
      let slowest = 0
      while (!isOver) {
        const began = performance.now()
        await pool.query(statement)
        slowest = Math.max(slowest, performance.now() - began)
        answered()
        await delay(readPauseMs)
      }
      return slowest
    }
    const reading = ask(
      `select * from settlement where recipient = decode(lpad('7', 40, '0'), 'hex')
        order by block_number desc, log_index desc limit 20`,
      () => answers++,
    )
    const askingAnything = ask('select')
    const writing = (async () => {
      for (; !isOver; await delay(20 * readPauseMs)) {
        const block = head + 1
        await pool.query(insertBlocks('settlement', `'base-' || n`), [block, block])
        await pool.query('update chain_state set indexed_block = $1, finalized_block = $2, head_block = $1', [
          block,
          block - hotBlocks,
        ])
        head = block
      }
    })()
    try {
      await placePartition(pool, base, staging)
    } finally {
      isOver = true
      await Promise.all([reading, writing, askingAnything])
    }
    const { rows: counted } = await pool.query<{ rows: number; stuck: number }>(
      `select count(*)::int as rows,
              (count(*) filter (where id is null and block_number > finalized_block))::int as stuck
         from settlement join chain_state using (chain)`,
    )
    return {
      rows: counted[0]?.rows as number,
      expected: (head + 1) * rowsPerBlock,
      stuck: counted[0]?.stuck as number,
      slowest: await reading,
      answers,
      slowestOfAny: await askingAnything,
    }
  } finally {
    await database.drop()
  }
}
