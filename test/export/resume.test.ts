import { once } from 'node:events'
import { existsSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { exportedRows, exportFolder, manifestOf } from '../support/exports.ts'
import { runMain, startMain } from '../support/mains.ts'
import { root } from '../support/source-files.ts'
import { until } from '../support/until.ts'

const database = testDatabase()
const resumed = 1_000

beforeAll(async () => {
  await database.pool.query(`
    insert into settlement (chain, block_number, log_index, block_timestamp, amount, selector_source, selector, token,
                            payer, recipient, facilitator, payment_nonce, tx_hash)
    select 'celo', n, n % 7, '2026-03-01'::timestamptz + n * interval '1 s',
           n, 'c', '\\xe3ee160e', address, address, address, address, hash, hash
      from generate_series(1, ${resumed}) n,
   lateral (select sha256(n::text::bytea) as hash) h, lateral (select substr(hash, 1, 20) as address) a`)
})

const argumentsOf = (folder: string, format = 'parquet') => [
  '--what',
  'settlements',
  '--format',
  format,
  '--out',
  folder,
  '--chain',
  'celo',
  '--part-rows',
  '10',
]
const runExport = (args: string[], env = {}) =>
  runMain('export/main.ts', args, { env: { DATABASE_URL: database.url, ...env } })

test('an export that was killed goes on behind its last whole file, and is then like one that was not', async () => {
  const folder = await exportFolder()
  const whole = await exportFolder()
  const child = startMain('export/main.ts', argumentsOf(folder), {
    env: { DATABASE_URL: database.url },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  await until('three files are whole', () => existsSync(join(folder, 'settlements-00003.parquet')))
  child.kill('SIGKILL')
  expect(await ended).toEqual([null, 'SIGKILL'])
  const before = manifestOf(folder)
  expect(before.complete).toBe(false)
  expect(before.parts.length).toBeGreaterThan(1)
  // Begun before columns were described, or when they were described in other words.
  const columns = before.columns.map(({ name, type }) => ({ name, type }))
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...before, columns }))

  expect(await runExport(argumentsOf(folder))).toMatchObject({ code: 0, stderr: '' })
  expect(await runExport(argumentsOf(whole))).toMatchObject({ code: 0, stderr: '' })
  const after = manifestOf(folder)
  const direct = manifestOf(whole)
  expect(after.parts.slice(0, before.parts.length)).toEqual(before.parts)
  expect(after.columns).toEqual(direct.columns)
  expect(after.columns.every(({ about }) => about.length > 0)).toBe(true)
  expect(after.snapshot_at).toBe(before.snapshot_at)
  expect(after.parts.at(-1)?.snapshot_at).not.toBe(before.snapshot_at)
  const contents = ({ parts }: typeof after) =>
    parts.map(({ file, rows, bytes, sha256 }) => ({ file, rows, bytes, sha256 }))
  expect(contents(after)).toEqual(contents(direct))
  expect(readdirSync(folder).sort()).toEqual(readdirSync(whole).sort())
  expect(await exportedRows(folder)).toHaveLength(resumed)
})

test('every file of settlements is of its own state of the database: none is held for hours', async () => {
  const settlements = await exportFolder()
  expect(await runExport(argumentsOf(settlements))).toMatchObject({ code: 0, stderr: '' })
  const { parts, rows, complete } = manifestOf(settlements)
  expect({ rows, complete }).toEqual({ rows: resumed, complete: true })
  expect(new Set(parts.map(({ snapshot_at }) => snapshot_at)).size).toBe(parts.length)
})

test('a folder takes one export: other arguments, other files and changed files are refused in one line', async () => {
  const folder = await exportFolder()
  const other = await exportFolder()
  const args = ['--what', 'agents', '--format', 'csv', '--out', folder]
  expect((await runExport(args)).code).toBe(0)
  expect((await runExport(args)).code).toBe(0)
  const refused = await runExport([...args, '--chain', 'base'])
  expect(refused.code).toBe(2)
  expect(refused.stderr).toMatch(/^[^\n]* holds an export made with --what agents --format csv [^\n]*\n$/)

  writeFileSync(join(other, 'notes.txt'), '')
  const occupied = await runExport(argumentsOf(other))
  expect(occupied.code).toBe(2)
  expect(occupied.stderr).toMatch(/^[^\n]* holds files but no export[^\n]*\n$/)
})

test('a whole file that was changed since is named', async () => {
  const folder = await exportFolder()
  const args = ['--what', 'settlements', '--format', 'csv', '--out', folder, '--chain', 'celo']
  await runExport(args)
  truncateSync(join(folder, 'settlements-00001.csv'), 5)
  const { code, stderr } = await runExport(args)
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^\S*settlements-00001\.csv is not as [^\n]*\n$/),
  })
})

test.for([
  [['--format', 'csv', '--out', 'x'], '--what must be one of agents, settlements, registrations, claims'],
  [['--what', 'agents', '--format', 'xml', '--out', 'x'], '--format must be one of ndjson, csv, parquet'],
  [['--what', 'agents', '--format', 'csv'], '--out must name the folder to write to'],
  [['--what', 'claims', '--format', 'csv', '--out', 'x', '--chain', 'base'], '--chain does not go with --what claims'],
  [['--what', 'agents', '--format', 'csv', '--out', 'x', '--chain', 'Base'], '--chain must be one of ethereum, base'],
  [['--what', 'agents', '--format', 'csv', '--out', 'x', '--since', 'yesterday'], '--since must be an ISO time'],
  [['--what', 'agents', '--format', 'csv', '--out', 'x', '--part-rows', '0'], '--part-rows must be a number from 1'],
] as const)('%s: one line, and exit code 2', async ([args, line]) => {
  const { code, stdout, stderr } = await runExport([...args])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^[^\n]+\n$/)
  expect(stderr).toContain(line)
  expect(existsSync(join(root, 'x'))).toBe(false)
})
