import { openChainsFile } from '../../chains.file.ts'
import { openDatabase } from '../../db/open.ts'
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
npm run backfill -- --chain <chain> --legs
npm run backfill -- --chain <chain> --plan [--from <block> --to <block>]
npm run backfill -- --all [--plan] [--workers <n>]

Loads the settlements of a range of final blocks, both ends included, from the chain's archive, else the Portal, else
its RPC endpoint, with as many processes as workers (default: one a core). Registrations and feedback are not loaded:
the chain's processor reads them from the registry's first block on, and leaves the settlements of the range alone from
now on.

May be killed at any time: the same command goes on where it stood. Ranges of several backfills must not overlap; what
the processor has indexed of a range is left to it. A partition that was empty is shown to readers when it is full and indexed.
Ends with a certificate of what was loaded.

--plan     says what would be read, with rows, disk and time as estimated from samples, and writes nothing; without --from
           and --to: the chain's history before its processor begins
--all      loads that history of every chain, what is least first, whatever is missing of it; a chain whose source fails
           is told of at the end, and the others are loaded
--verify   compares the table with the certificate, and with a second source: the Portal, the archive or the RPC
           endpoint named. Ends with 1 when something differs. How a selector was found is part of a row: a source
           without traces infers some that another one proves.
--abandon  takes out what a backfill of exactly these blocks has loaded, and its reservation: the chain's processor, or
           another backfill, may load them then. The processor must not run, and must not have passed the blocks.
--legs     reads the blocks again that an earlier version had read before payments or builder codes were: what
           forwarders passed on, what contracts settled, and what calldata says about who had a part in it. Adds
           these and nothing else; ends with a certificate of the payments. The processor may run, and other
           backfills.

Reads DATABASE_URL, CHAINS_FILE, PORTAL_URL, PORTAL_API_KEY, GATEWAY_<CHAIN>, RPC_<CHAIN>: see .env.example.
`
const options = {
  chain: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  workers: { type: 'string' },
  verify: { type: 'boolean' },
  abandon: { type: 'boolean' },
  legs: { type: 'boolean' },
  plan: { type: 'boolean' },
  all: { type: 'boolean' },
  portal: { type: 'string' },
  gateway: { type: 'string' },
  rpc: { type: 'string' },
} as const

await runCommand({ usage, options }, async ({ values }) => {
  const { env } = process
  const file = openChainsFile(env.CHAINS_FILE)
  const configs = values.all ? readAllConfigs(values, env, file) : [readConfig(values, env, file)]
  const [config] = configs
  if (!config) return void console.log('no chain has settlements before its processor begins')
  const isLoad = config.task === 'load' && !values.plan
  const workers = Array.from({ length: isLoad ? config.workers : 0 }, startWorker)
  untilStopSignal().then((signal) => {
    for (const worker of workers) worker.kill()
    process.stderr.write(`${signal}: stopped; the same command goes on behind the last batch\n`)
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
  try {
    const database = await openDatabase(config.databaseUrl)
    await refusePooler(database.databaseUrl)
    const pool = createPool({
      databaseUrl: database.databaseUrl,
      name: values.all ? 'backfill' : `backfill ${config.chain.name}`,
      max: 4,
      statementTimeoutMs: 0, // a partition's index takes its time
    })
    const loading = { pool, databaseUrl: database.databaseUrl, workers }
    try {
      for (const { chain } of configs) await checkDatabase(pool, chain)
      const { runTask } = await import('./tasks/run.ts') // what reads and writes blocks: --help is to be quick
      await runTask(loading, configs, values, () => process.exit(1))
    } finally {
      await pool.end()
      await database.close()
    }
  } finally {
    for (const worker of workers) worker.kill()
  }
})
