import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readChains } from '../../../config/chains.file.ts'
import { readConfig } from '../../../processors/backfill/config.ts'
import { runLoad } from '../../../processors/backfill/load.ts'
import { reserveRange } from '../../../processors/backfill/reservation.ts'
import type { TestDatabase } from '../../support/database.ts'
import { all, chain, estimateRequests, type LoadRun, startLoadRun } from './load-run.ts'

let run: LoadRun
beforeAll(async () => {
  run = await startLoadRun()
})
afterAll(() => run?.end())

describe('a range that two processes have loaded', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await run.database()
  })

  test('is what the processor indexes, and its certificate says what it is', async () => {
    const { code, stdout, stderr } = await run.load(database, [...all, '--workers', 2])
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(run.expected.settlement).toHaveLength(chain.settlements)
    expect(await run.difference(database)).toBe('')
    const { rows } = await database.pool.query(
      `select count(*)::int as settlements, sum(amount)::text as amount from settlement`,
    )
    const { settlements, amount } = rows[0]
    expect(stdout).toMatch(/about [\d,]+ of them, \d+ MB in the database\n/)
    const hashes = [chain.firstBlock, chain.lastBlock].map((number) => chain.source.header(number).hash)
    expect(stdout).toMatch(
      new RegExp(
        `in total: base 1000 to 1599: ${settlements} settlements, amount ${amount}, checksum [0-9a-f]{16}, ` +
          '0 payments beside them, checksum 0{16}, ' +
          `first block ${hashes[0]}, last block ${hashes[1]}\n` +
          'they are counted row by row until the processor of base has passed block 1599: npm run processor -- base\n$',
      ),
    )
  })

  test('has its partition in place, with the indexes of all partitions', async () => {
    const { rows } = await database.pool.query(
      `select inhparent::regclass::text as parent, count(indexrelid)::int as indexes
         from pg_inherits join pg_index on indrelid = inhrelid
        where inhrelid in ('settlement_base_0000'::regclass, 'settlement_base_0030'::regclass)
        group by inhrelid, inhparent`,
    )
    expect(rows).toEqual([
      { parent: 'settlement_base', indexes: 6 },
      { parent: 'settlement_base', indexes: 6 },
    ])
    const left = await database.pool.query(`select to_regclass('settlement_base_0000_load') as left`)
    expect(left.rows).toEqual([{ left: null }])
  })

  test('is not loaded again', async () => {
    const { code, stdout } = await run.load(database)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^all the settlements of blocks 1000 to 1599 .* are loaded already\n/)
    expect(await run.difference(database)).toBe('')
  })

  test('is the same in the table and in another source', async () => {
    const gateway = run.portal.gatewayUrl('base-mainnet')
    const { code, stdout, stderr } = await run.load(database, [...all, '--verify', '--gateway', gateway])
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout.match(/the table matches|agrees/g)).toHaveLength(4)
  })

  test.each([
    ['a byte of a recipient', 'update settlement set recipient = set_byte(recipient, 7, 255 - get_byte(recipient, 7))'],
    ['the length of a value', `update settlement set payment_nonce = payment_nonce || '\\x00'`],
    ['a row', 'delete from settlement'],
  ])('does not verify when %s changes', async (_, statement) => {
    const client = await database.pool.connect()
    const where =
      'where block_number = 1400 and log_index = (select min(log_index) from settlement where block_number = 1400)'
    const { rows } = await client.query(`select * from settlement ${where}`)
    await client.query(`${statement} ${where}`)
    const { code, stderr } = await run.load(database, [...all, '--verify'])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^the backfill of blocks 1000 to 1599 of base does not match its certificate or source: the table: [^\n]*\n$/,
    )
    await client.query(`delete from settlement ${where.replace(/ and .*/, ' and log_index = $1')}`, [rows[0].log_index])
    await client.query('insert into settlement select (json_populate_record(null::settlement, $1)).*', [
      JSON.stringify(asJson(rows[0])),
    ])
    client.release()
    expect(await run.difference(database)).toBe('')
  })
})

/** A row as JSON that Postgres can insert again. */
function asJson(row: Record<string, unknown>) {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value]),
  )
}

test('a v2 archive gives the same rows', async () => {
  const database = await run.database()
  const gateway = run.portal.gatewayUrl('base-mainnet')
  const { code } = await run.load(database, [...all, '--workers', 1], { gateway })
  expect(code).toBe(0)
  expect(await run.difference(database)).toBe('')
})

test('a Portal that breaks off, is overloaded and sends half lines gives the same rows', async () => {
  const database = await run.database()
  run.portal.faults.add({ kind: 'cut', lines: 12, how: 'end' }, { skip: estimateRequests })
  run.portal.faults.add({ kind: 'cut', lines: 30, how: 'truncate' }, { skip: estimateRequests + 1 })
  run.portal.faults.add({ kind: 'cut', lines: 7, how: 'reset' }, { skip: estimateRequests + 2 })
  run.portal.faults.add({ kind: 'status', status: 529, retryAfterSeconds: 0 }, { skip: estimateRequests + 3, times: 2 })
  run.portal.faults.add(
    { kind: 'line', line: 3, replace: (text) => text.replace('"header"', '"header" ') },
    { skip: estimateRequests + 5 },
  )
  const { code } = await run.load(database, [...all, '--workers', 2])
  expect(run.portal.faults.pending).toBe(0)
  expect(code).toBe(0)
  expect(await run.difference(database)).toBe('')
})

test('a block that does not follow the one before it ends the load with one line, and is not kept', async () => {
  const database = await run.database()
  const replace = (text: string) => text.replace(/"parentHash":"0x..../, '"parentHash":"0xdead')
  run.portal.faults.add({ kind: 'line', line: 20, replace }, { skip: estimateRequests })
  const { code, stderr } = await run.load(database, [...all, '--workers', 1])
  expect(code).toBe(1)
  expect(stderr).toMatch(/^blocks from 1000 on: .* sent block 1020 with parent 0xdead.*nothing of it is kept\n$/)
  expect((await run.load(database)).code).toBe(0)
  expect(await run.difference(database)).toBe('')
})

test('a range is not completed by workers that are done without having loaded it, and it says which blocks are left', async () => {
  const database = await run.database()
  const { pool, url } = database
  const { base } = readChains({ env: {}, file: run.options(database, []).chainSettings })
  const { id } = (await reserveRange(pool, base, { fromBlock: 1_000, toBlock: 1_599 }, 2))!
  await pool.query(
    'update backfill_shard set next_block = last_block + 1 where backfill_id = $1 and first_block = 1000',
    [id],
  )
  const given = { chain: 'base', from: '1000', to: '1599', workers: '2' }
  const load = runLoad({
    config: readConfig(given, { DATABASE_URL: url }, run.options(database, []).chainSettings),
    pool,
    databaseUrl: url,
    backfillId: id,
    finalHeight: 1_599,
    nextWorker: () => ({ run: async () => {}, kill() {} }),
    killWorkers() {},
    openDisplay: () => ({ line() {}, update() {}, stop() {} }),
  })
  await expect(load).rejects.toThrow('blocks 1300 to 1599 of base were not loaded, so the backfill is not complete')
  expect((await pool.query('select completed_at from backfill')).rows).toEqual([{ completed_at: null }])
})
