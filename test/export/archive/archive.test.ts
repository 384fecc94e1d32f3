import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../../db/pool.ts'
import { certifiedRanges } from '../../../db/queries/chain/audit.ts'
import { readArchiveRequest } from '../../../export/archive/request.ts'
import { runArchive } from '../../../export/archive/run.ts'
import { connectDuckDb } from '../../../export/duckdb.ts'
import { readRequest } from '../../../export/request.ts'
import { runExport } from '../../../export/run.ts'
import { reserveRange } from '../../../processors/backfill/reservation.ts'
import { tallyStored } from '../../../processors/backfill/verify.ts'
import { Freezer } from '../../../processors/freezer.ts'
import { resetAll } from '../../../processors/reset/reset.ts'
import { keepVerified } from '../../../processors/scope/scope.ts'
import { startApi } from '../../support/api/api.ts'
import type { OwnDatabase } from '../../support/database.ts'
import { exportedRows, exportFolder, manifestOf } from '../../support/exports.ts'
import { runMain } from '../../support/mains.ts'
import {
  archiveOf,
  archiveWorld,
  before,
  behind,
  chain,
  now,
  recountAll,
  serve,
  servedIn,
  settlementsOf,
  sumsOf,
  task,
  wallet,
} from './world.ts'

let database: OwnDatabase
beforeAll(async () => {
  database = await archiveWorld()
})
afterAll(() => database?.drop())

interface Answer {
  readonly available_since?: string
  readonly count: number
  readonly settlements: readonly { readonly block_timestamp: string }[]
  readonly chains: readonly { readonly chain: string; readonly ranges: readonly object[] }[]
}

/** Paths of the answers with counts, which archiving must not change. */
const counted = [
  '/api/stats',
  '/api/leaderboard?period=all',
  '/api/agent/1',
  '/api/agent/2',
  '/api/agent/1/income',
  '/api/agent/2/income',
  '/api/facilitators',
]
/** Agent 1's points by day, with payers and medians; the archived partitions end within the fourth day. */
const days = '/api/agent/1/timeseries?interval=day&since=2019-02-28T00:00:00Z&until=2019-03-05T00:00:00Z'
interface Points {
  readonly points: readonly { readonly unique_payers: number | null; readonly median_usdc: number | null }[]
}
const pointsOf = async () => {
  const [answer] = await told([days])
  return (answer?.[1] as Points | undefined)?.points ?? []
}
const told = async (paths: readonly string[]) => {
  const api = await startApi(database, { now: () => now.getTime() })
  try {
    return await Promise.all(
      paths.map(async (path) => [path, JSON.parse(await (await api.get(path)).text(), timeless)] as const),
    )
  } finally {
    await api.stop()
  }
}
const timeless = (name: string, value: unknown) => (['generated_at', 'lag_seconds'].includes(name) ? null : value)
const settlementFiles = async (folder: string) =>
  (await servedIn(folder)).files.filter(({ dataset }) => dataset === 'settlements')

