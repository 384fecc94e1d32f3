import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { BlockSource, PreparedLines } from './blocks.ts'
import { linesOfChunk } from './lines.ts'
import type { Query } from './query.ts'

/**
 * A source whose answers are made once and kept in `folder`, a file for each whole chunk and query: the second time
 * the server only copies bytes, so that what is measured is its client. The source behind it must not change.
 */
export function keptSource(source: BlockSource, folder: string): BlockSource {
  return {
    ...source,
    async prepared(query, first, last) {
      const beginsChunk = first === source.startBlock || source.chunkEnd(first - 1) === first - 1
      if (!beginsChunk || last !== source.chunkEnd(first)) return undefined
      const path = join(folder, `${nameOf(query)}-${first}-${last}.jsonl.gz`)
      const kept = await readFile(path).catch(() => undefined)
      return toPrepared(kept ?? (await make(source, query, first, last, folder, path)))
    },
  }
}

async function make(source: BlockSource, query: Query, first: number, last: number, folder: string, path: string) {
  let text = ''
  for await (const line of linesOfChunk(source, query, first, last)) text += `${line}\n`
  const gzip = gzipSync(text, { level: 1 })
  await mkdir(folder, { recursive: true })
  // Renamed into its place, so that nobody finds half a file.
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, gzip)
  await rename(unfinished, path)
  return gzip
}

function toPrepared(gzip: Buffer): PreparedLines {
  return { gzip, lines: () => gunzipSync(gzip) }
}

/** Name of the file of a query; queries that differ in their range alone share it. */
function nameOf(query: Query): string {
  const { fromBlock, toBlock, parentBlockHash, ...rest } = query
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 16)
}
