import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { z } from 'zod'
import type { Queryable } from '../../db/pool.ts'
import {
  everyClaimHasEvent,
  holdRecord,
  type RecordTable,
  readRecord,
  recordPage,
  recordTables,
  writeRecord,
} from '../../db/queries/claims/claim-record.ts'
import { beginSnapshot } from '../../db/queries/exports/exports.ts'
import { UsageError } from '../../ops/cli.ts'

/** Mode of the file, whatever the umask allows: it holds what is not public. */
const ownerOnly = 0o600

/** The last line of the file; a file without it is incomplete. `sha256` is over all lines before it. */
const trailer = z.strictObject({ format: z.literal('claim-record/1'), rows: z.int(), sha256: z.string() })

/**
 * A line of the file, with the row as JSON exactly as the database wrote it: a proof may have U+2028 and U+2029 as they
 * are, which end a line for `node:readline` and for `.` without the flag `s`, and must come back as they are.
 */
const lineOf = (table: RecordTable, row: string) => `{"table":"${table}","row":${row}}\n`
const lineForm = new RegExp(`^\\{"table":"(${recordTables.join('|')})","row":(.*)\\}$`, 's')

/** All lines for the claim tables of the database, table by table. */
async function* linesOf(db: Queryable): AsyncGenerator<string> {
  for (const table of recordTables) {
    for await (const rows of readRecord(db, table)) for (const row of rows) yield lineOf(table, row)
  }
}

/**
 * Writes the whole record of claims to a new file that only its owner can read, from one snapshot of the database;
 * returns the number of rows. `db` is in a transaction of which this is the first use. Throws a UsageError when the file
 * exists already.
 */
export async function exportRecord(db: Queryable, path: string): Promise<number> {
  await beginSnapshot(db)
  const file = await open(path, 'wx', ownerOnly).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(error.code === 'EEXIST' ? `${path} is there already` : error.message)
  })
  const hash = createHash('sha256')
  let rows = 0
  try {
    for await (const line of linesOf(db)) {
      hash.update(line)
      await file.write(line)
      rows++
    }
    const last: z.output<typeof trailer> = { format: 'claim-record/1', rows, sha256: hash.digest('hex') }
    await file.write(`${JSON.stringify(last)}\n`)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
  return rows
}

/**
 * Imports a file's rows into a database without claims; returns the number of rows. Throws a UsageError when the file
 * is incomplete or the database has claims, and an error when the stored rows differ from those of the file: the caller
 * has to roll its transaction back.
 */
export async function importRecord(db: Queryable, path: string): Promise<number> {
  const { rows, sha256 } = await checkFile(path)
  const filled = await holdRecord(db)
  if (filled.length > 0) throw new UsageError(`the database has rows of ${filled.join(', ')}: import into an empty one`)
  let page: { readonly table: RecordTable; readonly rows: string[] } | undefined
  const flush = async () => {
    if (page) await writeRecord(db, page.table, page.rows)
    page = undefined
  }
  for await (const line of fileLines(path)) {
    const [, table, row] = lineForm.exec(line) ?? []
    if (!table || row === undefined) break // the trailer
    if (page && (page.table !== table || page.rows.length >= recordPage)) await flush()
    page ??= { table: table as RecordTable, rows: [] }
    page.rows.push(row)
  }
  await flush()
  if (!(await everyClaimHasEvent(db))) throw new Error(`${path} has a claim without the event that made it`)
  const hash = createHash('sha256')
  for await (const line of linesOf(db)) hash.update(line)
  if (hash.digest('hex') !== sha256) throw new Error(`what the database made of ${path} is not what the file has`)
  return rows
}

/** Characters of a line at most, many times those of a row: a file of something else may be one line, and any size. */
const lineLength = 16 * 1024 * 1024

/** Lines of a file, ended by \n and by nothing else. Throws at a line that is too long for a row. */
async function* fileLines(path: string): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of createReadStream(path, 'utf8')) {
    const lines = `${rest}${piece}`.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > lineLength) throw new Error(`a line is longer than ${lineLength} characters`)
    yield* lines
  }
  if (rest !== '') yield rest
}

/** Reads the file once and returns its trailer. Throws a UsageError when the file is incomplete or was changed. */
async function checkFile(path: string): Promise<z.output<typeof trailer>> {
  const hash = createHash('sha256')
  let rows = 0
  let last: string | undefined
  try {
    for await (const line of fileLines(path)) {
      if (last !== undefined) {
        hash.update(`${last}\n`)
        if (!lineForm.test(last)) throw new Error(`line ${rows + 1} is no row`)
        rows++
      }
      last = line
    }
    const end = trailer.parse(JSON.parse(last ?? ''))
    if (end.rows !== rows || end.sha256 !== hash.digest('hex')) throw new Error('it was changed')
    return end
  } catch (error) {
    throw new UsageError(`${path} is not a complete record of claims: ${(error as Error).message.split('\n')[0]}`)
  }
}
