import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Queryable } from '../pool.ts'
import { logHead } from '../queries/mirror/log.ts'
import { lastClaimEvents } from '../queries/server/backup.ts'

const hex = z.string().regex(/^[0-9a-f]{64}$/)
const form = z.object({
  version: z.literal(1),
  taken_at: z.iso.datetime(),
  /** Of the log: mirrors that follow it must be told another one by what is restored. */
  epoch: z.uuid(),
  head: z.int(),
  /** The newest event of the claims of each account. */
  claims: z.array(z.object({ fid: z.int(), seq: z.int(), sha256: hex })),
})

/** What a backup has at least, so that a restored one can be asked for it. */
export type BackupContents = z.output<typeof form>

const pathIn = (folder: string) => join(folder, 'contents.json')

/** Of the database at this moment. Whatever is copied from here on has it, and perhaps more. */
export async function contentsOf(db: Queryable): Promise<BackupContents> {
  const { epoch, head } = await logHead(db)
  const claims = await lastClaimEvents(db)
  return { version: 1, taken_at: new Date().toISOString(), epoch, head, claims }
}

export async function writeContents(folder: string, contents: BackupContents): Promise<void> {
  await writeFile(pathIn(folder), `${JSON.stringify(contents)}\n`)
}

/** Throws one line when the folder has none, or what it has cannot be read. */
export async function readContents(folder: string): Promise<BackupContents> {
  try {
    return form.parse(JSON.parse(await readFile(pathIn(folder), 'utf8')))
  } catch (cause) {
    throw new Error(`${folder} is no backup: it has no contents.json that can be read`, { cause })
  }
}
