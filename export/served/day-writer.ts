import type pg from 'pg'
import type { BlockRange } from '../../db/block-range.ts'
import { inTransaction } from '../../db/pool.ts'
import { servedView } from '../../db/queries/mirror/served-rows.ts'
import { beginSnapshot, type ExportColumn, snapshotTime } from '../../db/queries/read/exports.ts'
import type { Pace } from './pace.ts'
import { openColumns, type ServedColumns } from './parquet.ts'
import { type Part, writeRows } from './parts.ts'

/** One day of a chain's facts that is to be written to files. */
export interface DayTask {
  readonly view: string
  readonly order: string
  readonly columns: readonly ExportColumn[]
  readonly of: BlockRange & { readonly chain: string }
  /** Root folder of all served files. */
  readonly folder: string
  readonly partition: string
}

/** The files written for a day; `parts` is empty for a day without rows. */
export interface WrittenDay {
  /** Time of the database snapshot that the rows come from, ISO. */
  readonly snapshotAt: string
  readonly parts: readonly Part[]
}

/** Pool of column buffers for reuse, by column list: at most as many as days are written at once. */
const ready = new Map<string, ServedColumns[]>()

/** Writes a day's files from one snapshot of the database. */
export async function writeDay(
  pool: pg.Pool,
  { view, order, columns, of, folder, partition }: DayTask,
  pace: Pace,
): Promise<WrittenDay> {
  return inTransaction(pool, async (client) => {
    await beginSnapshot(client)
    const snapshotAt = await snapshotTime(client)
    const rows = { view: await servedView(client, view, columns), order, of }
    const kind = JSON.stringify(rows.view.columns)
    const served = ready.get(kind)?.pop() ?? openColumns(rows.view.columns)
    const parts = await writeRows(client, rows, served, { folder, partition, pace })
    ready.set(kind, [...(ready.get(kind) ?? []), served])
    return { snapshotAt, parts }
  })
}
