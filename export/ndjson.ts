import type { ExportColumn, ExportRow } from '../db/queries/read/exports.ts'
import type { PartFile } from './part-file.ts'
import { openTextFile } from './text-file.ts'

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
