import type { ExportColumn } from '../db/queries/read/exports.ts'
import { openCsv } from './csv.ts'
import { openNdjson } from './ndjson.ts'
import { openParquet } from './parquet.ts'
import type { PartFile } from './part-file.ts'
import type { FormatName } from './request.ts'

/** Opens a file of each format at a path, replacing any file there. */
export const openPart: Record<FormatName, (path: string, columns: readonly ExportColumn[]) => Promise<PartFile>> = {
  ndjson: openNdjson,
  csv: openCsv,
  parquet: openParquet,
}
