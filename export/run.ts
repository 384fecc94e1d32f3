import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { chainNames } from '../config/chains.ts'
import type { Queryable } from '../db/pool.ts'
import {
  beginSnapshot,
  type ExportColumn,
  type ExportFilter,
  estimateExport,
  exportedViews,
  exportPage,
  snapshotTime,
  tryLockExport,
} from '../db/queries/exports/exports.ts'
import { settlementStarts } from '../db/queries/settlements/settlement-starts.ts'
import { UsageError } from '../ops/cli.ts'
import type { ProofTerms } from '../trust/proof/published.ts'
import { archivedPages } from './archive/archived-rows.ts'
import type { Display } from './display.ts'
import { exportColumns, type Manifest, type Part, partial, readManifest, writeManifest } from './manifest.ts'
import { openParquet } from './parquet.ts'
import { type PartFile, seal } from './part-file.ts'
import type { ExportRequest, FormatName } from './request.ts'
import { openCsv, openNdjson } from './text-file.ts'
import { furtherColumns, type ProofsOf, withProofs } from './whole-proofs.ts'

/** Rows in memory at a time, and rows per Parquet row group; fewer with whole proofs, of some kilobytes each. */
const pageRows = 10_000
const proofPageRows = 500

interface ExportPlaces {
  /** Folder of the export. */
  readonly folder: string
  /** What claims are bound to. */
  readonly terms: ProofTerms
  /** Folder of the served files, which archived settlements are read from. */
  readonly served: string
  /** Most parts that are written by this run; absent: all of them. */
  readonly mostParts?: number
}

/**
 * Writes the missing parts of an export, at most `mostParts`, and returns the manifest of what is there then. `db` is in a transaction of
 * which this is the first use, so that all parts of a run come from one snapshot. Throws a UsageError when the folder
 * is another export's, when another process writes to it, or when archived settlements are not in the served files.
 */
export async function runExport(
  db: Queryable,
  request: ExportRequest,
  { folder, terms, served, mostParts = Number.POSITIVE_INFINITY }: ExportPlaces,
  openDisplay: (begun: { rows: number; expected: number }) => Display,
): Promise<Manifest> {
  await beginSnapshot(db)
  if (!(await tryLockExport(db, folder))) throw new UsageError(`another process exports to ${folder}`)
  const snapshotAt = await snapshotTime(db)
  const ofView = await exportColumns(db, request.what)
  const columns = [...ofView, ...furtherColumns(request.what)]
  let manifest: Manifest = (await readManifest(folder, request, columns)) ?? {
    version: 1,
    request,
    columns,
    snapshot_at: snapshotAt,
    complete: false,
    rows: 0,
    parts: [],
  }
  if (manifest.complete) return manifest
  await writeManifest(folder, manifest)
  const { filter, archived, close } = await filterOf(db, request, { columns: ofView, served })
  const display = openDisplay({ rows: manifest.rows, expected: archived + (await estimateExport(db, filter)) })
  try {
    const most = manifest.parts.length + mostParts
    while (!manifest.complete && manifest.parts.length < most) {
      const proofs = { terms, at: new Date(snapshotAt) }
      const part = await writePart(db, manifest, { filter, folder, snapshotAt, display, proofs })
      manifest = {
        ...manifest,
        complete: (part?.rows ?? 0) < request.partRows,
        rows: manifest.rows + (part?.rows ?? 0),
        parts: part ? [...manifest.parts, part] : manifest.parts,
      }
      await writeManifest(folder, manifest)
    }
  } finally {
    display.stop()
    await close()
  }
  return manifest
}

/**
 * The request's filter, with the block that each chain's settlements start from: searched for, since reading up to it
 * may be years of rows. A chain's archived settlements come before those in the database. `archived`: their number;
 * `close`: ends the reading of their files.
 */
async function filterOf(
  db: Queryable,
  request: ExportRequest,
  { columns, served }: { readonly columns: readonly ExportColumn[]; readonly served: string },
): Promise<{ readonly filter: ExportFilter; readonly archived: number; readonly close: () => Promise<unknown> }> {
  const { what, chain, since } = request
  if (what !== 'settlements') return { filter: request, archived: 0, close: async () => {} }
  const chains = (chain ? [chain] : chainNames).toSorted()
  const pages = await archivedPages(db, { chains, since, columns, folder: served })
  const begins =
    since === undefined
      ? chains.map((name) => ({ chain: name, block: 0 }))
      : await settlementStarts(db, { chains, since })
  const starts = begins.map((start) => {
    const page = pages.find((one) => one.chain === start.chain)
    return page ? { ...start, block: Math.max(start.block, page.next), archived: page.archived } : start
  })
  return {
    filter: { ...request, starts },
    archived: pages.reduce((sum, { settlements }) => sum + settlements, 0),
    close: () => Promise.all(pages.map((page) => page.close())),
  }
}

/** Writes the next part. Undefined: there are no more rows, and an earlier part. */
async function writePart(
  db: Queryable,
  { request, columns, parts, rows: before }: Manifest,
  {
    filter,
    folder,
    snapshotAt,
    display,
    proofs,
  }: { filter: ExportFilter; folder: string; snapshotAt: string; display: Display; proofs: ProofsOf },
): Promise<Part | undefined> {
  const further = furtherColumns(request.what).length
  const ofView = columns.slice(0, columns.length - further)
  const keyAt = exportedViews[request.what].key.map((name) => columns.findIndex((column) => column.name === name))
  let lastKey = parts.at(-1)?.last_key
  let rows = 0
  const nextPage = async () => {
    const limit = Math.min(further > 0 ? proofPageRows : pageRows, request.partRows - rows)
    const found = limit > 0 ? await exportPage(db, filter, ofView, { after: lastKey, limit }) : []
    const page = further > 0 ? await withProofs(db, ofView, found, proofs) : found
    const last = page.at(-1)
    if (last) lastKey = keyAt.map((at) => last[at] as string)
    rows += page.length
    return { page, isLast: page.length < limit || limit === 0 }
  }
  let { page, isLast } = await nextPage()
  if (page.length === 0 && parts.length > 0) return undefined // an export without rows has a file with its columns
  const file = `${request.what}-${String(parts.length + 1).padStart(5, '0')}.${request.format}`
  const path = join(folder, file)
  const part = await openPart[request.format](partial(path), columns)
  while (page.length > 0) {
    await part.write(page)
    display.update(before + rows)
    if (isLast) break
    ;({ page, isLast } = await nextPage())
  }
  await part.finish()
  const whole = await seal(partial(path))
  await rename(partial(path), path)
  return { file, rows, ...whole, snapshot_at: snapshotAt, last_key: lastKey ?? [] }
}

/** Opens a file of each format at a path, replacing any file there. */
const openPart: Record<FormatName, (path: string, columns: readonly ExportColumn[]) => Promise<PartFile>> = {
  ndjson: openNdjson,
  csv: openCsv,
  parquet: openParquet,
}
