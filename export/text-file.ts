import { open } from 'node:fs/promises'
import type { ExportColumn, ExportRow } from '../db/queries/exports/exports.ts'
import type { PartFile } from './part-file.ts'

/** Opens a text file that begins with `head` and has what `lineOf` makes of each row. */
async function openTextFile(path: string, head: string, lineOf: (row: ExportRow) => string): Promise<PartFile> {
  const file = await open(path, 'w')
  await file.writeFile(head)
  return {
    write: (rows) => file.writeFile(rows.map(lineOf).join('')),
    finish: () => file.close(),
  }
}

/**
 * Opens a file with one JSON object per line. Numbers have all their digits, even beyond 64 bits; reading them exactly
 * needs a parser that keeps them.
 *
 * Source: RFC 8259, which bounds no number.
 */
export function openNdjson(path: string, columns: readonly ExportColumn[]): Promise<PartFile> {
  const names = columns.map(({ name }) => JSON.stringify(name))
  const lineOf = (row: ExportRow) => {
    const members = columns.map(({ type }, at) => `${names[at]}:${jsonOf(type, row[at] ?? null)}`)
    return `{${members.join(',')}}\n`
  }
  return openTextFile(path, '', lineOf)
}

function jsonOf(type: ExportColumn['type'], value: string | null): string {
  if (value === null) return 'null'
  switch (type) {
    case 'boolean':
      return value === 't' ? 'true' : 'false'
    case 'text':
    case 'timestamp with time zone':
      return JSON.stringify(value)
    default:
      return value // digits, or JSON already
  }
}

/**
 * Opens a CSV file, whose first line names the columns. Null is an empty field, an empty text `""`; arrays are JSON.
 *
 * Text that a spreadsheet would take for a formula stays as it is, since a file of data must not change it, and is
 * quoted: quotes do not stop every spreadsheet, so such files are imported with these columns as text.
 *
 * Source: RFC 4180.
 */
export function openCsv(path: string, columns: readonly ExportColumn[]): Promise<PartFile> {
  const lineOf = (row: ExportRow) => `${csvFields(columns, row)}\r\n`
  return openTextFile(path, `${columns.map(({ name }) => name).join(',')}\r\n`, lineOf)
}

/** The fields of a row, without the end of the line. */
export const csvFields = (columns: readonly ExportColumn[], row: ExportRow): string =>
  columns.map(({ type }, at) => fieldOf(type, row[at] ?? null)).join(',')

/** Texts to quote: empty, with a separator or quote, with outer blanks, or beginning as a formula does. */
const toBeQuoted = /^$|[",\r\n]|^[=+\-@\t ]|[\t ]$/

function fieldOf(type: ExportColumn['type'], value: string | null): string {
  if (value === null) return ''
  if (type === 'boolean') return value === 't' ? 'true' : 'false'
  return toBeQuoted.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}
