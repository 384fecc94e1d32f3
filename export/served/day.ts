import type pg from 'pg'
import { inTransaction } from '../../db/pool.ts'
import type { BlockRange } from '../../db/queries/mirror/served-days.ts'
import { servedView } from '../../db/queries/mirror/served-rows.ts'
import { beginSnapshot, type ExportColumn, snapshotTime } from '../../db/queries/read/exports.ts'
import type { Pace } from './pace.ts'
import { openColumns, type ServedColumns } from './parquet.ts'
import { type Part, writeRows } from './parts.ts'

/** A day of facts of a chain that is to be written. */
export interface DayTask {
  readonly view: string
  readonly order: string
  readonly columns: readonly ExportColumn[]
  readonly of: BlockRange & { readonly chain: string }
  /** Of everything that is served. */
  readonly folder: string
  readonly partition: string
}

/** What became of it. */
export interface WrittenDay {
  /** Of the state of the database that its rows are of. */
  readonly snapshotAt: string
  readonly parts: readonly Part[]
}

/** Columns of days that were written: the next day finds their room made. At most as many as are written at once. */
const ready = new Map<string, ServedColumns[]>()

/** Writes a day as it is at one moment. */
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
