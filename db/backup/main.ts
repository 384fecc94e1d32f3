import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { openChainsFile, readChains } from '../../chains.file.ts'
import { runCommand, UsageError } from '../../ops/cli.ts'
import { readSettings } from '../../settings.check.ts'
import { openExisting } from '../open.ts'
import { createPool } from '../pool.ts'
import { noteBackup } from '../queries/server/backup.ts'
import { contentsOf, writeContents } from './checklist.ts'
import { copyServer } from './copy-server.ts'

const usage = `
npm run backup -- --out <folder>

Copies the embedded database, while it is in use, into a folder that is empty or missing. The copy has everything that was
committed before it ended. npm run restore starts it again and checks it.

With DATABASE_URL it writes only contents.json, which npm run restore compares a restored database with. Run it before
pg_basebackup, or whatever else copies that server, and keep the file with the copy.

--out  the folder; it will also hold the database's password

Reads DATABASE_URL, CHAINS_FILE: see .env.example.
`

await runCommand({ usage, options: { out: { type: 'string' } } }, async ({ values: { out } }) => {
  if (!out) throw new UsageError('--out must name a folder')
  if (existsSync(out) && (await readdir(out)).length > 0) throw new UsageError(`${out} is not empty`)
  readChains({ env: process.env, file: openChainsFile(process.env.CHAINS_FILE) })
  const database = await openExisting(readSettings('migrate', process.env).vars.DATABASE_URL)
  const pool = createPool({ databaseUrl: database.databaseUrl, name: 'backup', max: 1 })
  try {
    await mkdir(out, { recursive: true, mode: 0o700 })
    const contents = await contentsOf(pool)
    const { databaseUrl, dataFolder } = database
    if (dataFolder !== undefined) await copyServer({ databaseUrl, dataFolder }, out)
    await writeContents(out, contents) // last: a folder without it is no backup
    if (dataFolder !== undefined) await noteBackup(pool, new Date(contents.taken_at))
    const what = dataFolder === undefined ? 'what a copy of it must hold is' : 'a copy is'
    console.log(`${database.description}: ${what} in ${out}, with claims of ${contents.claims.length} accounts`)
  } finally {
    await pool.end()
    await database.close()
  }
})
