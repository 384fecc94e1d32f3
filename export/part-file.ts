import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { ExportRow } from '../db/queries/exports/exports.ts'

/** A file being written; it is invalid until `finish`. */
export interface PartFile {
  write(rows: readonly ExportRow[]): Promise<void>
  finish(): Promise<void>
}

/** Flushes a file to the disk (fsync), and returns its size and SHA-256 as read back. */
export async function seal(path: string): Promise<{ bytes: number; sha256: string }> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return { bytes: (await stat(path)).size, sha256: hash.digest('hex') }
}

/** Flushes a folder to the disk (fsync): a new name in it outlives a loss of power only from then on. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
