import type { Queryable } from '../../db/pool.ts'
import { lastCheckpoint } from '../../db/queries/transparency/tree.ts'
import type { Cache } from '../http/cache.ts'
import { Content } from '../http/content.ts'

export type LogText = 'checkpoint' | 'key'

/** How long this process answers with what it has read, in milliseconds. */
const freshMs = 1_000

/** What the log signed last, or the key of that signature. Undefined: nothing was ever signed. */
export async function logText(
  { database, cache }: { readonly database: Queryable; readonly cache: Cache<Content> },
  name: LogText,
): Promise<Content | undefined> {
  const { value } = await cache.get(`/log/${name}`, freshMs, async () => {
    const last = await lastCheckpoint(database)
    return last && new Content('text/plain; charset=utf-8', Buffer.from(name === 'key' ? `${last.key}\n` : last.note))
  })
  return value
}
