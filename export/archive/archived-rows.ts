import type { Queryable } from '../../db/pool.ts'
import { readArchived } from '../../db/queries/chain/archive.ts'
import type { ExportColumn, ExportRow, ExportStart } from '../../db/queries/exports/exports.ts'
import { archivedUntil } from '../../db/queries/rollup/cursor.ts'
import { UsageError } from '../../ops/cli.ts'
import { archivedFiles, type DayFile } from '../served/archived-days.ts'
import { rowsOfFiles } from './day-files.ts'

/** A chain's archived settlements, as the part of an export that is read from the served files. */
interface ArchivedPages extends Required<Omit<ExportStart, 'block'>> {
  /** First block that is not archived. */
  readonly next: number
  /** Number of the chain's archived settlements, those before `since` included. */
  readonly settlements: number
}

interface PageOptions {
  readonly chains: readonly string[]
  /** ISO time of the oldest settlements wanted; undefined: all. */
  readonly since: string | undefined
  /** Columns of a row, in their order. */
  readonly columns: readonly ExportColumn[]
  /** Folder of the served files. */
  readonly folder: string
}

/**
 * Readers of the archived settlements, for each of the chains that has any at `since` or later. Throws a UsageError
 * when the folder's list does not have the archived days as they were summed up.
 */
export async function archivedPages(db: Queryable, options: PageOptions): Promise<ArchivedPages[]> {
  const { chains, since, columns, folder } = options
  const until = await archivedUntil(db)
  const pages: ArchivedPages[] = []
  for (const chain of chains) {
    const newest = until.get(chain)
    const archived = await readArchived(db, chain)
    if (!archived || !newest || (since !== undefined && newest < new Date(since))) continue
    const { toBlock } = archived
    const { settlements, files, difference } = await archivedFiles(db, folder, chain, { toBlock, until: newest })
    if (difference) throw new UsageError(`${difference}: EXPORT_DIR must name the folder of the served files`)
    pages.push({
      chain,
      next: toBlock + 1,
      settlements,
      archived: pagesOf(files, toBlock, { since, columns }),
    })
  }
  return pages
}

function pagesOf(
  files: readonly DayFile[],
  toBlock: number,
  { since, columns }: Pick<PageOptions, 'since' | 'columns'>,
): ArchivedPages['archived'] {
  let rows: AsyncGenerator<ExportRow> | undefined
  return async (after, limit) => {
    rows ??= rowsBehind(files, toBlock, { after, since, columns })
    const page: ExportRow[] = []
    while (page.length < limit) {
      const { value, done } = await rows.next()
      if (done) break
      page.push(value)
    }
    return page
  }
}

type FileValue = string | number | bigint | boolean | null | undefined
type FileRow = Record<string, FileValue> & {
  readonly block_number: number
  readonly log_index: number
  readonly block_timestamp: bigint
}

async function* rowsBehind(
  files: readonly DayFile[],
  toBlock: number,
  { after, since, columns }: Pick<PageOptions, 'since' | 'columns'> & { readonly after: readonly string[] | undefined },
): AsyncGenerator<ExportRow> {
  const [, block = 0, log = -1] = (after ?? []).map(Number)
  const sinceMicros = since === undefined ? undefined : BigInt(Date.parse(since)) * 1000n
  const recent = files.filter(({ partition }) => since === undefined || (partition.day ?? '') >= since.slice(0, 10))
  const range = { fromBlock: block, toBlock }
  for await (const rows of rowsOfFiles<FileRow>(
    recent,
    range,
    columns.map(({ name }) => name),
  )) {
    for (const row of rows) {
      if (row.block_number === block && row.log_index <= log) continue
      if (sinceMicros !== undefined && row.block_timestamp < sinceMicros) continue
      yield columns.map(({ name, type }) => textOf(name, type, row[name]))
    }
  }
}

/** A value as text, in the form in which the database writes it for an export; null: null. */
function textOf(name: string, type: ExportColumn['type'], value: FileValue): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 't' : 'f'
  if (typeof value !== 'bigint') return String(value)
  if (type === 'timestamp with time zone') return isoMicroseconds(value)
  return name.endsWith('amount_usdc') ? dollars(value) : String(value)
}

function isoMicroseconds(micros: bigint): string {
  const seconds = new Date(Number(micros / 1_000_000n) * 1000).toISOString().slice(0, 19)
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, '0')}Z`
}

function dollars(micros: bigint): string {
  const digits = String(micros).padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}
