import type { ExportRow } from '../db/queries/read/exports.ts'

/** A file being written; what it holds before `finish` is of no use. */
export interface PartFile {
  write(rows: readonly ExportRow[]): Promise<void>
  finish(): Promise<void>
}
