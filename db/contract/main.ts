import { readFile, writeFile } from 'node:fs/promises'
import { readSettings } from '../../config/settings.check.ts'
import { runCommand } from '../../ops/cli.ts'
import { openDatabase } from '../open.ts'
import { createPool } from '../pool.ts'
import { sqlDocument } from './document.ts'
import { samples, subjects } from './questions.ts'
import {
  contractOf,
  directoryComment,
  directoryFunctions,
  directoryViews,
  lostFrom,
  type Read,
  readOf,
  tableSizes,
} from './views.ts'

const usage = `
npm run docs:sql [-- --reads]

Writes docs/sql.md from the comments on the schema directory, and records its columns in db/contract/directory.json. Exits
with 1, writing nothing, if a recorded column is gone or changed.

--reads  runs the example queries again and records what they cost in db/contract/reads.json. Use a database as full as a
         real one, such as npm run bench -- reads --keep leaves open

Reads DATABASE_URL: see .env.example.
`

await runCommand({ usage, options: { reads: { type: 'boolean' } } }, async ({ values }) => {
  const record = new URL('directory.json', import.meta.url)
  const readRecord = new URL('reads.json', import.meta.url)
  const database = await openDatabase(readSettings('migrate', process.env).vars.DATABASE_URL)
  const pool = createPool({ databaseUrl: database.databaseUrl, name: 'docs:sql', max: 1 })
  try {
    const views = await directoryViews(pool)
    const functions = await directoryFunctions(pool)
    const present = contractOf(views, functions)
    const lost = lostFrom(JSON.parse(await readFile(record, 'utf8')), present)
    if (lost.length > 0) throw new Error(`columns of the contract may not go or change: ${lost.join(', ')}`)
    await writeFile(record, `${JSON.stringify(present, null, 2)}\n`)
    if (values.reads) {
      const reads: Record<string, Read> = {}
      for (const { question, sql } of samples) reads[question] = await readOf(pool, sql)
      await writeFile(readRecord, `${JSON.stringify({ rows: await tableSizes(pool), reads }, null, 2)}\n`)
    }
    const reads = JSON.parse(await readFile(readRecord, 'utf8'))
    const document = sqlDocument({ comment: await directoryComment(pool), views, functions, subjects, reads })
    await writeFile(new URL('../../docs/sql.md', import.meta.url), document)
  } finally {
    await pool.end()
    await database.close()
  }
})
