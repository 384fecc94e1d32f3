import { resolve } from 'node:path'
import { identityRegistriesOf, openChains, readChains, socialRegistriesOf } from '../config/chains.file.ts'
import { exportPort } from '../config/settings.chains.ts'
import { readSettings } from '../config/settings.check.ts'
import { namesRead } from '../config/settings.ts'
import { openExisting } from '../db/open.ts'
import { createPool, inTransaction } from '../db/pool.ts'
import { readAt, Standby } from '../db/standby.ts'
import { runCommand, UsageError } from '../ops/cli.ts'
import { portOf, serveHealth } from '../ops/health.ts'
import { untilStopSignal } from '../ops/stop.ts'
import { options, readRequest, readServedRequest } from './request.ts'
import { paceOf } from './served/pace.ts'

const usage = `
npm run export -- --what <what> --format <format> --out <folder> [--chain <chain>] [--since <time>] [--part-rows <n>]
npm run export -- --served [--every <minutes>] [--rows-per-second <n>]

Writes a view of the schema directory (docs/sql.md) to files, all from one state of the database; settlements take a newer
state for each file. manifest.json has the columns with types and meanings, and rows, bytes and SHA-256 of each file. A file gets its name only when it is complete.

It may be killed at any time: run the same command again and it continues after the last complete file, with the state of the
database at that time; the manifest says of what time each file is. A folder holds one export.

--what       agents, settlements, registrations, claims or flagged_addresses (CC0). In claims, the claim that
             an account's published proof is for has whole_proof, which npm run verify-proof checks
--format     ndjson, csv or parquet
--out        folder: empty, missing, or holding the same export
--chain      only rows of this chain, for example base; for agents: those that hold an identity on it now
--since      only rows from this ISO time on, by when an agent changed, a settlement's block, a registration's last event,
             when a claim was made, or since when an address is flagged. A date alone means midnight UTC
--part-rows  most rows in one file: from 1 to 10000000 (1000000)

--served           updates EXPORT_DIR (.data/exports) instead, which the API serves under /exports (docs/exports.md):
                   finished days that are new or changed, and a snapshot of everything else if this UTC day has none yet
--every            repeats: minutes from the end of a round to the next one, from 1 to 1440, with /healthz, /readyz and
                   /metrics on METRICS_PORT. Without it there is one round
--rows-per-second  limits how fast it writes (50000)

Archived settlements (npm run archive) are read from the files in EXPORT_DIR, all others from the database.

If DATABASE_READ_URL names a standby that is fit, it is read there; if the standby cancels the export to keep up with the
primary, the rest is read from the primary. --served always reads from the primary.

Reads ${namesRead('export')}: see .env.example.
`

const poolTo = (databaseUrl: string, max: number) =>
  createPool({ databaseUrl, name: 'export', max, statementTimeoutMs: 0 })

await runCommand({ usage, options }, async ({ values: { served, ...values } }) => {
  const settings = readExportSettings()
  const stopping = untilStopSignal()
  if (served) return serve(settings, values, stopping)
  if (values.every ?? values['rows-per-second']) throw new UsageError('--every and --rows-per-second go with --served')
  await exportView(settings, values, stopping)
})

function readExportSettings() {
  const { vars, others: chains } = readSettings('export', process.env, () =>
    readChains({ env: process.env, file: openChains(process.env) }),
  )
  const { SERVICE_NAME: serviceName, SITE_URL: siteUrl, BASE_URL: baseUrl } = vars
  const terms = { serviceName, siteUrl, baseUrl, registries: socialRegistriesOf(chains) }
  return { vars, chains, terms, folder: resolve(vars.EXPORT_DIR) }
}
type Settings = ReturnType<typeof readExportSettings>

/** Updates the files that the API serves: one round, or rounds until the process is asked to stop. */
async function serve(
  { vars, chains, terms, folder }: Settings,
  values: Parameters<typeof readServedRequest>[0],
  stopping: Promise<NodeJS.Signals>,
): Promise<void> {
  const { everyMinutes, rowsPerSecond } = readServedRequest(values)
  endOn(stopping, 'what is missing is written by the next round')
  const registries = identityRegistriesOf(chains)
  const { createHealth } = await import('./served/health.ts') // imported late, so that --help is quick
  const { runRounds } = await import('./served/schedule.ts')
  const health = createHealth({ rowsPerSecond, everyMinutes, now: Date.now })
  if (everyMinutes !== undefined) {
    const server = await serveHealth(vars.HOST, vars.METRICS_PORT ?? exportPort, health)
    console.log(`health and metrics on port ${portOf(server)}`)
  }
  await withDatabase(vars.DATABASE_URL, async (databaseUrl) => {
    const pool = poolTo(databaseUrl, 4)
    await runRounds({
      pool,
      folder,
      everyMinutes,
      health,
      pace: health.watched(paceOf(rowsPerSecond)),
      installation: { registries, baseUrl: vars.BASE_URL },
      terms,
      now: () => new Date(),
      tell: console.log,
    })
    await pool.end()
  })
}

/** Writes a view to a folder. */
async function exportView(
  { vars, terms, folder: served }: Settings,
  values: Parameters<typeof readRequest>[0],
  stopping: Promise<NodeJS.Signals>,
): Promise<void> {
  const { request, folder } = readRequest(values)
  endOn(stopping, 'run the same command again to continue after the last complete file')
  const { openDisplay } = await import('./display.ts')
  const { runExport } = await import('./run.ts')
  let display: ReturnType<typeof openDisplay> | undefined
  const print: Parameters<typeof runExport>[3] = (begun) => {
    display ??= openDisplay(request.what, begun, process.stdout)
    return { update: display.update, stop() {} }
  }
  // Years of settlements take hours, and while a snapshot is held no dead row of any table is removed.
  const mostParts = request.what === 'settlements' ? 1 : Number.POSITIVE_INFINITY
  const exportFrom = (pool: Parameters<typeof inTransaction>[0]) =>
    inTransaction(pool, (client) => runExport(client, request, { folder, terms, served, mostParts }, print))
  await withDatabase(vars.DATABASE_URL, async (databaseUrl) => {
    const primary = poolTo(databaseUrl, 1)
    const { DATABASE_READ_URL: readUrl } = vars
    const standby = readUrl ? new Standby({ primary, pool: poolTo(readUrl, 1) }) : undefined
    try {
      const next = () => (standby ? readAt(standby, primary, exportFrom) : exportFrom(primary))
      let manifest = await next()
      while (!manifest.complete) manifest = await next()
      display?.stop()
      const { rows, parts } = manifest
      const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
      console.log(`${request.what}: ${rows} rows, ${bytes} bytes, in ${parts.length} files in ${folder}`)
    } finally {
      display?.stop()
      await standby?.end()
      await primary.end()
    }
  })
}

async function withDatabase(url: string | undefined, work: (databaseUrl: string) => Promise<void>): Promise<void> {
  const database = await openExisting(url)
  try {
    await work(database.databaseUrl)
  } finally {
    await database.close()
  }
}

/**
 * Exits at once on a stop signal, which is safe: incomplete files have only temporary names. `goesOn`: how to resume.
 */
function endOn(stopping: Promise<NodeJS.Signals>, goesOn: string): void {
  stopping.then((signal) => {
    process.stderr.write(`${signal}: stopped; ${goesOn}\n`)
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
}
