import type { ExportColumn, ExportRow } from '../db/queries/read/exports.ts'
import type { PartFile } from './part-file.ts'
import { openTextFile } from './text-file.ts'

/**
 * One JSON object a line. Numbers are JSON numbers with all their digits, beyond 64 bits too: who needs them all reads
 * them with a parser that keeps them.
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