test('what is not sealed is refused with what mends it, and a plan says so without changing anything', async () => {
  const { pool } = database
  const folder = await exportFolder()
  const tables = await settlementsOf(database)
  const refused = async (change: string, back: string) => {
    await pool.query(change)
    const lines: string[] = []
    await runArchive(
      archiveOf(database, folder, (line) => lines.push(line)),
      task('plan'),
    )
    const failure = await runArchive(archiveOf(database, folder), task('archive')).catch(({ message }) => message)
    await pool.query(back)
    expect(lines.join('\n')).toContain(String(failure).replace(/^.*is not sealed: /, ''))
    return failure
  }
  const behindBorder = `'base', 31000000, 31090000, 31000005`
  for (const [change, back, mends] of [
    [
      'update chain_state set finalized_block = 20000000',
      'update chain_state set finalized_block = 31900000',
      'npm run processor -- base',
    ],
    [
      `insert into head_range values ('base', 100, 200, 150)`,
      'delete from head_range',
      'blocks 150 to 200 are not audited',
    ],
    [
      // No hour of the next day is summed up, nor is the chain indexed six hours into it, to show it has none.
      `create table kept as select * from settlement_hour_total where hour >= '2019-03-01';
       delete from settlement_hour_total where hour >= '2019-03-01';
       update chain_state set indexed_at = '2019-03-01T05:59Z'`,
      `insert into settlement_hour_total select * from kept;
       drop table kept;
       update chain_state set indexed_at = '2019-09-01Z'`,
      '2019-03-01 has not begun in what is summed up',
    ],
    [
      `insert into due (kind, key) select 'income hours', '01:base:' || extract(epoch from date '2019-02-28')::bigint / 3600`,
      `delete from due where kind = 'income hours'`,
      'npm run enrichment',
    ],
    // Payments of contracts whose rows, from a place on, wait to be told.
    ...['funders', 'escrows', 'escrow hours'].map(
      (kind) =>
        [
          `insert into due (kind, key) select '${kind}', repeat('0', 80) || ':base:00:' || lpad('1', 20, '0')`,
          `delete from due where kind = '${kind}'`,
          'income of 1 hours or payments is not summed up yet',
        ] as const,
    ),
  ] as const) {
    expect(await refused(change, back)).toContain(mends)
  }
  await pool.query(`insert into head_range values (${behindBorder})`)
  const lines: string[] = []
  await runArchive(
    archiveOf(database, folder, (line) => lines.push(line)),
    task('plan'),
  )
  await pool.query('delete from head_range')
  expect(lines).toEqual([
    expect.stringMatching(/^settlement_base_0000, blocks 0 to 29999999: 3 rows, \d+ bytes; sealed, 0 certificates$/),
    // The rest of its last day is in the same file.
    expect.stringMatching(/^settlement_base_0030, .*: 36 rows, .*blocks 31000005 to 31000010 are not audited yet/),
    expect.stringMatching(/^2 partitions of base, 39 rows, \d+ bytes; nothing was changed$/),
  ])
  expect(await settlementsOf(database)).toEqual(tables)
  expect(() => readArchiveRequest({ chain: 'base', before: '2019-08-01' }, now)).toThrow('at least 90 days ago')
})

test('a table that is not as certified is refused', async () => {
  const { pool } = database
  const folder = await exportFolder()
  const tables = await settlementsOf(database)
  await pool.query(`update settlement set selector_source = 'i' where block_number = 30100000 and log_index = 0`)
  await expect(runArchive(archiveOf(database, folder), task('archive'))).rejects.toThrow(
    'blocks 30000000 to 30499999 do not match what the backfill certified',
  )
  await pool.query(`update settlement set selector_source = 'c' where block_number = 30100000 and log_index = 0`)
  // What is sealed before it went; it comes back.
  await runArchive(archiveOf(database, folder), task('restore'))
  expect(await settlementsOf(database)).toEqual(tables)
})

