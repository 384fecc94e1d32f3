import { openChainsFile } from '../../chains.file.ts'
import { openDatabase } from '../../db/open.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { refusePooler } from '../../db/pooler.ts'
import { readShards } from '../../db/queries/chain/backfill.ts'
import { tallyPaymentsWithin } from '../../db/queries/chain/payments/payments.ts'
import { runCommand } from '../../ops/cli.ts'
import { untilStopSignal } from '../../ops/stop.ts'
import { checkDatabase } from '../checks.ts'
import { rememberContracts } from '../contracts.ts'
import { wantedOf } from '../history/history.ts'
import { openHistory } from '../history/sources.ts'
import { Refusal } from '../refusal.ts'
import { refuseBackfill } from '../scope/scope.ts'
import { commandWaitMs, lockForProcessor } from '../store/lock.ts'
import { abandonRange } from './abandon.ts'
import { loadAll } from './all/load.ts'
import { planOf, printPlan } from './all/plan.ts'
import { finalHeightOf, loadRange } from './all/range.ts'
import { certificateOf, joinCertificates, printCertificate } from './certificate.ts'
import { type BackfillConfig, readAllConfigs, readConfig } from './config.ts'
import { openDisplay, type ShardProgress } from './display.ts'
import { passOverPayments } from './legs/pass.ts'
import { findBackfill } from './reservation.ts'
import { certifySource, differences, tallyStored } from './verify.ts'
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
      if (values.plan) printPlan(await planOf(pool, configs), config.workers)
      else if (values.all) await loadAll(loading, configs)
      else if (config.task === 'verify') await verify(pool, config)
      else if (config.task === 'legs') await findLegs(pool, config)
      else if (config.task === 'abandon') await abandon(pool, database.databaseUrl, config)
      else {
        await rememberContracts(pool, config.chain)
        await refuseBackfill(pool, config.chain, config.scope)
        const openOwn = (shards: readonly ShardProgress[]) => openDisplay(config.chain.name, shards, process.stdout)
        await loadRange({ ...loading, openDisplay: openOwn }, config)
      }
    } finally {
      await pool.end()
      await database.close()
    }
  } finally {
    for (const worker of workers) worker.kill()
  }
})

async function findLegs(pool: ReturnType<typeof createPool>, config: BackfillConfig): Promise<void> {
  const finalHeight = await finalHeightOf(config)
  const print = (line: string) => console.log(line)
  await passOverPayments({ pool, config, finalHeight, print, warn: (text) => console.error(text) })
}

async function abandon(
  pool: ReturnType<typeof createPool>,
  databaseUrl: string,
  { chain, fromBlock, toBlock }: BackfillConfig,
): Promise<void> {
  const lock = await lockForProcessor(databaseUrl, chain, {
    waitMs: commandWaitMs,
    onLost(error) {
      process.stderr.write(`lost the connection that keeps processors of ${chain.name} away: ${error.message}\n`)
      process.exit(1)
    },
  })
  const settlements = await abandonRange(pool, chain, { fromBlock, toBlock })
  await lock.release()
  console.log(
    `${chain.name}: blocks ${fromBlock} to ${toBlock} are nobody's, ${settlements} settlements deleted; ` +
      'its processor loads them when it gets there, or another backfill does',
  )
}

async function verify(pool: ReturnType<typeof createPool>, config: BackfillConfig): Promise<void> {
  const { chain, fromBlock, toBlock, second } = config
  const name = `the backfill of blocks ${fromBlock} to ${toBlock} of ${chain.name}`
  const range = await findBackfill(pool, chain, config)
  if (!range.completedAt) throw new Refusal(`${name} is not complete; run it to its end first`)
  const problems: string[] = []
  const shards = await readShards(pool, range.id)
  const warn = (text: string) => console.error(text)
  const history = second && openHistory(second, wantedOf(chain))
  for (const shard of shards) {
    const certified = certificateOf(shard)
    const line = printCertificate(chain.name, certified)
    const table = await inTransaction(pool, (client) => tallyStored(client, chain.name, shard))
    const paid = await tallyPaymentsWithin(pool, chain.name, { fromBlock: shard.firstBlock, toBlock: shard.lastBlock })
    const wrong = table
      ? differences(certified, { ...table, ...paid })
      : ['a row has another shape than those that were loaded']
    console.log(`the table ${wrong.length === 0 ? 'holds' : 'does not hold'} ${line}`)
    problems.push(...wrong.map((text) => `the table: ${text}`))
    if (!history) continue
    const other = differences(certified, await certifySource(history, config, shard, warn))
    console.log(`${history.name} ${other.length === 0 ? 'says the same' : 'says something else'}`)
    problems.push(...other.map((text) => `${history.name}: ${text}`))
  }
  joinCertificates(shards)
  if (problems.length > 0) throw new Refusal(`${name} does not hold: ${problems.join('; ')}`)
}
