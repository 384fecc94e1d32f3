import type { SchemaElement } from 'hyparquet'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import type { ExportColumn, ExportRow } from '../db/queries/read/exports.ts'
import type { PartFile } from './part-file.ts'

/**
 * Opens a Parquet file, with a row group per call of `write`. Integers, amounts in base units included, are int32 and
 * int64; the database's decimals are text; times are microseconds since 1970 in UTC; arrays are lists of text.
 *
 * Source: Parquet's logical types, whose lists have three levels.
 */
export async function openParquet(path: string, columns: readonly ExportColumn[]): Promise<PartFile> {
  const root: SchemaElement = { name: 'root', num_children: columns.length }
  const schema = [root, ...columns.flatMap(elementsOf)]
  const parquet = new ParquetWriter({ writer: fileWriter(path), schema })
  return {
    async write(rows: readonly ExportRow[]) {
      const columnData = columns.map(({ name, type }, at) => ({
        name,
        data: rows.map((row) => toValue(type, row[at] ?? null)),
      }))
      await parquet.write({ columnData, rowGroupSize: rows.length })
    },
    async finish() {
      await parquet.finish()
    },
  }
}

/** Schema of a column. Every column is optional, as views do not declare which are never null. */
function elementsOf({ name, type }: ExportColumn): SchemaElement[] {
  const column = { name, repetition_type: 'OPTIONAL' } as const
  switch (type) {
    case 'boolean':
      return [{ ...column, type: 'BOOLEAN' }]
    case 'integer':
      return [{ ...column, type: 'INT32' }]
    case 'bigint':
      return [{ ...column, type: 'INT64' }]
    case 'timestamp with time zone':
      return [{ ...column, type: 'INT64', converted_type: 'TIMESTAMP_MICROS' }]
    case 'text[]':
      return [
        { ...column, converted_type: 'LIST', num_children: 1 },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        { name: 'element', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
      ]
    default:
      return [{ ...column, type: 'BYTE_ARRAY', converted_type: 'UTF8' }]
  }
}

function toValue(type: ExportColumn['type'], value: string | null) {
  if (value === null) return null
  switch (type) {
    case 'boolean':
      return value === 't'
    case 'integer':
      return Number(value)
    case 'bigint':
      return BigInt(value)
    case 'timestamp with time zone':
      return microseconds(value)
    case 'text[]':
      return JSON.parse(value) as (string | null)[]
    default:
      return value
  }
}

/** Microseconds since 1970 of an ISO time with six decimals, of which a Date would keep three. */
function microseconds(time: string): bigint {
  const [seconds, fraction] = time.split('.') as [string, string]
  return BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction.slice(0, 6))
}