test('archived settlements leave the database and no count: answers, sums made again, files and certificates stay', async () => {
  const { pool } = database
  const folder = await exportFolder()
  const tables = await settlementsOf(database)
  const answers = await told(counted)
  const summed = await sumsOf(database)
  const points = await pointsOf()
  expect(points.map(({ unique_payers }) => unique_payers)).toEqual([1, 4, 4, 4, 4])
  await runArchive(archiveOf(database, folder), task('archive'))
  expect(await settlementsOf(database)).toEqual(tables.slice(-18))
  // Counts of archived days stay; their unique payers and medians can no longer be computed.
  const unknown = { unique_payers: null, median_usdc: null }
  expect(await pointsOf()).toEqual([
    ...points.slice(0, 4).map((point) => ({ ...point, ...unknown })),
    ...points.slice(4),
  ])
  const { rows } = await pool.query(
    `select to_regclass('settlement_base_0000') as old, to_regclass('settlement_base_0030') as gone`,
  )
  expect(rows).toEqual([{ old: null, gone: null }])

  expect(await told(counted)).toEqual(answers)
  expect(await sumsOf(database)).toEqual(summed)
  await recountAll(database)
  expect(await sumsOf(database)).toEqual(summed)
  expect(await told(counted)).toEqual(answers)

  const since = behind.toISOString()
  const ask = async (path: string) => (await told([path]))[0]?.[1] as Answer
  const list = await ask('/api/agent/1/settlements')
  const page = await ask('/api/agent/1/settlements?order=asc&limit=4')
  const all = await ask(`/api/settlements?recipient=${wallet}`)
  const income = await ask('/api/agent/2/income/payments')
  const celo = await ask('/api/agent/1/settlements?chain=celo')
  const coverage = await ask('/api/coverage')
  for (const one of [list, page, all, income]) expect(one.available_since).toBe(since)
  const early = new Date(behind.getTime() - 1).toISOString()
  for (const query of ['', `?since=${early}`]) {
    const refused = await ask(`/api/agent/2/income.csv${query}`)
    expect(refused).toMatchObject({ error: 'ERR_PAYLOAD_INVALID', fields: [{ path: 'since' }] })
  }
  // Nothing that it was paid is archived.
  const api = await startApi(database, { now: () => now.getTime() })
  const [header, ...payments] = (await (await api.get('/api/agent/3/income.csv')).text()).trimEnd().split('\r\n')
  await api.stop()
  expect([header, payments.length]).toEqual([expect.stringContaining('amount_usdc'), 1])
  expect(payments[0]).toContain(',permit2_exact,')
  expect(await ask('/api/agent/3/income/payments')).not.toHaveProperty('available_since')
  expect(celo).toEqual({ fid: 1, count: 0, settlements: [] })
  expect([list.count, page.settlements[0]?.block_timestamp, all.count, income.count]).toEqual([6, since, 6, 6])
  const states = coverage.chains.find((one) => one.chain === 'base')?.ranges ?? []
  const view = await pool.query(
    `select from_block::int, to_block::int, by, state from directory.coverage where chain = 'base' and state <> 'missing' order by 1`,
  )
  expect(states).toEqual(view.rows)
  expect(states.slice(1)).toEqual([
    { from_block: 30_000_000, to_block: 30_999_999, by: 'backfill', state: 'archived' },
    { from_block: 31_000_000, to_block: 31_200_000, by: 'backfill', state: 'loaded' },
    { from_block: 31_200_001, to_block: 31_990_000, by: 'processor', state: 'indexed' },
  ])
  expect(states[0]).toMatchObject({ to_block: 29_999_999, by: 'processor', state: 'archived' })

  const files = await settlementFiles(folder)
  await serve(database, folder)
  const rounded = await settlementFiles(folder)
  expect(rounded).toEqual(expect.arrayContaining(files))
  expect(rounded.map(({ partition }) => partition.day)).toEqual([
    ...new Set(rounded.map(({ partition }) => partition.day)),
  ])
  expect(rounded.reduce((sum, file) => sum + file.rows, 0)).toBe(tables.length)
  expect(files.length).toBe(4)

  for (const { firstBlock, lastBlock, settlements, amount, checksum } of await certifiedRanges(pool)) {
    const found = await inTransaction(pool, (db) => tallyStored(db, 'base', { firstBlock, lastBlock }))
    expect([found?.settlements, String(found?.amount), String(found?.checksum)]).toEqual([
      settlements,
      amount,
      checksum,
    ])
  }
  const back = /archived up to block 30999999.*npm run archive -- --chain base --restore/
  await expect(resetAll(pool, chain)).rejects.toThrow(back)
  await expect(reserveRange(pool, chain, { fromBlock: 100, toBlock: 200 }, 1)).rejects.toThrow(back)
  await expect(keepVerified(pool, chain, async () => 0)).rejects.toThrow(back)

  const lines: string[] = []
  await runArchive(
    archiveOf(database, folder, (line) => lines.push(line)),
    task('check'),
  )
  expect(lines).toEqual([
    'settlement_base_0000: 3 settlements are in the files, as archived',
    'settlement_base_0030: 36 settlements are in the files, as archived',
  ])
  for (let times = 0; times < 2; times++) await runArchive(archiveOf(database, folder), task('restore'))
  expect(await settlementsOf(database)).toEqual(tables)
  await recountAll(database)
  expect(await sumsOf(database)).toEqual(summed)
  const again = await ask('/api/agent/1/settlements')
  expect([again.count, again.available_since]).toEqual([19, undefined])
})

test('without the list of archived files, and with an older one, nothing is served again and no file is removed', async () => {
  const folder = await exportFolder()
  const list = join(folder, 'manifest.json')
  const partsIn = async () =>
    (await readdir(folder, { recursive: true })).filter((path) => path.includes('part-')).sort()
  await serve(database, folder, '2019-02-28')
  const older = await readFile(list, 'utf8')
  await runArchive(archiveOf(database, folder), task('archive'))
  await serve(database, folder)
  const whole = await readFile(list, 'utf8')
  const parts = await partsIn()
  const refused = async (what: string) => {
    await expect(serve(database, folder)).rejects.toThrow(
      `the settlements of base up to block 30999999 are archived, and ${what} are in the files listed in ${list}: bring EXPORT_DIR back`,
    )
    expect(await partsIn()).toEqual(parts)
  }
  await rm(list)
  await refused('0 instead of 3 of 2019-02-28')
  await expect(readFile(list)).rejects.toThrow('ENOENT')
  await writeFile(list, older)
  await refused('0 instead of 12 of 2019-03-01')
  expect(await readFile(list, 'utf8')).toBe(older)
  await writeFile(list, whole)
  expect(await serve(database, folder)).toBe(0)
  expect(await partsIn()).toEqual(parts)
  await runArchive(archiveOf(database, folder), task('check'))
  for (let times = 0; times < 2; times++) await runArchive(archiveOf(database, folder), task('restore'))
})

