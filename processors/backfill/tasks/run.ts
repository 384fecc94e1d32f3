import type pg from 'pg'
import { inTransaction } from '../../../db/pool.ts'
import { readShards } from '../../../db/queries/chain/backfill.ts'
import { tallyPaymentsWithin } from '../../../db/queries/chain/payments/payments.ts'
import { Refusal } from '../../../ops/cli.ts'
import { rememberContracts } from '../../contracts.ts'
import { wantedOf } from '../../history/history.ts'
import { openHistory } from '../../history/sources.ts'
import { refuseBackfill } from '../../scope/scope.ts'
import { commandWaitMs, lockForProcessor } from '../../store/lock.ts'
import { abandonRange } from '../abandon.ts'
import { loadAll } from '../all/load.ts'
import { planOf, printPlan } from '../all/plan.ts'
import { loadRange } from '../all/range-load.ts'
import { certificateOf, joinCertificates, printCertificate } from '../certificate.ts'
import type { BackfillConfig } from '../config.ts'
import { openDisplay, type ShardProgress } from '../display.ts'
import { findBackfill } from '../reservation.ts'
import { certifySource, differences, tallyStored } from '../verify.ts'
import type { Worker } from '../workers.ts'

interface Parts {
  readonly pool: pg.Pool
  readonly databaseUrl: string
  /** Idle worker processes; those that a load starts are added, and removed when they have ended with it. */
  readonly workers: Worker[]
}

/**
 * Does what the command line asks for: loads (`all`) or plans several chains, else the task of the one configuration.
 * `configs` holds at least one. `exit` ends this process when it loses a chain's processor lock.
 */
export async function runTask(
  parts: Parts,
  configs: readonly BackfillConfig[],
  { plan, all }: { plan?: boolean; all?: boolean },
  exit: () => never,
): Promise<void> {
  const { pool } = parts
  const config = configs[0] as BackfillConfig
  if (plan) {
    const planned = await planOf(pool, configs)
    printPlan(planned, config.workers)
    if (planned.failures.length > 0) throw new Refusal(unplanned(planned.failures.length, configs.length))
    return
  }
  if (all) return loadAll(parts, configs)
  if (config.task === 'verify') return verify(pool, config)
  if (config.task === 'abandon') return abandon(parts, config, exit)
  // First: where recipients' histories are loaded, only their loader's process may say which contracts it reads.
  await refuseBackfill(pool, config.chain, config.scope)
  await rememberContracts(pool, config.chain)
  const openOwn = (shards: readonly ShardProgress[]) => openDisplay(config.chain.name, shards, process.stdout)
  await loadRange({ ...parts, openDisplay: openOwn }, config)
}

const unplanned = (failed: number, all: number) =>
  failed === all
    ? `no plan: ${failed} of ${all} chains did not answer`
    : `not all: ${failed} of ${all} chains did not answer`

async function abandon(
  { pool, databaseUrl }: Parts,
  { chain, fromBlock, toBlock }: BackfillConfig,
  exit: () => never,
): Promise<void> {
  const lock = await lockForProcessor(databaseUrl, chain, {
    waitMs: commandWaitMs,
    onLost(error) {
      process.stderr.write(`lost the connection that keeps processors of ${chain.name} away: ${error.message}\n`)
      exit()
    },
  })
  const settlements = await abandonRange(pool, chain, { fromBlock, toBlock })
  await lock.release()
  console.log(
    `${chain.name}: blocks ${fromBlock} to ${toBlock} are free again, ${settlements} settlements deleted; ` +
      'its processor loads them when it gets there, unless another backfill does first',
  )
}

async function verify(pool: pg.Pool, config: BackfillConfig): Promise<void> {
  const { chain, fromBlock, toBlock, second } = config
  const name = `the backfill of blocks ${fromBlock} to ${toBlock} of ${chain.name}`
  const range = await findBackfill(pool, chain, config)
  if (!range.completedAt) throw new Refusal(`${name} is not complete; finish it first`)
  const problems: string[] = []
  const shards = await readShards(pool, range.id)
  const warn = (text: string) => console.error(text)
  const history = second && openHistory(second, wantedOf(chain))
  const seen = second?.kind === 'rpc' ? { ...chain, rpc: second.url } : chain
  for (const shard of shards) {
    const certified = certificateOf(shard)
    const line = printCertificate(chain.name, certified)
    const table = await inTransaction(pool, (client) => tallyStored(client, chain.name, shard))
    const paid = await tallyPaymentsWithin(pool, chain.name, { fromBlock: shard.firstBlock, toBlock: shard.lastBlock })
    const wrong = table
      ? differences(certified, { ...table, ...paid })
      : ['a row has another shape than those that were loaded']
    console.log(`the table ${wrong.length === 0 ? 'matches' : 'does not match'} ${line}`)
    problems.push(...wrong.map((text) => `the table: ${text}`))
    if (!history) continue
    const other = differences(certified, await certifySource(history, seen, shard, warn))
    console.log(`${history.name} ${other.length === 0 ? 'agrees' : 'disagrees'}`)
    problems.push(...other.map((text) => `${history.name}: ${text}`))
  }
  joinCertificates(shards)
  if (problems.length > 0) throw new Refusal(`${name} does not match its certificate or source: ${problems.join('; ')}`)
}
