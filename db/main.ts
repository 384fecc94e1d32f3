import { openChains, readChains } from '../config/chains.file.ts'
import { readSettings } from '../config/settings.check.ts'
import { runCommand } from '../ops/cli.ts'
import { migrate } from './migrate.ts'
import { openDatabase } from './open.ts'
import { untilServerAnswers } from './server-wait.ts'

const usage = `
npm run migrate -- [--wait]

Brings the database that DATABASE_URL names (unset: the embedded one under .data/) to the newest schema, and prints what it
applies: an empty database gets the schema, another one the migrations it lacks, and both the views whose text is new. Several
may run at once: the others wait. What does not get its locks is retried for ten minutes. Exits with 1 if a migration fails
(that one is rolled back), if an applied migration has changed since, if the database is newer than this program, or if it is
too old to go on from.

--wait: waits for as long as the server of DATABASE_URL cannot be reached or is starting up, as after a power cut.

Then it updates what the database has of the chain table: a new chain gets its tables.

Reads DATABASE_URL, CHAINS_FILE: see .env.example.
`

await runCommand({ usage, options: { wait: { type: 'boolean' } } }, async ({ values }) => {
  readChains({ env: process.env, file: openChains(process.env) })
  const database = await openDatabase(readSettings('migrate', process.env).vars.DATABASE_URL)
  const onNotice = (text: string) => console.error(text)
  try {
    if (values.wait) await untilServerAnswers(database.databaseUrl, onNotice)
    const ran = [...database.migrated, ...(await migrate(database.databaseUrl, { onNotice }))]
    for (const name of ran) console.log(`applied ${name}`)
    console.log(`${database.description}: ${ran.length === 0 ? 'nothing to do' : `${ran.length} applied`}`)
  } finally {
    await database.close()
  }
})
