import type pg from 'pg'
import type { BlockRange } from '../../db/block-range.ts'
import { inTransaction } from '../../db/pool.ts'
import { beginSnapshot, type ExportColumn, snapshotTime } from '../../db/queries/exports/exports.ts'
import { servedView } from '../../db/queries/exports/served-rows.ts'
import type { Pace } from './pace.ts'
import { copiedLines, division, type Part, writeRows } from './parts.ts'

/** One day of a chain's facts that is to be written to files. */
interface DayTask {
  readonly view: string
  readonly order: string
  readonly columns: readonly ExportColumn[]
  readonly of: BlockRange & { readonly chain: string }
  /** Root folder of all served files. */
  readonly folder: string
  readonly partition: string
}

/** The files written for a day. */
interface WrittenDay {
  /** Time of the database snapshot that the rows come from, ISO. */
  readonly snapshotAt: string
  readonly parts: readonly Part[]
}

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
    const lines = copiedLines(client, rows, pace)
    const parts = await writeRows(lines, rows.view.columns, { folder, partition }, division.days)
    return { snapshotAt, parts }
  })
}
