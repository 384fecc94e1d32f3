import type { ExportColumn, ExportRow } from '../db/queries/read/exports.ts'
import type { PartFile } from './part-file.ts'
import { openTextFile } from './text-file.ts'

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
