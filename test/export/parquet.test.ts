import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet'
import { expect, test } from 'vitest'
import { readRows } from '../../export/served/batches.ts'
import { openColumns, openServedParquet } from '../../export/served/parquet.ts'
import { exportFolder } from '../support/exports.ts'

const columns = [
  { name: 'word', type: 'text' },
  { name: 'long', type: 'text' },
  { name: 'tx_hash', type: 'text' },
  { name: 'list', type: 'text[]' },
  { name: 'flag', type: 'boolean' },
  { name: 'small', type: 'integer' },
  { name: 'large', type: 'bigint' },
  { name: 'amount_usdc', type: 'numeric' },
  { name: 'happened_at', type: 'timestamp with time zone' },
  { name: 'payer_address', type: 'text', isHex: true },
  { name: 'payment_nonce', type: 'text', isHex: true },
] as const
/** SQL expression for each column, in which what DuckDB reads is compared with what was written. */
const asked = columns.map(({ name }) => {
  if (name === 'happened_at') return 'epoch_us(happened_at)::varchar'
  return name === 'list' ? 'to_json(list)::varchar' : name === 'flag' || name === 'word' ? name : `${name}::varchar`
})
/** Microseconds from 1970 to 2000, the epoch of timestamps in Postgres. */
const epoch = 946_684_800_000_000n

const said = (text: string) => Buffer.from(text)
const long64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}
const long32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
/** An array in binary: dimensions, flags, type of members, length and lowest index of the only dimension, members. */
const listed = (list: (string | null)[]) =>
  Buffer.concat([
    ...[list.length > 0 ? 1 : 0, 1, 25, ...(list.length > 0 ? [list.length, 1] : [])].map(long32),
    ...list.flatMap((member) => (member === null ? [long32(-1)] : [long32(said(member).length), said(member)])),
  ])
const dollars = (micros: bigint) => {
  const digits = String(micros < 0n ? -micros : micros).padStart(7, '0')
  return `${micros < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`
}

const hex = (bytes: Buffer) => `0x${bytes.toString('hex')}`

const text = fc.string({ unit: 'grapheme', maxLength: 90 })
const word = fc.oneof({ weight: 5, arbitrary: fc.constantFrom('', 'base', 'celo', '0x1', 'ñandú 🦑') }, text)
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const time = fc.bigInt({ min: -epoch, max: 10n ** 15n }) // from 1970 on
const amount = fc.bigInt({ min: 1n - 10n ** 18n, max: 10n ** 18n - 1n })
const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 5, nil: null })
const digest = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
const address = fc.oneof(fc.constantFrom(Buffer.alloc(20), Buffer.alloc(20, 0xa7)), digest)
const row = fc.tuple(
  ...([
    word,
    text,
    text,
    fc.array(fc.option(text, { freq: 5, nil: null }), { maxLength: 3 }),
    fc.boolean(),
    int32,
    int64,
    amount,
    time,
    address,
    digest,
  ].map((one) => nullable<unknown>(one)) as fc.Arbitrary<unknown>[]),
)

/** For each column, a value in the binary format in which Postgres sends it. */
const sent = [
  said,
  said,
  said,
  listed,
  (flag: boolean) => Buffer.of(flag ? 1 : 0),
  long32,
  long64,
  long64,
  long64,
  (bytes: Buffer) => bytes,
  (bytes: Buffer) => bytes,
] as ((value: never) => Buffer)[]
/** For each column, a value as the expression in `asked` shows it. */
const shown = [
  String,
  String,
  String,
  (list: string[]) => JSON.stringify(list),
  (flag: boolean) => flag,
  String,
  String,
  dollars,
  (at: bigint) => String(at + epoch),
  hex,
  hex,
] as ((value: never) => unknown)[]

function copyOf(rows: readonly unknown[][]): Buffer {
  const pieces: Buffer[] = [Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')]
  for (const values of rows) {
    pieces.push(long32(columns.length).subarray(2))
    for (const [at, value] of values.entries()) {
      const bytes = value === null ? undefined : sent[at]?.(value as never)
      pieces.push(...(bytes ? [long32(bytes.length), bytes] : [long32(-1)]))
    }
  }
  return Buffer.concat([...pieces, Buffer.of(0xff, 0xff)])
}

async function* cut(whole: Buffer, pieceBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < whole.length; at += pieceBytes) yield whole.subarray(at, at + pieceBytes)
}

