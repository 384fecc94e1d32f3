import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openChainsFile, readChains } from '../chains.file.ts'
import { openDatabase } from '../db/open.ts'
import { createPool, inTransaction } from '../db/pool.ts'
import { tryLockExport } from '../db/queries/read/exports.ts'
import { readAt, Standby } from '../db/standby.ts'
import { runCommand, UsageError } from '../ops/cli.ts'
import { portOf, serveHealth } from '../ops/health.ts'
import { untilStopSignal } from '../ops/stop.ts'
import { exportPort } from '../settings.chains.ts'
import { readSettings } from '../settings.read.ts'
import { namesRead } from '../settings.ts'
import { options, readRequest, readServedRequest } from './request.ts'
import { paceOf } from './served/pace.ts'
import { startThread } from './served/writers.ts'

const usage = `
npm run export -- --what <what> --format <format> --out <folder> [--chain <chain>] [--since <time>] [--part-rows <n>]
npm run export -- --served [--every <minutes>] [--rows-per-second <n>]

Writes a view of the schema directory (docs/sql.md) to files, of one state of the database, and manifest.json beside
them: the columns with their types, and the rows, bytes and SHA-256 of each file. A file has its name once it is whole.

May be killed at any time: the same command goes on behind the last whole file, with the state of the database then;
the manifest says of which moment each file is. A folder holds one export.

--what       agents, settlements, registrations or claims; these with whole_proof, which verify-proof checks, on the claim
             that an account's proof is of
--format     ndjson, csv or parquet
--out        folder: empty, missing, or that of the same export
--chain      rows of this chain alone, as base; agents: those that hold an identity on it now
--since      rows of this ISO time or later: when an agent was changed, a settlement's block, the last event of a
             registration, when a claim was made. A date alone is its midnight in UTC
--part-rows  rows of a file at most: from 1 to 10000000 (1000000)

--served           brings EXPORT_DIR up to date instead, which the API serves under /exports (docs/exports.md): days
                   that are over and new or changed, and a snapshot of the rest if there is none of this UTC day
--every            minutes from the end of a round to the next one, from 1 to 1440, with /healthz, /readyz and /metrics
                   on METRICS_PORT. Without it there is one round
--rows-per-second  how fast it writes at most (50000)

Settlements that are archived (npm run archive) are read from the files in EXPORT_DIR, the others from the database.

Reads at a standby where DATABASE_READ_URL names one that is fit; when it gives the export up, for the replay of what
happens at the primary, the rest is of the primary. What is served is read at the primary.

Reads ${namesRead('export')}: see .env.example.
`

const poolTo = (databaseUrl: string, max: number) =>
  createPool({ databaseUrl, name: 'export', max, statementTimeoutMs: 0 })

await runCommand({ usage, options }, async ({ values: { served, ...values } }) => {
  const { vars, others: chains } = readSettings('export', process.env, () =>
    readChains({ env: process.env, file: openChainsFile(process.env.CHAINS_FILE) }),
  )
  const stopping = untilStopSignal()
  const terms = { serviceName: vars.SERVICE_NAME, siteUrl: vars.SITE_URL, baseUrl: vars.BASE_URL }
  if (served) {
    const { everyMinutes, rowsPerSecond } = readServedRequest(values)
    if (!vars.EXPORT_DIR) throw new UsageError('EXPORT_DIR must name the folder to write to')
    const folder = resolve(vars.EXPORT_DIR)
    endOn(stopping, 'what is missing is written by the next round')
    const registries = Object.fromEntries(
      Object.entries(chains).map(([name, { registry }]) => [name, registry.address]),
    )
    const { createHealth } = await import('./served/health.ts') // what writes and counts: --help is to be quick
    const { serveRound } = await import('./served/round.ts')
    const health = createHealth({ rowsPerSecond, everyMinutes, now: Date.now })
    if (everyMinutes !== undefined) {
      const server = await serveHealth(vars.HOST, vars.METRICS_PORT ?? exportPort, health)
      console.log(`health and metrics on port ${portOf(server)}`)
    }
    await withDatabase(async (databaseUrl) => {
      const pool = poolTo(databaseUrl, 2)
      for (;;) {
        await inTransaction(pool, async (lock) => {
          if (!(await tryLockExport(lock, folder))) throw new UsageError(`another process writes to ${folder}`)
          const writers = startThread(databaseUrl)
          health.began()
          const files = await serveRound({
            pool,
            writers,
            folder,
            pace: health.watched(paceOf(rowsPerSecond)),
            installation: { registries, baseUrl: vars.BASE_URL },
            terms,
            now: () => new Date(),
            tell: console.log,
          }).finally(() => writers.close())
          health.ended(files)
          console.log(`${folder}: ${files} new files`)
        })
        if (everyMinutes === undefined) return pool.end()
        await delay(everyMinutes * 60_000)
      }
    })
    return
  }
  if (values.every ?? values['rows-per-second']) throw new UsageError('--every and --rows-per-second go with --served')
  const { request, folder } = readRequest(values)
  endOn(stopping, 'the same command goes on behind the last whole file')
  const { openDisplay } = await import('./display.ts')
  const { runExport } = await import('./run.ts')
  const print: Parameters<typeof runExport>[3] = (begun) => openDisplay(request.what, begun, process.stdout)
  const exportFrom = (pool: Parameters<typeof inTransaction>[0]) =>
    inTransaction(pool, (client) => runExport(client, request, { folder, terms, served: vars.EXPORT_DIR }, print))
  await withDatabase(async (databaseUrl) => {
    const primary = poolTo(databaseUrl, 1)
    const { DATABASE_READ_URL: readUrl } = vars
    const standby = readUrl ? new Standby({ primary, pool: poolTo(readUrl, 1) }) : undefined
    try {
      const { rows, parts } = standby ? await readAt(standby, primary, exportFrom) : await exportFrom(primary)
      const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
      console.log(`${request.what}: ${rows} rows, ${bytes} bytes, in ${parts.length} files in ${folder}`)
    } finally {
      await standby?.end()
      await primary.end()
    }
  })

  async function withDatabase(work: (databaseUrl: string) => Promise<void>) {
    const database = await openDatabase(vars.DATABASE_URL)
    try {
      await work(database.databaseUrl)
    } finally {
      await database.close()
    }
  }
})

/** A stop signal ends the process at once: what is not whole has no name. */
function endOn(stopping: Promise<NodeJS.Signals>, goesOn: string): void {
  stopping.then((signal) => {
    process.stderr.write(`${signal}: stopped; ${goesOn}\n`)
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
}
