import { openChainsFile } from '../../chains.file.ts'
import { openDatabase } from '../../db/open.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { readShards, tryLockBackfill } from '../../db/queries/chain/backfill.ts'
import { readChainState } from '../../db/queries/chain/chain-state.ts'
import { describeError, runCommand, UsageError } from '../../ops/cli.ts'
import { untilStopSignal } from '../../ops/stop.ts'
import { checkDatabase } from '../checks.ts'
import { rememberContracts } from '../contracts.ts'
import { wantedOf } from '../history/history.ts'
import { openHistory } from '../history/sources.ts'
import { Refusal } from '../refusal.ts'
import { refuseBackfill } from '../scope/scope.ts'
import { commandWaitMs, lockForProcessor } from '../store/lock.ts'
import { abandonRange } from './abandon.ts'
import { certificateOf, joinCertificates, printCertificate } from './certificate.ts'
import { type BackfillConfig, readConfig } from './config.ts'
import { estimate } from './estimate.ts'
import { passOverPayments } from './legs/pass.ts'
import { runLoad } from './load.ts'
import { findBackfill, reserveRange } from './reservation.ts'
import { certifySource, differences, tallyTable } from './verify.ts'
import { startWorker, type Worker } from './workers.ts'

const usage = `
npm run backfill -- --chain <chain> --from <block> --to <block> [--workers <n>]
npm run backfill -- --chain <chain> --from <block> --to <block> --verify [--portal <url> | --gateway <url> | --rpc <url>]
npm run backfill -- --chain <chain> --from <block> --to <block> --abandon
npm run backfill -- --chain <chain> --legs

Loads the settlements of a range of final blocks, both ends included, from the chain's archive, else the Portal, else
its RPC endpoint, with as many processes as workers (default: one a core). Registrations and feedback are not loaded:
the chain's processor reads them from the registry's first block on, and leaves the settlements of the range alone from
now on.

May be killed at any time: the same command goes on where it stood. Ranges of several backfills must not overlap; what
the processor has indexed of a range is left to it. A partition that was empty is shown to readers when it is full and indexed.
Ends with a certificate of what was loaded.

--verify   compares the table with the certificate, and with a second source: the Portal, the archive or the RPC
           endpoint named. Ends with 1 when something differs. How a selector was found is part of a row: a source
           without traces infers some that another one proves.
--abandon  takes out what a backfill of exactly these blocks has loaded, and its reservation: the chain's processor, or
           another backfill, may load them then. The processor must not run, and must not have passed the blocks.
--legs     reads the blocks again that an earlier version had read before payments were: what forwarders passed on, and
           what contracts settled. Adds these payments and nothing else; ends with a certificate of them. The
           processor may run, and other backfills.

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
  portal: { type: 'string' },
  gateway: { type: 'string' },
  rpc: { type: 'string' },
} as const

await runCommand({ usage, options }, async ({ values }) => {
  const { env } = process
  const config = readConfig(values, env, openChainsFile(env.CHAINS_FILE))
  const workers = Array.from({ length: config.task === 'load' ? config.workers : 0 }, startWorker)
  untilStopSignal().then((signal) => {
    for (const worker of workers) worker.kill()
    process.stderr.write(`${signal}: stopped; the same command goes on behind the last batch\n`)
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
  try {
    const database = await openDatabase(config.databaseUrl)
    const pool = createPool({
      databaseUrl: database.databaseUrl,
      name: `backfill ${config.chain.name}`,
      max: 4,
      statementTimeoutMs: 0, // a partition's index takes its time
    })
    try {
      await checkDatabase(pool, config.chain)
      if (config.task === 'verify') await verify(pool, config)
      else if (config.task === 'legs') await findLegs(pool, config)
      else if (config.task === 'abandon') await abandon(pool, database.databaseUrl, config)
      else {
        await rememberContracts(pool, config.chain)
        await refuseBackfill(pool, config.chain, config.scope)
        await load(pool, database.databaseUrl, config, workers)
      }
    } finally {
      await pool.end()
      await database.close()
    }
  } finally {
    for (const worker of workers) worker.kill()
  }
})

async function load(
  pool: ReturnType<typeof createPool>,
  databaseUrl: string,
  config: BackfillConfig,
  workers: Worker[],
): Promise<void> {
  const { chain } = config
  const { history, finalHeight } = await openSource(config)
  if (config.toBlock > finalHeight) {
    throw new UsageError(
      `--to ${config.toBlock} is not final yet: the newest final block of ${history.name} is ${finalHeight}`,
    )
  }
  const expected = await estimate(history, config)
  const reservation = await reserveRange(pool, chain, config, config.workers, expected?.density)
  const { id, fromBlock, toBlock, isNew, isComplete } = reservation
  const session = await pool.connect()
  try {
    if (!(await tryLockBackfill(session, id))) {
      throw new Refusal(`another process runs the backfill of blocks ${fromBlock} to ${toBlock} of ${chain.name}`)
    }
    if (fromBlock > config.fromBlock) {
      console.log(`blocks ${config.fromBlock} to ${fromBlock - 1} are the processor's, which has indexed them itself`)
    }
    const task = `the settlements of blocks ${fromBlock} to ${toBlock} of ${chain.name} from ${history.name}`
    if (isComplete) console.log(`all ${task} are loaded already`)
    else {
      console.log(`${isNew ? 'loading' : 'going on with'} ${task}; ${describe(expected)}`)
      const spare = [...workers]
      const nextWorker = () => {
        const ready = spare.pop()
        if (ready) return ready
        const worker = startWorker()
        workers.push(worker)
        return worker
      }
      await runLoad({ config, pool, databaseUrl, backfillId: id, finalHeight, nextWorker, out: process.stdout })
    }
    const shards = await readShards(pool, id)
    for (const shard of shards) console.log(`certificate: ${printCertificate(chain.name, certificateOf(shard))}`)
    if (shards.length > 1) console.log(`in all: ${printCertificate(chain.name, joinCertificates(shards))}`)
    const state = await readChainState(pool, chain.name)
    if ((state?.finalizedBlock ?? -1) < toBlock) console.log(untilFollowed(chain.name, toBlock))
  } finally {
    session.release()
  }
}

async function openSource({ source, chain }: BackfillConfig) {
  const history = openHistory(source, wantedOf(chain))
  const finalHeight = await history.finalHeight().catch((error: Error) => {
    throw new Refusal(`${history.name} does not tell its newest final block: ${describeError(error)}`)
  })
  return { history, finalHeight }
}

async function findLegs(pool: ReturnType<typeof createPool>, config: BackfillConfig): Promise<void> {
  const { finalHeight } = await openSource(config)
  const print = (line: string) => console.log(line)
  await passOverPayments({ pool, config, finalHeight, print, warn: (text) => console.error(text) })
}

/** Counts are prepared below the chain's final block, and without a processor there is none. */
function untilFollowed(chain: string, toBlock: number): string {
  return `they are counted row by row until the processor of ${chain} has passed block ${toBlock}: npm run processor -- ${chain}`
}

function describe(expected: { settlements: number; bytes: number } | undefined): string {
  if (!expected) return 'the source is too slow to estimate how many'
  const megabytes = Math.ceil(expected.bytes / 1024 ** 2)
  return `about ${expected.settlements} of them, ${megabytes} MB in the database`
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
    const table = await inTransaction(pool, (client) => tallyTable(client, chain.name, shard))
    const wrong = table ? differences(certified, table) : ['a row has another shape than those that were loaded']
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
