import type { ExportColumn, ExportRow } from '../db/queries/read/exports.ts'
import { openCsv } from './csv.ts'
import { openNdjson } from './ndjson.ts'
import { openParquet } from './parquet.ts'
import type { FormatName } from './request.ts'

/** A file being written; what it holds before `finish` is of no use. */
export interface PartFile {
  write(rows: readonly ExportRow[]): Promise<void>
  finish(): Promise<void>
}

/** Begins a file, in place of one that is there. */
export const openPart: Record<FormatName, (path: string, columns: readonly ExportColumn[]) => Promise<PartFile>> = {
  ndjson: openNdjson,
  csv: openCsv,
  parquet: openParquet,
}
