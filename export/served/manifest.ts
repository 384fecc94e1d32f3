import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExportColumn } from '../../db/queries/read/exports.ts'
import type { DescribedColumn } from '../columns.ts'
import { datasets } from './datasets.ts'

/** A file that is served; it never changes. */
export interface ServedFile {
  readonly dataset: string
  /** Below the folder; holds eight digits of the SHA-256. */
  readonly path: string
  readonly format: 'parquet' | 'ndjson.gz'
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
  /** Of facts: the chain and UTC day; of state: the UTC day of the snapshot. */
  readonly partition: { readonly chain?: string; readonly day?: string; readonly snapshot?: string }
  readonly min_block?: number
  readonly max_block?: number
  /** Of the state of the database that its rows are of. */
  readonly snapshot_at: string
  readonly written_at: string
  /** What was counted of its day when it was written: another one, and it is written anew. */
  readonly state?: string
}

/** One that another took the place of; it is there until `until`. */
interface ReplacedFile extends Pick<ServedFile, 'path' | 'bytes' | 'sha256'> {
  readonly until: string
}

/** manifest.json: the files that are to be read, and what they are. */
export interface ServedManifest {
  readonly version: 1
  readonly written_at: string
  /** Where a mirror that begins with `profiles` goes on: `since` of /data/log.ndjson. Null: there are none yet. */
  readonly log: { readonly epoch: string; readonly seq: number; readonly since: string } | null
  readonly datasets: readonly {
    readonly name: string
    readonly about: string
    readonly by: 'days' | 'snapshot'
    readonly columns: readonly DescribedColumn[]
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

/** That of the folder, which is made when it is missing. Throws when it is of another version. */
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
  const manifest: ServedManifest = JSON.parse(text)
  if (manifest.version !== 1 || !Array.isArray(manifest.files) || !Array.isArray(manifest.replaced)) {
    throw new Error(`${path} is none of served files: EXPORT_DIR must name a folder of its own`)
  }
  return manifest
}

/** Both lists, each at once in place of the one before. */
export async function writeServed(folder: string, manifest: ServedManifest): Promise<void> {
  await put(join(folder, manifestFile), manifest)
  await put(join(folder, packageFile), dataPackage(manifest))
}

async function put(path: string, content: object): Promise<void> {
  const file = await open(`${path}.partial`, 'w')
  try {
    await file.writeFile(`${JSON.stringify(content, null, 1)}\n`)
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
  'timestamp with time zone': { type: 'datetime' },
}

/**
 * The list of files for readers of Data Packages. A resource has one hash and size, so each file is one, with the schema of
 * its dataset.
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
