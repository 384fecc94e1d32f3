import { openChains } from '../../config/chains.file.ts'
import { openDatabase, openExisting } from '../../db/open.ts'
import { createPool } from '../../db/pool.ts'
import { refusePooler } from '../../db/pooler.ts'
import { runCommand } from '../../ops/cli.ts'
import { untilStopSignal } from '../../ops/stop.ts'
import { checkDatabase } from '../checks.ts'
import { readAllConfigs, readConfig } from './config.ts'
import { startWorker } from './workers.ts'

const usage = `
npm run backfill -- --chain <chain> --from <block> --to <block> [--workers <n>]
npm run backfill -- --chain <chain> --from <block> --to <block> --verify [--portal <url> | --gateway <url> | --rpc <url>]
npm run backfill -- --chain <chain> --from <block> --to <block> --abandon
npm run backfill -- --chain <chain> --plan [--from <block> --to <block>]
npm run backfill -- --all [--plan] [--workers <n>]

Loads the settlements of a range of final blocks, both ends included, from the chain's archive, or else the Portal, or else
its RPC endpoint. It uses --workers processes (default: one per core). Registrations and feedback are not loaded: the
chain's processor reads them from the registry's first block on, and from now on it skips the settlements of the range.

It may be killed at any time: run the same command again and it continues where it stopped. Ranges of different backfills
must not overlap; blocks of the range that the processor has already indexed are left to it. Rows loaded into an empty
partition become visible once it is full and indexed. At the end it prints a certificate of what was loaded.

--plan     prints what would be read, and estimates rows, disk and time from samples; writes nothing. Without --from and
           --to: for the chain's history before its processor begins
--all      loads the history before its processor begins, or whatever is missing of it, for every chain, smallest first. If
           a chain's source fails, the other chains are still loaded, and the failure is reported at the end
--verify   compares the table with the certificate, and with a second source if one is named: the Portal, the archive or an
           RPC endpoint. Exits with 1 if anything differs. How a selector was found is part of a row: a source without
           traces infers some that another one proves
--abandon  deletes what the backfill of exactly these blocks has loaded, and its reservation, so that the chain's processor
           or another backfill can load them. The processor must not be running, and must not have passed the blocks

Reads DATABASE_URL, CHAINS_FILE, PORTAL_URL, PORTAL_API_KEY, GATEWAY_<CHAIN>, RPC_<CHAIN>: see .env.example.
`
const options = {
  chain: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  workers: { type: 'string' },
  verify: { type: 'boolean' },
  abandon: { type: 'boolean' },
  plan: { type: 'boolean' },
  all: { type: 'boolean' },
  portal: { type: 'string' },
  gateway: { type: 'string' },
  rpc: { type: 'string' },
} as const

await runCommand({ usage, options }, async ({ values }) => {
  const { env } = process
  const file = openChains(env)
  const configs = values.all ? readAllConfigs(values, env, file) : [readConfig(values, env, file)]
  const [config] = configs
  if (!config) return void console.log('no chain has settlements before its processor begins')
  const isLoad = config.task === 'load' && !values.plan
  const workers = Array.from({ length: isLoad ? config.workers : 0 }, startWorker)
  untilStopSignal().then((signal) => {
    for (const worker of workers) worker.kill()
    process.stderr.write(`${signal}: stopped; run the same command again to continue after the last batch\n`)
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
  try {
    const database = isLoad ? await openDatabase(config.databaseUrl) : await openExisting(config.databaseUrl)
    await refusePooler(database.databaseUrl)
    const pool = createPool({
      databaseUrl: database.databaseUrl,
      name: values.all ? 'backfill' : `backfill ${config.chain.name}`,
      max: 4,
      statementTimeoutMs: 0, // building a partition's index can take long
    })
    const loading = { pool, databaseUrl: database.databaseUrl, workers }
    try {
      for (const { chain } of configs) await checkDatabase(pool, chain)
      const { runTask } = await import('./tasks/run.ts') // loads all that reads and writes blocks: --help must be quick
      await runTask(loading, configs, values, () => process.exit(1))
    } finally {
      await pool.end()
      await database.close()
    }
  } finally {
    for (const worker of workers) worker.kill()
  }
})
