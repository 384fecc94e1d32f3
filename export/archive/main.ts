import { resolve } from 'node:path'
import { identityRegistriesOf, openChains, readChains, socialRegistriesOf } from '../../config/chains.file.ts'
import { readSettings } from '../../config/settings.check.ts'
import { namesRead } from '../../config/settings.ts'
import { openExisting } from '../../db/open.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { refusePooler } from '../../db/pooler.ts'
import { tryLockExport } from '../../db/queries/exports/exports.ts'
import { runCommand, UsageError } from '../../ops/cli.ts'
import { untilStopSignal } from '../../ops/stop.ts'
import { checkDatabase } from '../../processors/checks.ts'
import { paceOf } from '../served/pace.ts'
import type { Archive } from './archive.ts'
import { leastAgeDays, options, readArchiveRequest } from './request.ts'

const usage = `
npm run archive -- --chain <chain> --before <date> [--plan] [--rows-per-second <n>]
npm run archive -- --chain <chain> --check
npm run archive -- --chain <chain> --restore [--reload]

Moves old partitions of a chain's settlements out of the database, oldest first: those that end before the date, a day in UTC
at least ${leastAgeDays} days ago. From then on, their rows are only in the files under EXPORT_DIR (.data/exports; docs/exports.md).
The command first brings these files up to date, reads them back, and compares them with the table and with the certificates
of backfills and audits. Counts and income stay; lists of settlements say from when on they have rows. Reads and writes go on
meanwhile.

It may be killed at any time: run the same command again to continue. A partition that is not yet final, audited, loaded and
summed up is refused, with the command that fixes it. Keep EXPORT_DIR and back it up: the rows are nowhere else.

--plan             prints what would be moved out, with rows and bytes, and what prevents it; changes nothing
--rows-per-second  limits how fast files are written (50000)
--check            reads the files of all archived partitions and compares them with what was archived
--restore          brings the newest archived partition back from the files; one whose table is still there needs none
--reload           reads its settlements from the chain's archive, Portal or node again instead: the files are lost. They are
                   taken back only if they are exactly those that were archived

Reads ${namesRead('export')}, with --reload also ${namesRead('backfill')}: see .env.example.
`
await runCommand({ usage, options }, async ({ values }) => {
  const { vars, others: chains } = readSettings('export', process.env, () =>
    readChains({ env: process.env, file: openChains(process.env) }),
  )
  const request = readArchiveRequest(values, new Date())
  const chain = chains[request.chain]
  if (!chain) throw new UsageError(`${request.chain} is not an indexed chain`)
  const folder = resolve(vars.EXPORT_DIR)
  untilStopSignal().then((signal) => {
    process.stderr.write(`${signal}: stopped; run the same command again to continue\n`)
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
  const { serveRound } = await import('../served/round.ts') // imported late, so that --help is quick
  const { readerOf, runArchive } = await import('./run.ts')
  const database = await openExisting(vars.DATABASE_URL)
  await refusePooler(database.databaseUrl)
  const pool = createPool({
    databaseUrl: database.databaseUrl,
    name: `archive ${chain.name}`,
    max: 4,
    statementTimeoutMs: 0, // reading a partition takes long
  })
  const registries = identityRegistriesOf(chains)
  const { SERVICE_NAME: serviceName, SITE_URL: siteUrl, BASE_URL: baseUrl } = vars
  const portalKey = request.reload ? readSettings('backfill', process.env, () => {}).vars.PORTAL_API_KEY : undefined
  const archive: Archive = {
    pool,
    databaseUrl: database.databaseUrl,
    chain,
    folder,
    print: console.log,
    readAgain: readerOf(chain, portalKey, console.warn),
    serve: (untilDay, rewrite) =>
      serveRound({
        pool,
        folder,
        pace: paceOf(request.rowsPerSecond),
        installation: { registries, baseUrl },
        terms: { serviceName, siteUrl, baseUrl, registries: socialRegistriesOf(chains) },
        now: () => new Date(),
        tell: console.log,
        only: { chain: chain.name, untilDay, rewrite },
      }),
  }
  try {
    await checkDatabase(pool, chain)
    await inTransaction(pool, async (lock) => {
      if (!(await tryLockExport(lock, folder))) throw new UsageError(`another process writes to ${folder}`)
      await runArchive(archive, request)
    })
  } finally {
    await pool.end()
    await database.close()
  }
})
