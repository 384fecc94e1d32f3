import { openChainsFile, readChains } from '../chains.file.ts'
import { runCommand } from '../ops/cli.ts'
import { readSettings } from '../settings.check.ts'
import { migrate } from './migrate.ts'
import { openDatabase } from './open.ts'

const usage = `
npm run migrate

Migrates the database that DATABASE_URL names (unset: the embedded one under .data/) to the newest schema, and prints each
migration it applies. Several may run at once: the others wait. A migration that does not get its locks is retried for ten
minutes. Exits with 1 if a migration fails (that one is rolled back), if an applied migration has changed since, or if the
database is newer than this program.

Then it updates what the database has of the chain table: a new chain gets its tables.

Reads DATABASE_URL, CHAINS_FILE: see .env.example.
`

await runCommand({ usage }, async () => {
  readChains({ env: process.env, file: openChainsFile(process.env.CHAINS_FILE) })
  const database = await openDatabase(readSettings('migrate', process.env).vars.DATABASE_URL)
  try {
    const ran = [
      ...database.migrated,
      ...(await migrate(database.databaseUrl, { onNotice: (text) => console.error(text) })),
    ]
    for (const name of ran) console.log(`applied ${name}`)
    console.log(`${database.description}: ${ran.length === 0 ? 'nothing to do' : `${ran.length} applied`}`)
  } finally {
    await database.close()
  }
})