test('whatever a COPY brings, in whatever pieces, DuckDB reads from the file', async () => {
  const folder = await exportFolder()
  const duck = await (await DuckDBInstance.create()).connect()
  const served = openColumns(columns) // of one file after the other
  let files = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 25 }),
      fc.integer({ min: 1, max: 6_000 }),
      async (rows, groupRows, pieceBytes) => {
        const path = join(folder, `${files++}.parquet`)
        const file = openServedParquet(path, served)
        const groups: number[] = []
        const most = { rows: groupRows, bytes: 1_000_000 }
        for await (const count of readRows(cut(copyOf(rows), pieceBytes), served.rows, most)) {
          groups.push(count)
          await file.write(count)
        }
        await file.finish()
        expect(groups.reduce((sum, count) => sum + count, 0)).toBe(rows.length)
        const reader = await duck.runAndReadAll(`select ${asked.join(', ')} from read_parquet('${path}')`)
        expect(reader.getRowsJson()).toEqual(
          rows.map((values) => values.map((value, at) => (value === null ? null : shown[at]?.(value as never)))),
        )
        const { row_groups: written } = await parquetMetadataAsync(await asyncBufferFromFile(path))
        expect(written.map(({ num_rows: count }) => Number(count))).toEqual(groups)
        expect(boundsOf(written[0]?.columns[5])).toEqual(leastAndGreatest(rows.slice(0, groups[0]), 5))
        expect(boundsOf(written[0]?.columns[6])).toEqual(leastAndGreatest(rows.slice(0, groups[0]), 6))
      },
    ),
    { numRuns: 25 },
  )
  duck.closeSync()
})

const boundsOf = (chunk: { meta_data?: { statistics?: { min_value?: unknown; max_value?: unknown } } } | undefined) => {
  const { min_value: least, max_value: greatest } = chunk?.meta_data?.statistics ?? {}
  return [least, greatest]
}

function leastAndGreatest(rows: readonly unknown[][], at: number): unknown[] {
  const values = rows.map((values) => values[at]).filter((value) => value !== null) as bigint[]
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return [sorted[0], sorted.at(-1)]
}

const hash = (n: number) => createHash('sha256').update(String(n)).digest()

test('a text of few values is a dictionary; a COPY that ends in its middle is none', async () => {
  const path = join(await exportFolder(), 'one.parquet')
  const served = openColumns(columns)
  const file = openServedParquet(path, served)
  const rows = Array.from({ length: 500 }, (_, n) => [
    'base',
    `${n}`,
    `${n}`,
    null,
    true,
    n,
    1n,
    1n,
    1n,
    hash(n % 3),
    hash(n),
  ])
  const most = { rows: 50_000, bytes: 15_000 }
  const groups: number[] = []
  for await (const count of readRows(cut(copyOf(rows), 100_000), served.rows, most)) {
    groups.push(count)
    await file.write(count)
  }
  await file.finish()
  expect([groups.length > 1, groups.reduce((sum, count) => sum + count, 0)]).toEqual([true, 500]) // split by bytes
  const { row_groups: written } = await parquetMetadataAsync(await asyncBufferFromFile(path))
  const encodings = written[0]?.columns.map(({ meta_data: meta }) => meta?.encodings.at(-1))
  expect(encodings?.slice(0, 3)).toEqual(['RLE_DICTIONARY', 'PLAIN', 'PLAIN'])
  expect(encodings?.slice(-2)).toEqual(['RLE_DICTIONARY', 'PLAIN'])
  const broken = readRows(cut(copyOf(rows).subarray(0, -2), 1_000), served.rows, most)
  await expect(drained(broken)).rejects.toThrow('the COPY ended in its middle')
  const other = readRows(cut(said('x'.repeat(99)), 7), [], most)
  await expect(drained(other)).rejects.toThrow('no binary COPY')
})

async function drained(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows);
}
