import { openChainsFile, readChains } from '../chains.file.ts'
import { openDatabase } from '../db/open.ts'
import { createPool, inTransaction } from '../db/pool.ts'
import { readAt, Standby } from '../db/standby.ts'
import { runCommand } from '../ops/cli.ts'
import { untilStopSignal } from '../ops/stop.ts'
import { readSettings } from '../settings.read.ts'
import { openDisplay } from './display.ts'
import { options, readRequest } from './request.ts'
import { runExport } from './run.ts'

const usage = `
npm run export -- --what <what> --format <format> --out <folder> [--chain <chain>] [--since <time>] [--part-rows <n>]

Writes a view of the schema directory (docs/sql.md) to files, of one state of the database, and manifest.json beside
them: the columns with their types, and the rows, bytes and SHA-256 of each file. A file has its name once it is whole.

May be killed at any time: the same command goes on behind the last whole file, with the state of the database then;
the manifest says of which moment each file is. A folder holds one export.

--what       agents, settlements, registrations or claims
--format     ndjson, csv or parquet
--out        folder: empty, missing, or that of the same export
--chain      rows of this chain alone, as base; agents: those that hold an identity on it now
--since      rows of this ISO time or later: when an agent was changed, a settlement's block, the last event of a
             registration, when a claim was made. A date alone is its midnight in UTC
--part-rows  rows of a file at most: from 1 to 10000000 (1000000)

Reads at a standby where DATABASE_READ_URL names one that is fit; when it gives the export up, for the replay of what
happens at the primary, the rest is of the primary.

Reads DATABASE_URL, DATABASE_READ_URL, CHAINS_FILE: see .env.example.
`

await runCommand({ usage, options }, async ({ values }) => {
  readChains({ env: process.env, file: openChainsFile(process.env.CHAINS_FILE) })
  const { request, folder } = readRequest(values)
  untilStopSignal().then((signal) => {
    process.stderr.write(`${signal}: stopped; the same command goes on behind the last whole file\n`)
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
  const { DATABASE_URL, DATABASE_READ_URL } = readSettings('export', process.env).vars
  const database = await openDatabase(DATABASE_URL)
  const poolTo = (databaseUrl: string) => createPool({ databaseUrl, name: 'export', max: 1, statementTimeoutMs: 0 })
  const primary = poolTo(database.databaseUrl)
  const standby = DATABASE_READ_URL ? new Standby({ primary, pool: poolTo(DATABASE_READ_URL) }) : undefined
  const print = (begun: Parameters<Parameters<typeof runExport>[3]>[0]) =>
    openDisplay(request.what, begun, process.stdout)
  const exportFrom = (pool: Parameters<typeof inTransaction>[0]) =>
    inTransaction(pool, (client) => runExport(client, request, folder, print))
  try {
    const { rows, parts } = standby ? await readAt(standby, primary, exportFrom) : await exportFrom(primary)
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
    console.log(`${request.what}: ${rows} rows, ${bytes} bytes, in ${parts.length} files in ${folder}`)
  } finally {
    await standby?.end()
    await primary.end()
    await database.close()
  }
})
