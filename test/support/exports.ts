import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { onTestFinished } from 'vitest'
import { readChains, socialRegistriesOf } from '../../config/chains.file.ts'
import type { Manifest } from '../../export/manifest.ts'
import type { ProofTerms } from '../../trust/proof/published.ts'

/** Makes a folder that is removed after the test. */
export async function exportFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-export-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Of an installation without a CHAINS_FILE. */
export const proofTerms = (baseUrl: string): ProofTerms => ({
  serviceName: 'agent-directory',
  siteUrl: 'https://agents.example',
  baseUrl,
  registries: socialRegistriesOf(readChains({ env: {} })),
})

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
}

/** Rows of an export in the form of `viewRows`, read by other people's code where it exists. */
export async function exportedRows(folder: string): Promise<Record<string, unknown>[]> {
  const { request, columns, parts } = manifestOf(folder)
  const rows: Record<string, unknown>[] = []
  for (const { file, sha256, bytes } of parts) {
    const content = readFileSync(join(folder, file))
    if (content.length !== bytes || createHash('sha256').update(content).digest('hex') !== sha256) {
      throw new Error(`${file} is not what the manifest says`)
    }
    if (request.format === 'parquet') rows.push(...(await readParquet(join(folder, file))))
    else if (request.format === 'csv') rows.push(...readCsv(content.toString()))
    else rows.push(...readNdjson(content.toString()))
  }
  // Parquet has lists and times, JSON digits, CSV only text: all are converted to the view's text.
  return rows.map((row) => Object.fromEntries(columns.map(({ name, type }) => [name, asText(row[name], type)])))
}

function asText(value: unknown, type: string): string | null {
  if (value === null || value === undefined) return null
  const [, day, time, fraction = ''] = /^(\S+) ([\d:]+)(?:\.(\d+))?\+00$/.exec(String(value)) ?? []
  if (type === 'timestamp with time zone' && day) return `${day}T${time}.${fraction.padEnd(6, '0')}Z`
  return Array.isArray(value) ? JSON.stringify(value) : String(value)
}

async function readParquet(path: string): Promise<Record<string, unknown>[]> {
  const duck = await (await DuckDBInstance.create()).connect()
  await duck.run(`set TimeZone = 'UTC'`)
  const reader = await duck.runAndReadAll(`select * from read_parquet('${path}')`)
  duck.closeSync()
  return reader.getRowObjectsJson()
}

/** Parses NDJSON, with numbers as text, so that no digit is lost. */
function readNdjson(content: string): Record<string, unknown>[] {
  const lines = content.split('\n')
  if (lines.pop() !== '') throw new Error('the last line has no end')
  const digits = (_key: string, value: unknown, { source }: { source: string }) =>
    typeof value === 'number' ? source : value
  return lines.map((line) => JSON.parse(line, digits as never))
}

/** Parses CSV by the grammar of RFC 4180; an empty field without quotes is null. */
function readCsv(content: string): Record<string, unknown>[] {
  const records: (string | null)[][] = [[]]
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y
  while (field.lastIndex < content.length) {
    const at = field.lastIndex
    const [, quoted, plain, end] = field.exec(content) ?? []
    if (end === undefined) throw new Error(`no field at ${at}: ${content.slice(at, at + 40)}`)
    records.at(-1)?.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"'))
    if (end === '\r\n') records.push([])
  }
  const [names, ...rows] = records.slice(0, -1)
  return rows.map((row) => Object.fromEntries((names ?? []).map((name, at) => [name, row[at]])))
}
