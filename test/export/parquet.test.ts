import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet'
import { to as copyTo } from 'pg-copy-streams'
import { expect, test } from 'vitest'
import { copyServed } from '../../db/queries/exports/served-rows.ts'
import { writeParquet } from '../../export/parquet.ts'
import { csvFields } from '../../export/text-file.ts'
import { testDatabase } from '../support/database.ts'
import { exportFolder } from '../support/exports.ts'

const database = testDatabase()
const columns = [
  { name: 'n', type: 'integer' },
  { name: 'word', type: 'text' },
  { name: 'a "name"', type: 'text' },
  { name: 'list', type: 'text[]' },
  { name: 'flag', type: 'boolean' },
  { name: 'large', type: 'bigint' },
  { name: 'huge', type: 'numeric(78,0)' },
  { name: 'amount_usdc', type: 'numeric' },
  { name: 'block_timestamp', type: 'timestamp with time zone' },
  { name: 'payer_address', type: 'text', isHex: true },
] as const
const types = [
  'integer',
  'text',
  'text',
  'text[]',
  'boolean',
  'bigint',
  'numeric(78,0)',
  'numeric',
  'timestamptz',
  'bytea',
]
/** SQL expression for each column, in which what DuckDB reads is compared with what was written. */
const asked = columns.map(({ name }) => {
  if (name === 'block_timestamp') return 'epoch_us(block_timestamp)::varchar'
  return name === 'list'
    ? 'to_json(list)::varchar'
    : name === 'flag'
      ? name
      : `"${name.replaceAll('"', '""')}"::varchar`
})

/** What strangers write, without the zero that Postgres has no place for. */
const text = fc.string({ unit: 'grapheme', maxLength: 90 }).map((value) => value.replaceAll('\0', ''))
const hard = fc.constantFrom(
  '',
  '""',
  '"',
  ',',
  '\n',
  '\r\n',
  ' ',
  '\\N',
  '\\.',
  'null',
  '=1+1',
  '0x',
  'ñandú 🦑',
  '#',
  "'",
)
const word = fc.oneof(hard, text)
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)
const micros = fc.bigInt({ min: 0n, max: 4n * 10n ** 15n })
const isoOf = (at: bigint) =>
  `${new Date(Number(at / 1_000_000n) * 1000).toISOString().slice(0, 19)}.${String(at % 1_000_000n).padStart(6, '0')}Z`
const dollars = (amount: bigint) => {
  const digits = String(amount < 0n ? -amount : amount).padStart(7, '0')
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`
}
const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 5, nil: null })
const hex = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
const row = fc.tuple(
  nullable(word),
  nullable(text),
  nullable(fc.array(nullable(word), { maxLength: 3 })),
  nullable(fc.boolean()),
  nullable(int64),
  nullable(fc.bigInt({ min: 0n, max: 10n ** 78n - 1n }).map(String)),
  nullable(fc.bigInt({ min: 1n - 10n ** 18n, max: 10n ** 18n - 1n })),
  nullable(micros),
  nullable(hex),
)

test('whatever Postgres or an export writes, DuckDB reads from the file', async () => {
  const folder = await exportFolder()
  const { pool } = database
  const names = columns.map(({ name }, at) => `"${name.replaceAll('"', '""')}" ${types[at]}`)
  await pool.query(`create table served_row (${names.join(', ')})`)
  const duck = await (await DuckDBInstance.create()).connect()
  let files = 0
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 60 }), fc.integer({ min: 1, max: 6_000 }), async (rows, pieceBytes) => {
      await pool.query('truncate served_row')
      const stored = rows.map(([one, two, list, flag, large, huge, amount, at, bytes], n) => {
        const usdc = amount === null ? null : dollars(amount)
        return [n, one, two, list, flag, large, huge, usdc, at === null ? null : isoOf(at), bytes]
      })
      for (const values of stored)
        await pool.query(`insert into served_row values ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)`, values)
      const shown = stored.map(([n, one, two, list, flag, large, huge, usdc, , bytes], index) => [
        String(n),
        one,
        two,
        list === null ? null : JSON.stringify(list),
        flag,
        large,
        huge,
        usdc,
        rows[index]?.[7]?.toString() ?? null,
        bytes === null ? null : `0x${(bytes as Buffer).toString('hex')}`,
      ])
      const read = async (path: string) => {
        const reader = await duck.runAndReadAll(`select ${asked.join(', ')} from read_parquet('${path}')`)
        return reader.getRowsJson()
      }
      const client = await pool.connect()
      const copied = join(folder, `${files++}.parquet`)
      const sql = copyServed({ view: { from: 'served_row', columns }, order: 'n' })
      await writeParquet(cut(client.query(copyTo(sql)), pieceBytes), columns, { path: copied, rowsPerGroup: 2_048 })
      client.release()
      expect(await read(copied)).toEqual(shown)
      const exported = join(folder, `${files++}.parquet`)
      const texts = columns.map((column) => ({ ...column, isHex: false }))
      const lines = stored.map((values, at) => {
        const cells = values.map((value) => (value === null || typeof value === 'string' ? value : String(value)))
        const [, , , list, flag] = values
        cells[3] = list === null ? null : JSON.stringify(list)
        cells[4] = flag === null ? null : flag ? 't' : 'f'
        cells[9] = shown[at]?.[9] as string | null
        return Buffer.from(`${csvFields(texts, cells as (string | null)[])}\n`)
      })
      await writeParquet(cut(lines, pieceBytes), texts, { path: exported, rowsPerGroup: 2_048 })
      expect(await read(exported)).toEqual(shown)
    }),
    { numRuns: 25 },
  )
  duck.closeSync()
})