test('an export of settlements has archived ones too, read from the files, and goes on within them', async () => {
  const folder = await exportFolder()
  const empty = await exportFolder()
  const exported = async (
    of: { readonly since?: string; readonly chain?: string },
    given: { out?: string; served?: string; mostParts?: number } = {},
  ) => {
    const out = given.out ?? (await exportFolder())
    const { request } = readRequest({ what: 'settlements', format: 'ndjson', out, 'part-rows': '7', ...of })
    const places = { terms: {} as never, served: empty, ...given, folder: out }
    await inTransaction(database.pool, (db) => runExport(db, request, places, () => ({ update() {}, stop() {} })))
    return { out, rows: await exportedRows(out) }
  }
  const newer = { since: new Date(behind.getTime() - 31 * 3_600_000).toISOString() }
  const before = [await exported({}), await exported({ chain: 'base' }), await exported(newer)]
  await runArchive(archiveOf(database, folder), task('archive'))
  await expect(exported({})).rejects.toThrow(
    `0 instead of 3 of 2019-02-28 are in the files listed in ${empty}/manifest.json: EXPORT_DIR must name the folder`,
  )
  const served = { served: folder }
  const after = [await exported({}, served), await exported({ chain: 'base' }, served), await exported(newer, served)]
  expect(before.map(({ rows }) => rows.length)).toEqual([57, 57, 36])
  for (const [at, { rows }] of after.entries()) expect(rows).toEqual(before[at]?.rows)
  // Needs no files: it is all in the database.
  expect((await exported({ since: behind.toISOString() })).rows).toHaveLength(18)

  for (const whole of [2, 6]) {
    const { out, rows } = await exported({}, served)
    const manifest = manifestOf(out)
    const cut = { ...manifest, complete: false, rows: whole * 7, parts: manifest.parts.slice(0, whole) }
    await writeFile(join(out, 'manifest.json'), JSON.stringify(cut))
    expect((await exported({}, { out, ...served })).rows).toEqual(rows)
  }
  const engine = await connectDuckDb()
  const connections = async () => {
    const [row] = (await engine.runAndReadAll('select * from duckdb_connection_count()')).getRowObjectsJson()
    return Number(row?.count)
  }
  const others = await connections()
  expect((await exported({}, { mostParts: 1, ...served })).rows).toHaveLength(7)
  expect(await connections()).toBe(others) // nothing is left open behind a part that ended in the middle of a file
  engine.closeSync()
  for (let times = 0; times < 2; times++) await runArchive(archiveOf(database, folder), task('restore'))
  expect((await exported({})).rows).toEqual(before[0]?.rows)
})

test('the command plans, and says in a line what is wrong with its arguments', async () => {
  const env = { DATABASE_URL: database.url, EXPORT_DIR: await exportFolder() }
  const run = (...args: string[]) => runMain('export/archive/main.ts', args, { env })
  const { code, stdout, stderr } = await run('--chain', 'base', '--before', before, '--plan')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('2 partitions of base, 39 rows')
  const wrong = await run('--chain', 'base', '--before', 'yesterday')
  expect([wrong.code, wrong.stderr]).toEqual([2, '--before must be a day, as 2024-01-01\n'])
})

test('a partition that nobody writes any more is frozen, once', async () => {
  const log = { info: () => {}, warn: () => {} }
  const freezer = new Freezer({ databaseUrl: database.url, chain, log })
  expect([await freezer.freeze(), await freezer.freeze(), await freezer.freeze()]).toEqual([
    'settlement_base_0000',
    'settlement_base_0030',
    undefined,
  ])
  const { rows } = await database.pool.query(
    `select relname as name from pg_class where obj_description(oid, 'pg_class') = 'frozen' order by 1`,
  )
  expect(rows).toEqual([{ name: 'settlement_base_0000' }, { name: 'settlement_base_0030' }])
})
