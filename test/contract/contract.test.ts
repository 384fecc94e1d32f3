import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlDocument } from '../../db/contract/document.ts'
import { samples, subjects } from '../../db/contract/questions.ts'
import {
  type ContractFunction,
  type ContractView,
  contractOf,
  directoryComment,
  directoryFunctions,
  directoryViews,
  lostFrom,
  readOf,
} from '../../db/contract/views.ts'
import { usualRights } from '../../db/reader/login.ts'
import { testDatabase } from '../support/database.ts'
import { root } from '../support/source-files.ts'

const database = testDatabase()
let views: ContractView[]
let functions: ContractFunction[]
let reader: pg.Client
beforeAll(async () => {
  views = await directoryViews(database.pool)
  functions = await directoryFunctions(database.pool)
  await database.pool.query(`alter role directory_reader password 'reader'`)
  const url = new URL(database.url)
  url.username = 'directory_reader'
  url.password = 'reader'
  reader = new pg.Client({ connectionString: url.href })
  await reader.connect()
})
afterAll(() => reader?.end())

const recorded = async (path: string) => readFile(new URL(path, `file://${root}/`), 'utf8')

test('the views are those on record: a new column is written down by npm run docs:sql, an old one stays', async () => {
  expect(contractOf(views, functions)).toEqual(JSON.parse(await recorded('db/contract/directory.json')))
})

test('a column that is gone, moved or of another type is named', () => {
  const before = { agents: ['fid bigint', 'handle text'], chains: ['chain text'] }
  expect(lostFrom(before, { agents: ['fid bigint', 'handle text', 'more text'], chains: ['chain text'] })).toEqual([])
  expect(lostFrom(before, { agents: ['fid bigint', 'more text', 'handle text'] })).toEqual([
    'agents: handle text',
    'view chains',
  ])
  expect(lostFrom({ 'then(at date)': ['fid bigint'] }, {})).toEqual(['function then(at date)'])
  expect(lostFrom(before, { agents: ['fid numeric', 'handle text'], chains: ['chain text'] })).toEqual([
    'agents: fid bigint',
  ])
})

test('every view, function and column says what it means', () => {
  expect(functions.filter(({ comment }) => !comment)).toEqual([])
  const silent = views.flatMap((view) => [
    ...(view.comment ? [] : [view.name]),
    ...view.columns.filter(({ comment }) => !comment).map(({ name }) => `${view.name}.${name}`),
  ])
  expect(views.length).toBeGreaterThanOrEqual(12)
  expect(silent).toEqual([])
})

test('addresses and hashes are text, dollars are exact', () => {
  const columns = views.flatMap((view) => view.columns)
  const hex = columns.filter(({ name }) =>
    /(_address|_tx|tx_hash|_sha256|payment_nonce|selector)$|^address$/.test(name),
  )
  expect(new Set(hex.map(({ type }) => type))).toEqual(new Set(['text']))
  expect(new Set(columns.filter(({ name }) => name === 'amount_usdc').map(({ type }) => type))).toEqual(
    new Set(['numeric']),
  )
})

test('the document is the one the comments make', async () => {
  const reads = JSON.parse(await recorded('db/contract/reads.json'))
  const comment = await directoryComment(database.pool)
  expect(sqlDocument({ comment, views, functions, subjects, reads })).toBe(await recorded('docs/sql.md'))
})

test('every view and every function has a question, and every question says what it costs', async () => {
  const asked = new Set(samples.flatMap(({ sql }) => [...sql.matchAll(/\bdirectory\.(\w+)/g)].map(([, name]) => name)))
  const names = [...views.map(({ name }) => name), ...functions.map(({ call }) => call.replace(/\(.*/, ''))]
  expect([...asked].sort()).toEqual(names.sort())
  const { reads } = JSON.parse(await recorded('db/contract/reads.json'))
  expect(Object.keys(reads).sort()).toEqual(samples.map(({ question }) => question).sort())
  const slow = Object.entries<{ milliseconds: number }>(reads).filter(
    ([, { milliseconds }]) => milliseconds >= usualRights.seconds * 1_000,
  )
  expect(slow).toEqual([]) // a reader's own limit would end these
})

test('what a question reads are the rows of tables, those that a filter leaves out included', async () => {
  await database.pool.query('create table thousand as select n from generate_series(1, 1000) n')
  const { rowsRead, milliseconds } = await readOf(database.pool, 'select count(*) from thousand where n < 3')
  expect({ rowsRead, milliseconds }).toEqual({ rowsRead: 1_000, milliseconds: expect.any(Number) })
})

test.for(samples)('the reader may ask: $question', async ({ sql }) => {
  await expect(reader.query(sql)).resolves.toBeDefined()
})

test('the reader reaches no table, no proof and no other schema', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v')`,
  )
  expect(rows.map(({ name }) => name)).toContain('claim')
  for (const { name } of rows) {
    await expect(reader.query(`select from public.${name} limit 1`), name).rejects.toThrow('permission denied')
  }
})

test('the reader writes nothing, even in a transaction that it says may', async () => {
  await expect(reader.query('create temp table mine (n int)')).rejects.toThrow('read-only')
  await reader.query('set default_transaction_read_only = off')
  await expect(reader.query('delete from directory.claims')).rejects.toThrow('permission denied')
  await expect(reader.query('create table directory.mine (n int)')).rejects.toThrow('permission denied')
  await expect(reader.query('create table public.mine (n int)')).rejects.toThrow('permission denied')
})

test('the reader has ten seconds a statement and twenty connections', async () => {
  expect((await reader.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '10s' }])
  const { rows } = await reader.query(`select rolconnlimit from pg_roles where rolname = 'directory_reader'`)
  expect(rows).toEqual([{ rolconnlimit: 20 }])
})
