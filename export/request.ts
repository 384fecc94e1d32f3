import { resolve } from 'node:path'
import { z } from 'zod'
import { chainNames } from '../config/chains.ts'
import { type ExportedName, type ExportFilter, exportedViews } from '../db/queries/exports/exports.ts'
import { UsageError } from '../ops/cli.ts'

const formatNames = ['ndjson', 'csv', 'parquet'] as const
export type FormatName = (typeof formatNames)[number]

/** What is exported, and how. An interrupted export is resumed by the same request. */
export interface ExportRequest extends ExportFilter {
  readonly format: FormatName
  /** Rows of a file at most. */
  readonly partRows: number
}

export const options = {
  what: { type: 'string' },
  format: { type: 'string' },
  out: { type: 'string' },
  chain: { type: 'string' },
  since: { type: 'string' },
  'part-rows': { type: 'string' },
  served: { type: 'boolean' },
  every: { type: 'string' },
  'rows-per-second': { type: 'string' },
} as const
type Values = { [name in Exclude<keyof typeof options, 'served'>]?: string | undefined }

const defaultPartRows = 1_000_000
const maxPartRows = 10_000_000
const mostMinutes = 1_440
const defaultRowsPerSecond = 50_000
const mostRowsPerSecond = 10_000_000
const whats = Object.keys(exportedViews) as ExportedName[]
const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

/**
 * The request that the command line's arguments make. Throws a UsageError for the first one that is missing or wrong.
 */
export function readRequest(values: Values): { request: ExportRequest; folder: string } {
  const what = oneOf('--what', whats, values.what)
  const format = oneOf('--format', formatNames, values.format)
  if (!values.out) throw new UsageError('--out must name the folder to write to')
  const chain = values.chain === undefined ? undefined : oneOf('--chain', chainNames, values.chain)
  if (chain !== undefined && !('ofChain' in exportedViews[what])) {
    throw new UsageError(`--chain does not go with --what ${what}, whose rows belong to no chain`)
  }
  const request = {
    what,
    format,
    chain,
    since: readTime(values.since),
    partRows: readCount('--part-rows', values['part-rows'], defaultPartRows, maxPartRows),
  }
  return { request, folder: resolve(values.out) }
}

function oneOf<T extends string>(option: string, names: readonly T[], value: string | undefined): T {
  const name = names.find((one) => one === value)
  if (name === undefined) throw new UsageError(`${option} must be one of ${names.join(', ')}`)
  return name
}

/**
 * An ISO time in UTC, of a date or a time; a date means its first moment in UTC. Throws a UsageError for anything else.
 */
function readTime(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (!time.safeParse(text).success) {
    throw new UsageError(`--since must be an ISO time, as 2026-03-01 or 2026-03-01T12:00:00Z, not ${text}`)
  }
  return new Date(text).toISOString()
}

function readCount(option: string, text: string | undefined, fallback: number, most: number): number {
  if (text === undefined) return fallback
  const count = /^\d{1,8}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > most) throw new UsageError(`${option} must be a number from 1 to ${most}`)
  return count
}

/** How served files are written. */
interface ServedRequest {
  /** Minutes from the end of a round to the next one; undefined: only one round. */
  readonly everyMinutes: number | undefined
  readonly rowsPerSecond: number
}

/**
 * Reads the arguments that go with --served. Throws a UsageError for one that is wrong or belongs to a plain export.
 */
export function readServedRequest(values: Values): ServedRequest {
  const { every, 'rows-per-second': rows, ...others } = values
  const other = Object.entries(others).find(([, value]) => typeof value === 'string')?.[0]
  if (other) throw new UsageError(`--${other} does not go with --served, which writes everything to EXPORT_DIR`)
  return {
    everyMinutes: every === undefined ? undefined : readCount('--every', every, 1, mostMinutes),
    rowsPerSecond: readRowsPerSecond(rows),
  }
}

/** Value of --rows-per-second, the limit at which served files are written, or its default. Throws a UsageError. */
export const readRowsPerSecond = (rows: string | undefined): number =>
  readCount('--rows-per-second', rows, defaultRowsPerSecond, mostRowsPerSecond)
