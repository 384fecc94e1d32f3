import { createWriteStream } from 'node:fs'
import { createGzip } from 'node:zlib'
import type pg from 'pg'
import { readLog } from '../../db/queries/log/log.ts'
import type { Installation } from '../../db/queries/sql/installation.ts'
import type { Pace } from './pace.ts'
import { namePart, type Part, type Place, temporaryPath } from './parts.ts'

/** Page size when reading the log: lines at most, and bytes after which a page ends. */
const logPage = { limit: 500, maxBytes: 4 * 1024 * 1024 }

/** Writes the whole log to one gzipped file with the lines of /data/log.ndjson; no file for an empty log. */
export async function writeProfiles(
  client: pg.ClientBase,
  place: Place,
  pace: Pace,
  { installation, leftOut }: { installation: Installation; leftOut: (fid: number, cause: unknown) => void },
): Promise<Part[]> {
  const temporary = await temporaryPath(place)
  const gzip = createGzip()
  const file = gzip.pipe(createWriteStream(temporary))
  const ended = new Promise<void>((resolve, reject) => {
    file.once('close', resolve)
    for (const stream of [gzip, file]) stream.once('error', reject)
  })
  ended.catch(() => {}) // it is thrown below, once
  let count = 0
  try {
    for (let since = 0; ; ) {
      const { lines, reached } = await readLog(client, { since, ...logPage, installation, leftOut })
      if (reached === since) break
      since = reached
      const written = lines.split('\n').length - 1
      count += written
      if (!gzip.write(lines)) await Promise.race([new Promise((resolve) => gzip.once('drain', resolve)), ended])
      await pace(written)
    }
  } finally {
    gzip.end()
    await ended
  }
  return count === 0 ? [] : [await namePart(temporary, place, { number: 0, format: 'ndjson.gz', rows: count })]
}
