import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Queryable } from '../pool.ts'
import { logHead } from '../queries/log/log.ts'
import { databaseName, lastClaimEvents } from '../queries/server/backup.ts'

const hex = z.string().regex(/^[0-9a-f]{64}$/)
const form = z.object({
  version: z.literal(1),
  taken_at: z.iso.datetime(),
  /** Name of the database on its server; absent in backups of before this was noted. */
  database: z.string().optional(),
  /** Epoch of the log. A restored database needs a new one, so that mirrors notice. */
  epoch: z.uuid(),
  head: z.int(),
  /** Newest claim event of each account. */
  claims: z.array(z.object({ fid: z.int(), seq: z.int(), sha256: hex })),
})

/** The least that a backup contains, for checking a restored database against. */
export type BackupContents = z.output<typeof form>

const pathIn = (folder: string) => join(folder, 'contents.json')

/** The present contents of the database. A copy begun after this has at least these. */
export async function contentsOf(db: Queryable): Promise<BackupContents> {
  const { epoch, head } = await logHead(db)
  const claims = await lastClaimEvents(db)
  const database = await databaseName(db)
  return { version: 1, taken_at: new Date().toISOString(), database, epoch, head, claims }
}

export async function writeContents(folder: string, contents: BackupContents): Promise<void> {
  await writeFile(pathIn(folder), `${JSON.stringify(contents)}\n`)
}

/** Reads a backup's contents.json. Throws a one-line error when it is missing or unreadable. */
export async function readContents(folder: string): Promise<BackupContents> {
  try {
    return form.parse(JSON.parse(await readFile(pathIn(folder), 'utf8')))
  } catch (cause) {
    throw new Error(`${folder} is no backup: it has no contents.json that can be read`, { cause })
  }
}
