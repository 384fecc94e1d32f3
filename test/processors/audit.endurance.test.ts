import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../config/chains.file.ts'
import { Auditor } from '../../processors/audit/auditor.ts'
import { sourceOf } from '../../processors/history/source-address.ts'
import { openHistory } from '../../processors/history/sources.ts'
import type { Scope } from '../../processors/scope/scope.ts'
import type { BlockSource } from '../doubles/portal/blocks.ts'
import { startPortal } from '../doubles/portal/server.ts'
import { spawnProcessor } from '../support/chain/processor.ts'
import type { TestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { chain, type LoadRun, startLoadRun } from './backfill/load-run.ts'

let run: LoadRun
beforeAll(async () => {
  run = await startLoadRun()
})
afterAll(() => run?.end())

/** A database with the whole chain indexed, where a range of blocks is marked as read from a node and unaudited. */
async function writtenAtHead(fromBlock: number, toBlock: number) {
  const database = await run.database()
  const processor = await run.processor(database)
  await processor.untilIndexed(chain.lastBlock)
  await processor.stop()
  await database.pool.query(
    `insert into head_range (chain, from_block, to_block, next_block) values ('base', $1::int, $2, $1)`,
    [fromBlock, toBlock],
  )
  return database
}

interface AuditorOptions {
  readonly pauseMs?: number
  readonly scope?: Scope
  readonly portal?: string
}

function auditorOf({ url }: TestDatabase, { pauseMs = 60_000, scope = 'all', portal }: AuditorOptions = {}) {
  const more = portal ? { portal } : {}
  const { base } = readChains({ env: {}, file: run.options({ url } as TestDatabase, [], more).chainSettings })
  const source = sourceOf(base, undefined)
  const warned: string[] = []
  const log = { info: () => {}, warn: (text: string) => void warned.push(text) }
  const auditor = new Auditor({
    databaseUrl: url,
    chain: base,
    scope,
    source: source.kind,
    openHistory: (wanted) => openHistory(source, wanted),
    pauseMs,
    log: log as never,
  })
  onTestFinished(() => auditor.close(1_000))
  return { auditor, warned }
}

const keyOf = (block: number) =>
  `(select block_number, log_index from settlement where block_number = ${block} order by log_index limit 1)`
const faults = [
  `delete from settlement where (block_number, log_index) in ${keyOf(1_110)}`,
  `delete from settlement where block_number = 1115`,
  `update settlement set selector_source = 'i', selector = '\\xef55bec6' where (block_number, log_index) in ${keyOf(1_120)}`,
  `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token, payer,
                           recipient, facilitator, payment_nonce, tx_hash)
   select amount, block_timestamp, block_number, 9999, chain, selector_source, selector, token, payer, recipient,
          facilitator, payment_nonce, tx_hash
     from settlement where (block_number, log_index) in ${keyOf(1_130)}`,
  `insert into unpaid_authorization values ('base-1140-0x00', 'base', 1140, '\\x00', 3)`,
]

test('what a node left out, made up or could not tell is mended, counted and certified', async () => {
  const database = await writtenAtHead(1_100, 1_299)
  for (const fault of faults) await database.pool.query(fault)
  expect(await run.difference(database)).not.toBe('')
  const { auditor, warned } = auditorOf(database)
  expect(await auditor.audit()).toBe(true)
  expect(await run.difference(database)).toBe('')
  const { missing, ...mended } = auditor.mended
  expect(missing).toBeGreaterThan(1)
  expect(mended).toEqual({ surplus: 1, changed: 1, unpaid: 1, contracts: 0 })
  expect(warned).toEqual([
    expect.stringMatching(/^the audit of blocks 1100 to 1299 of base: \d+ settlements were missing/),
  ])
  const { rows } = await database.pool.query(
    `select from_block, to_block, missing, surplus, changed, unpaid, settlements::int
              = (select count(*) from settlement where block_number between 1100 and 1299) as counted
       from audit_certificate`,
  )
  const { contracts: _, ...ofSettlements } = mended
  expect(rows).toEqual([{ from_block: 1100, to_block: 1299, missing, ...ofSettlements, counted: true }])
  expect(await auditor.audit()).toBe(false)
  expect(auditor.blocksToGo).toBe(0)
})

test('rows that are right are certified and left alone, and what is not final waits', async () => {
  const database = await writtenAtHead(1_500, 1_599)
  await database.pool.query('update chain_state set finalized_block = 1549')
  const { auditor, warned } = auditorOf(database)
  expect(await auditor.audit()).toBe(true)
  expect(await auditor.audit()).toBe(false)
  expect(warned).toEqual([])
  expect(auditor.blocksToGo).toBe(50)
  expect(auditor.mended).toEqual({ missing: 0, surplus: 0, changed: 0, unpaid: 0, contracts: 0 })
  const { rows } = await database.pool.query('select from_block, to_block from audit_certificate')
  expect(rows).toEqual([{ from_block: 1500, to_block: 1549 }])
})

test('between two audits there is a pause, however much waits', async () => {
  const database = await writtenAtHead(1_100, 1_199)
  await database.pool.query(
    `insert into head_range (chain, from_block, to_block, next_block) values ('base', 1300, 1399, 1300)`,
  )
  const pauseMs = 2_000
  const { auditor } = auditorOf(database, { pauseMs })
  auditor.start()
  const audited = async () =>
    (await database.pool.query('select audited_at as at from audit_certificate order by 1')).rows
  await until('both are audited', async () => (await audited()).length === 2)
  const [first, second] = await audited()
  expect(second.at.getTime() - first.at.getTime()).toBeGreaterThan(pauseMs - 100)
})

test('blocks of a backfill are left alone, and not looked at while it loads', async () => {
  const database = await writtenAtHead(1_100, 1_199)
  await database.pool.query('delete from settlement where block_number = 1150')
  await database.pool.query(`insert into backfill (chain, from_block, to_block) values ('base', 1150, 1160)`)
  const { auditor } = auditorOf(database)
  expect(await auditor.audit()).toBe(false)
  await database.pool.query('update backfill set completed_at = now()')
  const count = async () => (await database.pool.query('select count(*)::int as rows from settlement')).rows
  const before = await count()
  await expect(auditor.audit()).rejects.toThrow(/blocks 1100 to 1199 still differ from/)
  expect(await count()).toEqual(before)
})

test.for(['all', 'verified'] as const)(
  'counts within a loaded backfill stay when others of the range are mended, with %s settlements kept',
  async (scope) => {
    const portal = await startPortal({ datasets: { 'base-mainnet': withUnpaid([1_155, 1_190]) } })
    onTestFinished(() => portal.stop())
    const database = await run.database()
    const { url, pool } = database
    const args = ['--chain', 'base', '--from', 1_150, '--to', 1_160, '--workers', 1]
    expect((await run.load(database, args, { portal: portal.url })).code).toBe(0)
    const { chainSettings } = run.options(database, [], { portal: portal.url })
    const processor = await spawnProcessor({ chain: 'base', databaseUrl: url, chainSettings })
    await processor.untilIndexed(chain.lastBlock)
    await processor.stop()
    await pool.query(
      `insert into head_range (chain, from_block, to_block, next_block) values ('base', 1100, 1199, 1100)`,
    )
    const counts = async () =>
      (await pool.query('select block_number, count from unpaid_authorization order by block_number')).rows
    const whole = [1_155, 1_190].map((block_number) => ({ block_number, count: 1 }))
    expect(await counts()).toEqual(whole)
    await pool.query('delete from unpaid_authorization where block_number = 1190')
    const { auditor } = auditorOf(database, { scope, portal: portal.url })
    expect(await auditor.audit()).toBe(true)
    expect(await counts()).toEqual(whole)
    expect(auditor.mended).toEqual({ missing: 0, surplus: 0, changed: 0, unpaid: 1, contracts: 0 })
  },
)

/** The chain, where the first authorization of some blocks moves no money. */
function withUnpaid(numbers: readonly number[]): BlockSource {
  return {
    ...chain.source,
    async *blocks(from, to) {
      for await (const block of chain.source.blocks(from, to)) {
        const moved = block.logs.findIndex(({ address, data }) => address === chain.token && data !== '0x')
        const isUnpaid = numbers.includes(block.header.number)
        yield isUnpaid ? { ...block, logs: block.logs.filter((_, at) => at !== moved) } : block
      }
    },
  }
}

test('a source that fails mends nothing and is asked again later', async () => {
  const database = await writtenAtHead(1_100, 1_199)
  await database.pool.query('delete from settlement where block_number = 1150')
  const { auditor } = auditorOf(database)
  run.portal.faults.add({ kind: 'cut', lines: 30, how: 'end' })
  run.portal.faults.add({ kind: 'status', status: 529, retryAfterSeconds: 0 })
  expect(await auditor.audit()).toBe(true)
  expect(await run.difference(database)).toBe('')
})
