import { mkdir, open, readdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type ContractColumn, directoryViews } from '../db/contract/views.ts'
import type { Queryable } from '../db/pool.ts'
import { type ExportColumn, exportTypes } from '../db/queries/exports/exports.ts'
import { UsageError } from '../ops/cli.ts'
import type { ExportRequest } from './request.ts'

/** A column of an export, with its description. */
export interface DescribedColumn extends ExportColumn {
  readonly about: string
}

/** Columns of a view of the schema `directory`, without the bytea ones, whose content the view also has as text. */
export async function exportColumns(db: Queryable, what: string): Promise<DescribedColumn[]> {
  const view = (await directoryViews(db)).find(({ name }) => name === what)
  if (!view) throw new Error(`there is no view directory.${what}: run npm run migrate first`)
  return view.columns.filter(({ type }) => type !== 'bytea').map(toExportColumn)
}

function toExportColumn({ name, type, comment }: ContractColumn): DescribedColumn {
  const known = exportTypes.find((one) => one === type)
  if (!known) throw new Error(`column ${name} is of type ${type}, which has no form in an export`)
  return { name, type: known, about: comment ?? '' }
}

/** A finished file of an export. */
export interface Part {
  readonly file: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
  /** Time of the database snapshot that its rows come from, that of the run which wrote it. */
  readonly snapshot_at: string
  /** Key of its last row, where the next part resumes (keyset pagination). */
  readonly last_key: readonly string[]
}

/** manifest.json: what an export holds, and where an interrupted one resumes. */
export interface Manifest {
  readonly version: 1
  readonly request: ExportRequest
  readonly columns: readonly DescribedColumn[]
  /** Time of the database snapshot of the first run; parts of later runs have their own. */
  readonly snapshot_at: string
  /** Whether all rows are in the parts. */
  readonly complete: boolean
  readonly rows: number
  readonly parts: readonly Part[]
}

const manifestFile = 'manifest.json'
/** Name of a file until it is finished. */
export const partial = (path: string) => `${path}.partial`

/**
 * The export that a folder holds, with its columns described as they are now; undefined for an empty folder, which is made when it is missing. Throws a UsageError
 * when the folder holds something else, an export of other arguments or columns, or parts that are not as they were
 * left. Compares the sizes of the parts, not their SHA-256.
 */
export async function readManifest(
  folder: string,
  request: ExportRequest,
  columns: readonly DescribedColumn[],
): Promise<Manifest | undefined> {
  await mkdir(folder, { recursive: true })
  const names = await readdir(folder)
  if (!names.includes(manifestFile)) {
    if (names.every((name) => name === partial(manifestFile))) return undefined
    throw new UsageError(`${folder} holds files but no export; --out must name an empty folder or an export's`)
  }
  const manifest = parse(await readFile(join(folder, manifestFile), 'utf8'), folder)
  if (!isSame(manifest.request, request)) {
    throw new UsageError(
      `${folder} holds an export made with ${describe(manifest.request)}; give these, or another --out`,
    )
  }
  if (!isSame(manifest.columns.map(shapeOf), columns.map(shapeOf))) {
    throw new UsageError(`the columns are no longer those of the export in ${folder}; give another --out`)
  }
  for (const { file, bytes } of manifest.parts) {
    const found = await stat(join(folder, file)).catch(() => undefined)
    if (found?.size !== bytes) {
      throw new UsageError(`${join(folder, file)} is not as the export left it; put it back, or give another --out`)
    }
  }
  return { ...manifest, columns }
}

/** Replaces manifest.json atomically. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const path = join(folder, manifestFile)
  const file = await open(partial(path), 'w')
  try {
    await file.writeFile(`${JSON.stringify(manifest)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(partial(path), path)
}

function parse(text: string, folder: string): Manifest {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${join(folder, manifestFile)} is not JSON; --out must name an empty folder or an export's`)
  }
}

/** What the files depend on: an export goes on although a column is described in other words now. */
const shapeOf = ({ name, type }: DescribedColumn) => ({ name, type })

/** Whether two values have the same JSON. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** The command-line arguments that make this request. */
function describe({ what, format, chain, since, partRows }: ExportRequest): string {
  return Object.entries({ what, format, chain, since, 'part-rows': partRows })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ')
}
