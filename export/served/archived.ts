import { join } from 'node:path'
import type { Queryable } from '../../db/pool.ts'
import { archivedSums, readArchived } from '../../db/queries/chain/archive.ts'
import { archivedUntil } from '../../db/queries/rollup/archived-until.ts'
import type { BlockRange } from '../../db/queries/rollup/hourly.ts'
import { Refusal } from '../../processors/refusal.ts'
import { readServed, type ServedFile } from './manifest.ts'

/**
 * Throws a Refusal when the list lacks settlements that are archived. Their files are the only copy, no round can write
 * them again, and a round deletes what the list does not name. What the files hold is not read: `--check` does that.
 */
export async function refuseLost(db: Queryable, folder: string): Promise<void> {
  for (const chain of (await archivedUntil(db)).keys()) {
    const archived = await readArchived(db, chain)
    const { shortage } = archived ? await archivedFiles(db, folder, chain, archived.toBlock) : {}
    if (shortage) throw new Refusal(`${shortage}: bring EXPORT_DIR back, manifest.json last; nothing was changed`)
  }
}

interface ArchivedFiles {
  /** Number of the archived settlements. */
  readonly settlements: number
  /** Files that the list names for their days; the last day may go on behind them. */
  readonly files: readonly DayFile[]
  /** What is missing; undefined: the files have at least as many rows as were archived. */
  readonly shortage: string | undefined
}

/** A chain's settlements up to `toBlock`, all of them archived, as they were recorded and as the list has them. */
export async function archivedFiles(
  db: Queryable,
  folder: string,
  chain: string,
  toBlock: number,
): Promise<ArchivedFiles> {
  const range = { fromBlock: 0, toBlock }
  const { settlements } = await archivedSums(db, chain, range)
  const files = await dayFiles(folder, chain, range)
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const shortage =
    rows < settlements
      ? `the settlements of ${chain} up to block ${toBlock} are archived, and of ${settlements} only ${rows} are in the files listed in ${folder}/manifest.json`
      : undefined
  return { settlements, files, shortage }
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