async function* cut(pieces: Iterable<Buffer> | AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  for await (const piece of pieces) for (let at = 0; at < piece.length; at += most) yield piece.subarray(at, at + most)
}

test('dollars of many payments have room for more than any supply, those of one payment take eight bytes', async () => {
  const folder = await exportFolder()
  const duck = await (await DuckDBInstance.create()).connect()
  const ofOne = { name: 'tx_hash', type: 'text' } as const
  const amount = columns[7]
  for (const [name, of, line, shown] of [
    ['sum', [amount], '1000000000000.0000019', ['1000000000000.000001', 'DECIMAL(38,6)']],
    ['payment', [ofOne, amount], '0x1,999999999999.999999', ['999999999999.999999', 'DECIMAL(18,6)']],
  ] as const) {
    const path = join(folder, name)
    await writeParquet(cut([Buffer.from(`${line}\n`)], 100), of, { path, rowsPerGroup: 2_048 })
    const reader = await duck.runAndReadAll(
      `select amount_usdc::varchar, typeof(amount_usdc) from read_parquet('${path}')`,
    )
    expect(reader.getRowsJson()).toEqual([shown])
  }
  duck.closeSync()
})

const wide = columns.slice(0, 2)

test('files are divided at row groups, with rows and block times; no rows are a file with columns', async () => {
  const folder = await exportFolder()
  const target = { path: join(folder, 'many'), rowsPerGroup: 2_048, groupsPerFile: 2 }
  const timed = [columns[0], columns[8]]
  const lines = Array.from({ length: 5_000 }, (_, n) => Buffer.from(`${n},${isoOf(BigInt(n) * 1_000_000n + 5n)}\n`))
  const files = await writeParquet(cut(lines, 100_000), timed, target)
  expect(files.map(({ rows }) => rows)).toEqual([4_096, 904])
  expect(files.map(({ min_time }) => min_time)).toEqual(['1970-01-01T00:00:00.000Z', '1970-01-01T01:08:16.000Z'])
  expect(files[1]?.max_time).toBe('1970-01-01T01:23:19.000Z')
  const { row_groups: groups } = await parquetMetadataAsync(await asyncBufferFromFile(files[0]?.path ?? ''))
  expect(groups.map(({ num_rows: count }) => Number(count))).toEqual([2_048, 2_048])
  expect(groups[1]?.columns[0]?.meta_data?.statistics).toMatchObject({ min_value: 2_048, max_value: 4_095 })
  const [none] = await writeParquet(cut([], 1), wide, { ...target, path: join(folder, 'none') })
  expect(none).toEqual({ path: join(folder, 'none/data_0.parquet'), rows: 0 })
  const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(none?.path ?? ''))
  expect(schema.slice(1).map(({ name }) => name)).toEqual(['n', 'word'])
  expect(readdirSync(folder).sort()).toEqual(['many', 'none']) // no pipe is left
})

test('a source that fails, and a row that is no row, end the file with their own words', async () => {
  const folder = await exportFolder()
  const target = { path: join(folder, 'file'), rowsPerGroup: 2_048 }
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('1,a\n2,')
    throw new Error('the connection is lost')
  }
  await expect(writeParquet(broken(), wide, target)).rejects.toThrow('the connection is lost')
  const long = Array.from({ length: 10_000 }, () => Buffer.from('x,a\n'))
  await expect(writeParquet(cut(long, 9_000), wide, target)).rejects.toThrow(
    /Could not convert string "x" to 'INTEGER'/,
  )
  await expect(writeParquet(cut(long, 9_000), wide, { ...target, path: join(folder, 'no/file') })).rejects.toThrow()
})
