import { join } from 'node:path'
import type { BlockRange } from '../../db/block-range.ts'
import type { Queryable } from '../../db/pool.ts'
import { archivedSums, readArchived } from '../../db/queries/chain/archive.ts'
import { settlementsByDay } from '../../db/queries/exports/finished-days.ts'
import { archivedUntil } from '../../db/queries/rollup/cursor.ts'
import { Refusal } from '../../ops/cli.ts'
import { readServed, type ServedFile } from './manifest.ts'

/**
 * Throws a Refusal when the list lacks settlements that are archived, or has other files of their days. These are the
 * only copy, no round can write them again, and a round deletes what the list does not name. What the files hold is not
 * read: `--check` does that.
 */
export async function refuseLost(db: Queryable, folder: string): Promise<void> {
  for (const [chain, until] of await archivedUntil(db)) {
    const archived = await readArchived(db, chain)
    const { difference } = archived ? await archivedFiles(db, folder, chain, { ...archived, until }) : {}
    if (!difference) continue
    throw new Refusal(
      `${difference}: bring EXPORT_DIR back, manifest.json last; if it is lost, the rows are read from the chain again by ` +
        `npm run archive -- --chain ${chain} --restore --reload; nothing was changed`,
    )
  }
}

interface ArchivedFiles {
  /** Number of the archived settlements. */
  readonly settlements: number
  /** Files that the list names for their days; the last day may go on behind them. */
  readonly files: readonly DayFile[]
  /** A day of which the list does not have as many rows as were summed up; undefined: there is none. */
  readonly difference: string | undefined
}

/** How far a chain is archived: the last block, and the block time of the newest row. */
interface Extent {
  readonly toBlock: number
  readonly until: Date
}

/**
 * A chain's archived settlements, as they were recorded and as the list has their days. The days are compared one by
 * one: in a sum of all, rows of the last day that are not archived would stand in for archived ones that are missing.
 */
export async function archivedFiles(
  db: Queryable,
  folder: string,
  chain: string,
  { toBlock, until }: Extent,
): Promise<ArchivedFiles> {
  const range = { fromBlock: 0, toBlock }
  const untilDay = until.toISOString().slice(0, 10)
  const { settlements } = await archivedSums(db, chain, range)
  // Without older rows in the database the day after the last archived one begins at block 0, as far as its file knows.
  const files = (await dayFiles(folder, chain, range)).filter(({ partition: { day = '' } }) => day <= untilDay)
  const listed = new Map<string, number>()
  for (const { partition, rows } of files) {
    const { day = '' } = partition
    listed.set(day, (listed.get(day) ?? 0) + rows)
  }
  const summed = await settlementsByDay(db, chain, untilDay)
  const wrong = [...new Set([...summed.keys(), ...listed.keys()])]
    .toSorted()
    .find((day) => listed.get(day) !== summed.get(day))
  const difference =
    wrong === undefined
      ? undefined
      : `the settlements of ${chain} up to block ${toBlock} are archived, and ${listed.get(wrong) ?? 0} instead of ${summed.get(wrong) ?? 0} of ${wrong} are in the files listed in ${folder}/manifest.json`
  return { settlements, files, difference }
}

/** A served file; `at` is its path on this machine. */
export type DayFile = ServedFile & { readonly at: string }

/** The served files that may have settlements of a block range, by day and part. */
export async function dayFiles(folder: string, chain: string, range: BlockRange): Promise<DayFile[]> {
  const { files } = await readServed(folder)
  return files
    .filter(({ dataset, partition, min_block = 0, max_block = -1 }) => {
      return dataset === 'settlements' && partition.chain === chain && meets(range, min_block, max_block)
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1)) // by day, then by part
    .map((file) => ({ ...file, at: join(folder, file.path) }))
}

/** True when some of the blocks `first` to `last` are in the range. */
export const meets = ({ fromBlock, toBlock }: BlockRange, first: number, last: number) =>
  first <= toBlock && last >= fromBlock
