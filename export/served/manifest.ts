import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExportColumn } from '../../db/queries/exports/exports.ts'
import { Refusal } from '../../ops/cli.ts'
import type { DescribedColumn } from '../manifest.ts'
import { flushFolder } from '../part-file.ts'
import { datasets, type Licence } from './datasets.ts'

/** Entry for a served file. Files are immutable. */
export interface ServedFile {
  readonly dataset: string
  /** Path relative to the folder; its name contains the first eight digits of the SHA-256. */
  readonly path: string
  readonly format: 'parquet' | 'ndjson.gz'
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
  /** Of a file of facts: `chain` and UTC `day`; of a file of state: `snapshot`, the UTC day it was taken. */
  readonly partition: { readonly chain?: string; readonly day?: string; readonly snapshot?: string }
  readonly min_block?: number
  readonly max_block?: number
  /** Names of its columns. Absent: lines of the log, or a file from before they were named. */
  readonly columns?: readonly string[]
  /** Times of its first and last block, ISO. Absent: its rows are of no block. */
  readonly min_time?: string
  readonly max_time?: string
  /** Time of the database snapshot that its rows come from. */
  readonly snapshot_at: string
  readonly written_at: string
  /**
   * Fingerprint of its day when it was written; when the day's differs, the file is written again. Absent: a snapshot.
   */
  readonly state?: string
}

/** A file that a newer one has replaced; it is kept until `until`. */
interface ReplacedFile extends Pick<ServedFile, 'path' | 'bytes' | 'sha256'> {
  readonly until: string
}

/** manifest.json: the current files, and the description of their datasets. */
export interface ServedManifest {
  readonly version: 1
  readonly written_at: string
  /**
   * Cursor for mirrors that load `profiles` first and then follow /data/log.ndjson from `since`. Null: no snapshot yet.
   */
  readonly log: { readonly epoch: string; readonly seq: number; readonly since: string } | null
  readonly datasets: readonly {
    readonly name: string
    readonly about: string
    readonly by: 'days' | 'snapshot'
    readonly columns: readonly DescribedColumn[]
    /** Licence of its files, where they have one of their own. */
    readonly licence?: Licence
  }[]
  readonly files: readonly ServedFile[]
  readonly replaced: readonly ReplacedFile[]
}

export const emptyManifest: ServedManifest = {
  version: 1,
  written_at: '',
  log: null,
  datasets: [],
  files: [],
  replaced: [],
}

const manifestFile = 'manifest.json'
const packageFile = 'datapackage.json'

/**
 * The folder's manifest, an empty one if there is none; creates the folder. Throws on a manifest of another version, and
 * a Refusal on one that is no JSON.
 */
export async function readServed(folder: string): Promise<ServedManifest> {
  await mkdir(folder, { recursive: true })
  const path = join(folder, manifestFile)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return emptyManifest
    throw error
  }
  const manifest: ServedManifest | null = await readOrRefuse(path, () => JSON.parse(text))
  if (manifest?.version !== 1 || !Array.isArray(manifest.files) || !Array.isArray(manifest.replaced)) {
    throw new Error(`${path} is not the manifest of served files: EXPORT_DIR must name a folder of its own`)
  }
  return manifest
}

/** What `read` makes of a file. Throws a Refusal that names the file when that fails, however its bytes are damaged. */
export async function readOrRefuse<T>(path: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    const reason = (cause as Error).message.replaceAll('\n', ' ')
    throw new Refusal(`${path} cannot be read (${reason}): bring it back from a copy, then run the same command again`)
  }
}

/**
 * Writes the data package and manifest.json, each of them atomically; they are on the disk then. The manifest is last:
 * whoever sees that it is another one, as the API does, finds the package of the same files.
 */
export async function writeServed(folder: string, manifest: ServedManifest): Promise<void> {
  await put(join(folder, packageFile), dataPackage(manifest))
  await put(join(folder, manifestFile), manifest)
  await flushFolder(folder)
}

async function put(path: string, content: object): Promise<void> {
  const file = await open(`${path}.partial`, 'w')
  try {
    await file.writeFile(`${JSON.stringify(content)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.partial`, path)
}

const fieldTypes: Partial<Record<ExportColumn['type'], object>> = {
  boolean: { type: 'boolean' },
  integer: { type: 'integer' },
  bigint: { type: 'integer' },
  'text[]': { type: 'array' },
  jsonb: { type: 'object' },
  'timestamp with time zone': { type: 'datetime' },
}

function licensesOf(dataset: string): { licenses?: readonly Licence[] } {
  const licence = datasets.find(({ name }) => name === dataset)?.licence
  return licence ? { licenses: [licence] } : {}
}

/**
 * The manifest as a Data Package. A resource has one hash and one size, so each file is a resource of its own, with the
 * schema of its dataset.
 *
 * Source: Data Package 2.0, Frictionless.
 */
function dataPackage({ written_at, datasets: described, files }: ServedManifest): object {
  const fieldsOf = Object.fromEntries(
    described.map(({ name, columns }) => [
      name,
      columns.map(({ name: column, type, about }) => ({
        name: column,
        ...(column.endsWith('amount_usdc') ? { type: 'number' } : (fieldTypes[type] ?? { type: 'string' })),
        description: about,
      })),
    ]),
  )
  return {
    $schema: 'https://datapackage.org/profiles/2.0/datapackage.json',
    name: 'agent-directory',
    created: written_at,
    resources: files.map(({ dataset, path, format, bytes, sha256 }) => ({
      ...licensesOf(dataset),
      $schema: 'https://datapackage.org/profiles/2.0/dataresource.json',
      name: path.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-'),
      path: [path],
      title: datasets.find(({ name }) => name === dataset)?.about ?? dataset,
      format,
      bytes,
      hash: `sha256:${sha256}`,
      ...(format === 'parquet' && { type: 'table', schema: { fields: fieldsOf[dataset] ?? [] } }),
    })),
  }
}
