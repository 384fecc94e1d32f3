import { readFile, writeFile } from 'node:fs/promises'
import { runCommand } from '../../ops/cli.ts'
import { readSettings } from '../../settings.read.ts'
import { openDatabase } from '../open.ts'
import { createPool } from '../pool.ts'
import { contractOf, lostFrom } from './contract.ts'
import { sqlDocument } from './document.ts'
import { samples } from './samples.ts'
import { tableSizes } from './sizes.ts'
import { directoryComment, directoryViews, planOf } from './views.ts'

const usage = `
npm run docs:sql [-- --plans]

Writes docs/sql.md from the comments of the schema directory, and the record of its columns, db/contract/directory.json.
Ends with 1, writing nothing, when a recorded column is gone or changed. --plans: asks the sample questions again and
records their plans, db/contract/plans.json; for a database with as much in it as a real one.

Reads DATABASE_URL: see .env.example.
`

await runCommand({ usage, options: { plans: { type: 'boolean' } } }, async ({ values }) => {
  const record = new URL('directory.json', import.meta.url)
  const planRecord = new URL('plans.json', import.meta.url)
  const database = await openDatabase(readSettings('migrate', process.env).vars.DATABASE_URL)
  const pool = createPool({ databaseUrl: database.databaseUrl, name: 'docs:sql', max: 1 })
  try {
    const views = await directoryViews(pool)
    const present = contractOf(views)
    const lost = lostFrom(JSON.parse(await readFile(record, 'utf8')), present)
    if (lost.length > 0) throw new Error(`columns of the contract may not go or change: ${lost.join(', ')}`)
    await writeFile(record, `${JSON.stringify(present, null, 2)}\n`)
    if (values.plans) {
      const plans: Record<string, string> = {}
      for (const { question, sql } of samples) plans[question] = await planOf(pool, sql)
      await writeFile(planRecord, `${JSON.stringify({ rows: await tableSizes(pool), plans }, null, 2)}\n`)
    }
    const plans = JSON.parse(await readFile(planRecord, 'utf8'))
    const document = sqlDocument({ comment: await directoryComment(pool), views, samples, plans })
    await writeFile(new URL('../../docs/sql.md', import.meta.url), document)
  } finally {
    await pool.end()
    await database.close()
  }
})
