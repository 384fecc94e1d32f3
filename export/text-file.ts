import { open } from 'node:fs/promises'
import type { ExportRow } from '../db/queries/read/exports.ts'
import type { PartFile } from './part-file.ts'

/** Opens a text file that begins with `head` and has what `lineOf` makes of each row. */
export async function openTextFile(path: string, head: string, lineOf: (row: ExportRow) => string): Promise<PartFile> {
  const file = await open(path, 'w')
  await file.writeFile(head)
  return {
    write: (rows) => file.writeFile(rows.map(lineOf).join('')),
    finish: () => file.close(),
  }
}
