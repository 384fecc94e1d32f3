import type pg from 'pg'
import { inTransaction } from '../../db/pool.ts'
import type { BlockRange } from '../../db/queries/mirror/served-days.ts'
import { beginSnapshot, type ExportColumn, snapshotTime } from '../../db/queries/read/exports.ts'
import { type Part, writeRows } from './files.ts'
import type { Pace } from './pace.ts'

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

/** Who writes days, some at once. */
export interface DayWriters {
  /** At most so many. */
  readonly atOnce: number
  write(task: DayTask, pace: Pace): Promise<WrittenDay>
  close(): Promise<void>
}

/** Writes a day as it is at one moment. */
export function writeDay(
  pool: pg.Pool,
  { view, order, columns, of, folder, partition }: DayTask,
  pace: Pace,
): Promise<WrittenDay> {
  return inTransaction(pool, async (client) => {
    await beginSnapshot(client)
    const snapshotAt = await snapshotTime(client)
    return { snapshotAt, parts: await writeRows(client, { view, order, of }, columns, { folder, partition, pace }) }
  })
}
