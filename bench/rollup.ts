import type pg from 'pg'
import { busiestChain } from '../config/chains.ts'
import { migrate } from '../db/migrate.ts'
import { createPool, inTransaction } from '../db/pool.ts'
import { ensurePartitions } from '../db/queries/chain/partitions/settlement-partitions.ts'
import { deleteNewestSettlements } from '../db/queries/chain/reset.ts'
import { addMovedToRollup, lockRollup, subtractFromRollup } from '../db/queries/rollup/cursor.ts'
import { type MovedSettlement, movedColumns } from '../db/queries/rollup/sums.ts'
import { rollUpSettlements } from '../enrichment/periodic/rollup.ts'
import { startTemporaryServer } from './temporary-server.ts'
import { settlementIndexes } from './world.ts'

interface RollupSize {
  /** Settlements of 200,000 recipients, a few of which get most, each of another payer, as in the rehearsal. */
  readonly many: number
  /** Settlements of one recipient, of 20,000 payers in turn. */
  readonly ofOne: number
  /** Settlements that a reset removes. */
  readonly removed: number
}

const firstBlock = 30_000_000
const perBlock = 5
const one = `'\\xbb'::bytea`

/**
 * Stores settlements with their indexes, rolls them up, then takes some of one recipient out, puts them back and resets
 * the newest ones. Prints how long each took, and its ratio to storing them.
 */
export async function benchRollup({ many, ofOne, removed }: RollupSize): Promise<void> {
  const settings = { shared_buffers: '1GB', max_wal_size: '4GB' }
  const { postgres, cpuSeconds, remove } = await startTemporaryServer('rollup', { durable: false, settings })
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', statementTimeoutMs: 0 })
  const rows = many + ofOne
  try {
    await migrate(postgres.databaseUrl)
    const stored = await seconds(() => fill(pool, many, ofOne))
    say(`${rows} settlements stored in ${stored.toFixed(1)} s`)
    const before = { cpu: cpuSeconds(), log: await walBytes(pool) }
    const rolled = await seconds(async () => {
      while ((await rollUpSettlements({ pool })) > 0);
    })
    const cpu = cpuSeconds() - before.cpu
    const log = (await walBytes(pool)) - before.log
    say(
      `rolled up in ${rolled.toFixed(1)} s, ${(rolled / stored).toFixed(2)} of that; ${cpu.toFixed(1)} CPU s of the server`,
    )
    await pool.query('vacuum (analyze)')
    const last = Math.ceil(ofOne / perBlock)
    const mended: number[] = []
    for (const block of [0, last >> 1, last >> 2, last - 1, last]) mended.push(await mend(pool, firstBlock + block))
    mended.sort((a, b) => a - b)
    say(`one settlement of ${ofOne} taken out and put back: ${mended.map((ms) => ms.toFixed(0)).join(', ')} ms`)
    const reset = await seconds(() => removeNewest(pool, removed))
    say(`${removed} settlements removed in ${reset.toFixed(1)} s`)
    const { rows: sizes } = await pool.query<{ bytes: number }>(
      `select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_class c
        where c.relname in ('settlement_hourly', 'settlement_total', 'settlement_payer')`,
    )
    say(
      JSON.stringify({
        rolled_up_per_second: Math.round(rows / rolled),
        rolled_up_to_stored: Number((rolled / stored).toFixed(2)),
        rolled_up_cpu_us_a_row: Number(((cpu * 1e6) / rows).toFixed(1)),
        wal_bytes_a_row: Math.round(log / rows),
        sums_bytes_a_row: Math.round((sizes[0]?.bytes ?? 0) / rows),
        mended_slowest_ms: Math.round(mended.at(-1) as number),
        reset_per_second: Math.round(removed / reset),
      }),
    )
  } finally {
    await pool.end()
    await remove()
  }
}

async function fill(pool: pg.Pool, many: number, ofOne: number): Promise<void> {
  const rows = many + ofOne
  await inTransaction(pool, (db) => ensurePartitions(db, busiestChain, firstBlock + rows))
  for (const { name } of settlementIndexes) await pool.query(`drop index ${name}`)
  const insert = (recipient: string, payer: string, logIndex: number, count: number) =>
    pool.query(
      `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token, payer,
                               recipient, facilitator, payment_nonce, tx_hash)
       select 1000 + n % 977, timestamptz '2026-01-01Z' + n / ${perBlock} * interval '2 seconds', ${firstBlock} + n / ${perBlock},
              ${logIndex} + n % ${perBlock}, '${busiestChain}', 'c', '\\xcf092995', substr(sha256('token'), 1, 20), ${payer}, ${recipient},
              substr(sha256(int8send(n % 23)), 1, 20), sha256(int8send(n)), sha256(int8send(n))
         from generate_series(0::bigint, $1::bigint - 1) n`,
      [count],
    )
  const rank = `least(200000, floor(power(200001, hashint8(n) / 4294967296.0 + 0.5)))::bigint`
  await insert(`substr(sha256(int8send(${rank})), 1, 20)`, 'substr(sha256(int8send(-n)), 1, 20)', 0, many)
  await insert(one, 'substr(sha256(int8send(-1 - n % 20000)), 1, 20)', 100, ofOne)
  for (const { name, on } of settlementIndexes) await pool.query(`create index ${name} on settlement ${on}`)
  await pool.query(
    `insert into chain_state (chain, chain_id, indexed_block, indexed_at, finalized_block, head_block, updated_at)
     select '${busiestChain}', 1, ${firstBlock + rows}, now(), ${firstBlock + rows}, ${firstBlock + rows}, now()`,
  )
  await pool.query('vacuum (analyze) settlement')
}

/** Takes a settlement of the one recipient out and puts it back, each in a transaction. Returns milliseconds. */
async function mend(pool: pg.Pool, block: number): Promise<number> {
  await pool.query('drop table if exists taken')
  await pool.query(
    `create table taken as select * from settlement
      where chain = '${busiestChain}' and recipient = ${one} and block_number <= $1 order by block_number desc limit 1`,
    [block],
  )
  const change = (text: string, correct: typeof addMovedToRollup) =>
    inTransaction(pool, async (db) => {
      await lockRollup(db, busiestChain)
      const { rows } = await db.query<MovedSettlement>(`${text} returning ${movedColumns}`)
      await correct(db, busiestChain, rows)
    })
  const took = await seconds(async () => {
    await change(
      `delete from settlement where chain = '${busiestChain}' and (block_number, log_index) = (select block_number, log_index from taken)`,
      subtractFromRollup,
    )
    await change('insert into settlement select * from taken', addMovedToRollup)
  })
  return took * 1_000
}

async function removeNewest(pool: pg.Pool, count: number): Promise<void> {
  await inTransaction(pool, async (db) => {
    await lockRollup(db, busiestChain)
    const range = { fromBlock: firstBlock, toBlock: 2_000_000_000 }
    await subtractFromRollup(db, busiestChain, await deleteNewestSettlements(db, busiestChain, range, count))
  })
}

async function walBytes(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`,
  )
  return rows[0]?.bytes ?? 0
}

async function seconds(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return (performance.now() - start) / 1_000
}

function say(line: string) {
  process.stdout.write(`${line}\n`)
}
