import { chainOf } from '../../config/chains.ts'
import type { Queryable } from '../../db/pool.ts'
import { readArchived } from '../../db/queries/chain/archive.ts'
import type { ExportColumn, ExportRow, ExportStart } from '../../db/queries/exports/exports.ts'
import { archivedUntil } from '../../db/queries/rollup/cursor.ts'
import { UsageError } from '../../ops/cli.ts'
import { isScaled, type Tokens, tokensOf } from '../../processors/mapping/scale.ts'
import { archivedFiles, type DayFile } from '../served/archived-days.ts'
import { rowsOfFiles } from './day-files.ts'

/** A chain's archived settlements, as the part of an export that is read from the served files. */
interface ArchivedPages extends Required<Omit<ExportStart, 'block'>> {
  /** First block that is not archived. */
  readonly next: number
  /** Number of the chain's archived settlements, those before `since` included. */
  readonly settlements: number
  /** Ends the reading; until then, the next file is open. */
  readonly close: () => Promise<unknown>
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
      ...pagesOf(files, toBlock, { since, columns, tokens: tokensOf(chainOf(chain)) }),
    })
  }
  return pages
}

/** What is read of a chain's files, and how. */
interface Reading extends Pick<PageOptions, 'since' | 'columns'> {
  readonly tokens: Tokens
}

function pagesOf(
  files: readonly DayFile[],
  toBlock: number,
  reading: Reading,
): Pick<ArchivedPages, 'archived' | 'close'> {
  let rows: AsyncGenerator<ExportRow, void> | undefined
  const archived: ArchivedPages['archived'] = async (after, limit) => {
    rows ??= rowsBehind(files, toBlock, { after, ...reading })
    const page: ExportRow[] = []
    while (page.length < limit) {
      const { value, done } = await rows.next()
      if (done) break
      page.push(value)
    }
    return page
  }
  return { archived, close: async () => rows?.return() }
}

type FileValue = string | number | bigint | boolean | null | undefined
type FileRow = Record<string, FileValue> & {
  readonly block_number: number
  readonly log_index: number
  readonly block_timestamp: bigint
}

/** Columns that tell exact amounts: those in dollars have whole millionths in the files. */
const unitColumns = ['token_address', 'base_units']

async function* rowsBehind(
  files: readonly DayFile[],
  toBlock: number,
  { after, since, columns, tokens }: Reading & { readonly after: readonly string[] | undefined },
): AsyncGenerator<ExportRow, void> {
  const [, block = 0, log = -1] = (after ?? []).map(Number)
  const sinceMicros = since === undefined ? undefined : BigInt(Date.parse(since)) * 1000n
  const recent = files.filter(({ partition }) => since === undefined || (partition.day ?? '') >= since.slice(0, 10))
  const range = { fromBlock: block, toBlock }
  for await (const rows of rowsOfFiles<FileRow>(recent, range, [
    ...new Set([...columns.map(({ name }) => name), ...unitColumns]),
  ])) {
    for (const row of rows) {
      if (row.block_number === block && row.log_index <= log) continue
      if (sinceMicros !== undefined && row.block_timestamp < sinceMicros) continue
      yield columns.map(({ name, type }) =>
        name === 'amount_usdc'
          ? (exactDollars(row, tokens) ?? textOf(name, type, row[name]))
          : textOf(name, type, row[name]),
      )
    }
  }
}

/** Dollars of a token whose units are not millionths, with all its digits; undefined: millionths have them. */
function exactDollars({ token_address: token, base_units: units }: FileRow, tokens: Tokens): string | undefined {
  const decimals = tokens.get(String(token))
  return isScaled(decimals) && typeof units === 'string' ? dollars(BigInt(units), decimals) : undefined
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

/** `decimals`: at least one. */
function dollars(units: bigint, decimals = 6): string {
  const digits = String(units).padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
