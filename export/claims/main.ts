import { openChainsFile, readChains } from '../../chains.file.ts'
import { openDatabase } from '../../db/open.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { runCommand, UsageError } from '../../ops/cli.ts'
import { readSettings } from '../../settings.read.ts'
import { exportRecord, importRecord } from './record.ts'

const usage = `
npm run claims -- export <file>
npm run claims -- import <file>

Everything about claims that neither a chain nor a hub can give back: the claims with what was signed, all that became of
them, what owners said since, and the messages and keys behind them as they were then. The file is for whoever runs the
service: it has what is not public yet, and accounts that left.

export  writes them to a file that is not there yet, of one state of the database
import  writes them into a database that has none, as npm run migrate leaves one, before its other processes start. What
        the database has then is compared with the file, and the whole is undone where a byte differs

Reads DATABASE_URL, CHAINS_FILE: see .env.example.
`

await runCommand({ usage, maxPositionals: 2 }, async ({ positionals: [action, file] }) => {
  if (action !== 'export' && action !== 'import')
    throw new UsageError(`${action ?? 'no action'} is neither export nor import (--help shows what is there)`)
  if (!file) throw new UsageError(`name the file to ${action} (--help shows what is there)`)
  readChains({ env: process.env, file: openChainsFile(process.env.CHAINS_FILE) })
  const database = await openDatabase(readSettings('export', process.env).vars.DATABASE_URL)
  const pool = createPool({ databaseUrl: database.databaseUrl, name: 'claims', max: 1, statementTimeoutMs: 0 })
  try {
    const run = action === 'export' ? exportRecord : importRecord
    const rows = await inTransaction(pool, (db) => run(db, file))
    console.log(`${rows} rows ${action === 'export' ? 'in' : 'from'} ${file}`)
  } finally {
    await pool.end()
    await database.close()
  }
})
