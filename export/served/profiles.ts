import { createWriteStream } from 'node:fs'
import { createGzip } from 'node:zlib'
import type pg from 'pg'
import { readLog } from '../../db/queries/mirror/log.ts'
import type { Installation } from '../../db/queries/sql/installation.ts'
import { namePart, type Part, type Place, temporaryPath } from './parts.ts'

/** Lines asked for at once; bytes after which a page ends. */
const logPage = { limit: 500, maxBytes: 4 * 1024 * 1024 }

/** Writes the whole log, a line of /data/log.ndjson a line, compressed with gzip; none for an empty log. */
export async function writeProfiles(
  client: pg.ClientBase,
  place: Place,
  { installation, leftOut }: { installation: Installation; leftOut: (fid: number, cause: unknown) => void },
): Promise<Part[]> {
  const temporary = await temporaryPath(place)
  const gzip = createGzip()
  const file = gzip.pipe(createWriteStream(temporary))
  const ended = new Promise<void>((resolve, reject) => {
    file.once('close', resolve)
    for (const stream of [gzip, file]) stream.once('error', reject)
  })
  ended.catch(() => {}) // it is told of below, once
  let count = 0
  try {
    for (let since = 0; ; ) {
      const { lines, reached } = await readLog(client, { since, ...logPage, installation, leftOut })
      if (reached === since) break
      since = reached
      const written = lines.split('\n').length - 1
      count += written
      if (!gzip.write(lines)) await Promise.race([new Promise((resolve) => gzip.once('drain', resolve)), ended])
      await place.pace(written)
    }
  } finally {
    gzip.end()
    await ended
  }
  return count === 0 ? [] : [await namePart(temporary, place, { number: 0, format: 'ndjson.gz', rows: count })]
}
