import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { openChains, readChains } from '../../config/chains.file.ts'
import { readSettings } from '../../config/settings.check.ts'
import { runCommand, UsageError } from '../../ops/cli.ts'
import { dataOf } from '../../postgres/embedded.ts'
import { embeddedFolder, openExisting } from '../open.ts'
import { createPool } from '../pool.ts'
import { noteBackup } from '../queries/server/backup.ts'
import { contentsOf, writeContents } from './checklist.ts'
import { copyServer } from './copy-server.ts'

const usage = `
npm run backup -- --out <folder> [--contents]

Copies the embedded database, while it is in use, into a folder that is empty or missing: also that of npm start, with the
settings that it writes. The copy has everything that was committed before it ended. npm run restore starts it again and
checks it.

Any other server of DATABASE_URL is not copied: pg_basebackup, pgBackRest, Barman or its provider do that. With --contents the
command writes what a copy of it must hold, contents.json, which npm run restore compares a restored database with: run it
before the copy is made, and keep the file with it.

--out       the folder; a copy also holds the database's password
--contents  writes contents.json alone, which is no copy

Reads DATABASE_URL, CHAINS_FILE: see .env.example.
`

const options = { out: { type: 'string' }, contents: { type: 'boolean' } } as const

await runCommand({ usage, options }, async ({ values: { out, contents: isOnly } }) => {
  if (!out) throw new UsageError('--out must name a folder')
  if (existsSync(out) && (await readdir(out)).length > 0) throw new UsageError(`${out} is not empty`)
  readChains({ env: process.env, file: openChains(process.env) })
  const database = await openExisting(readSettings('migrate', process.env).vars.DATABASE_URL)
  const embedded = database.dataFolder ?? (await dataOf(database.databaseUrl, embeddedFolder))
  if (embedded === undefined && !isOnly) {
    await database.close()
    throw new Error(
      'nothing was copied: the server of DATABASE_URL is copied by pg_basebackup, pgBackRest, Barman or its provider; ' +
        `before each copy run: npm run backup -- --out ${out} --contents`,
    )
  }
  const dataFolder = isOnly ? undefined : embedded
  const pool = createPool({ databaseUrl: database.databaseUrl, name: 'backup', max: 1 })
  try {
    await mkdir(out, { recursive: true, mode: 0o700 })
    const contents = await contentsOf(pool)
    if (dataFolder !== undefined) await copyServer({ databaseUrl: database.databaseUrl, dataFolder }, out)
    await writeContents(out, contents) // last: a folder without it is no backup
    if (dataFolder !== undefined) await noteBackup(pool, new Date(contents.taken_at))
    const what = dataFolder === undefined ? 'what a copy of it must hold is' : 'a copy is'
    console.log(`${database.description}: ${what} in ${out}, with claims of ${contents.claims.length} accounts`)
  } finally {
    await pool.end()
    await database.close()
  }
})
