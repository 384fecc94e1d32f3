import { openChains, readChains } from '../../config/chains.file.ts'
import { readSettings } from '../../config/settings.check.ts'
import { openExisting } from '../../db/open.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { runCommand, UsageError } from '../../ops/cli.ts'
import { exportRecord, importRecord } from './record.ts'

const usage = `
npm run claims -- export <file>
npm run claims -- import <file>

Saves or restores everything about claims that neither a chain nor a hub can give back: the claims with what was signed,
what became of them, what owners have said since, and the messages and keys behind them as they were then. Keep the file
private: it contains what is not public yet, and accounts that left.

export  writes a new file, from one consistent state of the database
import  reads the file into a database that has no claims yet: run it after npm run migrate and before the other processes
        start. Afterwards it compares the database with the file, and undoes everything if a single byte differs

Reads DATABASE_URL, CHAINS_FILE: see .env.example.
`

await runCommand({ usage, maxPositionals: 2 }, async ({ positionals: [action, file] }) => {
  if (action !== 'export' && action !== 'import')
    throw new UsageError(`${action ?? 'no action'} is neither export nor import (see --help)`)
  if (!file) throw new UsageError(`name the file to ${action} (see --help)`)
  readChains({ env: process.env, file: openChains(process.env) })
  const database = await openExisting(readSettings('export', process.env).vars.DATABASE_URL)
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
