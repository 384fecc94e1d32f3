import { openChains, readChains } from '../../config/chains.file.ts'
import { readSettings } from '../../config/settings.check.ts'
import { readContents } from '../../db/backup/checklist.ts'
import { endRestore, placeBackup } from '../../db/backup/copy-server.ts'
import { embeddedFolder, openDatabase } from '../../db/open.ts'
import { createPool } from '../../db/pool.ts'
import { runCommand, UsageError } from '../../ops/cli.ts'

const usage = `
npm run restore -- --from <folder>

Restores a backup made by npm run backup as the embedded database, and starts it. No embedded database may exist yet. The
log of changes gets a new epoch. Then it checks that all claims of the backup are there, that the log has every agent, and
that the settlements of all certified blocks match their certificates. Exits with 1 if anything is wrong; the database is
kept either way. If it was interrupted, run it again: until then nothing else opens that database.

With DATABASE_URL, it does the same to that database, which you have restored by other means; the folder holds contents.json.

Reads DATABASE_URL, CHAINS_FILE: see .env.example.
`

await runCommand({ usage, options: { from: { type: 'string' } } }, async ({ values: { from } }) => {
  if (!from) throw new UsageError('--from must name a folder')
  readChains({ env: process.env, file: openChains(process.env) })
  const { DATABASE_URL } = readSettings('migrate', process.env).vars
  const contents = await readContents(from)
  const { checkRestored } = await import('./check.ts') // loads the certifying code: --help must be quick
  if (DATABASE_URL === undefined) await placeBackup(from, embeddedFolder)
  const database = await openDatabase(DATABASE_URL, undefined, 'restore', contents.database)
  const pool = createPool({ databaseUrl: database.databaseUrl, name: 'restore', max: 1, statementTimeoutMs: 0 })
  try {
    const wrong = await checkRestored(pool, contents, (line) => console.log(line))
    if (DATABASE_URL === undefined) await endRestore(embeddedFolder)
    const problems = wrong.length === 1 ? '1 thing differs' : `${wrong.length} things differ`
    if (wrong.length > 0) throw new Error(`${database.description}: ${problems} from the backup`)
    console.log(`${database.description}: everything of ${contents.taken_at} is there`)
  } finally {
    await pool.end()
    await database.close()
  }
})
