import type pg from 'pg'
import { hasBackfill, noteSource, readShards, type Shard } from '../../../db/queries/chain/backfill.ts'
import { readChainState } from '../../../db/queries/chain/chain-state.ts'
import { boundedFailures, Retries, retrying, SourceFailure } from '../../../hosts/retries.ts'
import { describeError, Refusal, UsageError } from '../../../ops/cli.ts'
import { wantedOf } from '../../history/history.ts'
import { openHistory } from '../../history/sources.ts'
import { lockBackfill } from '../../store/lock.ts'
import { certificateOf, joinCertificates, printCertificate } from '../certificate.ts'
import type { BackfillConfig } from '../config.ts'
import type { Display, ShardProgress } from '../display.ts'
import { describeEstimate, type Estimate, estimate } from '../estimate.ts'
import { runLoad } from '../load.ts'
import { type Reservation, reserveHistory, reserveRange } from '../reservation.ts'
import { startWorker, type Worker } from '../workers.ts'

interface Loading {
  readonly pool: pg.Pool
  readonly databaseUrl: string
  /** Idle worker processes; those that a load starts are added, and removed when they have ended with it. */
  readonly workers: Worker[]
  readonly openDisplay: (shards: readonly ShardProgress[]) => Display
}

/** Reserves a range, loads what is left of it, and prints its certificates. */
export async function loadRange(loading: Loading, config: BackfillConfig): Promise<void> {
  const finalHeight = await finalHeightOf(config)
  if (config.toBlock > finalHeight) {
    const { name } = openHistory(config.source, wantedOf(config.chain))
    throw new UsageError(`--to ${config.toBlock} is not final yet: the newest final block of ${name} is ${finalHeight}`)
  }
  const expected = await estimate(openHistory(config.source, wantedOf(config.chain)), config)
  // Others load the rest, parts of one job: no processor that begins meanwhile may read it first.
  await reserveHistory(loading.pool, config.chain)
  const reservation = await reserveRange(loading.pool, config.chain, config, config.workers, expected?.density)
  if (!reservation) return void console.log(nothingToLoad(config))
  await loadReserved(loading, config, { reservation, finalHeight, expected })
}

/** What is said of a range of which the processor has every block. */
export function nothingToLoad({ chain, fromBlock, toBlock }: BackfillConfig): string {
  return `blocks ${fromBlock} to ${toBlock} of ${chain.name} are indexed by its processor already: there is nothing to load`
}

/** Newest final block of a backfill's source. Throws a Refusal when the source does not report it. */
export async function finalHeightOf({ chain, source }: BackfillConfig): Promise<number> {
  const history = openHistory(source, wantedOf(chain))
  const log = { warn: (text: string) => void process.stderr.write(`${text}\n`) }
  const ask = async () => {
    try {
      return await history.finalHeight()
    } catch (error) {
      if (error instanceof SourceFailure) throw error
      throw new Refusal(describeError(error)) // nobody is at that address
    }
  }
  return retrying(new Retries(log, { source: history.name, attempts: boundedFailures }), ask).catch((error: Error) => {
    throw new Refusal(`${history.name} does not report its newest final block: ${describeError(error)}`)
  })
}

interface Reserved {
  readonly reservation: Reservation
  readonly finalHeight: number
  readonly expected: Estimate | undefined
  /** Attempts in a row after which a source that does not answer is given up; absent: it is waited for. */
  readonly attempts?: number | undefined
}

/** Loads what is left of a reserved range, and prints its certificates. */
export async function loadReserved(
  { pool, databaseUrl, workers, openDisplay }: Loading,
  config: BackfillConfig,
  { reservation, finalHeight, expected, attempts }: Reserved,
): Promise<void> {
  const { chain, source } = config
  const { id, fromBlock, toBlock, isNew, isComplete } = reservation
  const session = await pool.connect()
  try {
    if (!(await lockBackfill(session, id))) {
      throw new Refusal(`another process is running the backfill of blocks ${fromBlock} to ${toBlock} of ${chain.name}`)
    }
    if (!(await hasBackfill(session, reservation))) {
      throw new Refusal(
        `another backfill has taken some of blocks ${fromBlock} to ${toBlock} of ${chain.name}; run this again for the others`,
      )
    }
    if (fromBlock > config.fromBlock) {
      console.log(`skipping blocks ${config.fromBlock} to ${fromBlock - 1}, which the processor has indexed itself`)
    }
    if (toBlock < config.toBlock) {
      console.log(
        `leaving blocks ${toBlock + 1} to ${config.toBlock} to the processor, which has passed block ${toBlock}`,
      )
    }
    const { name } = openHistory(source, wantedOf(chain))
    const task = `the settlements of blocks ${fromBlock} to ${toBlock} of ${chain.name} from ${name}`
    if (isComplete) console.log(`all ${task} are loaded already`)
    else {
      await noteSource(pool, id, source.kind)
      console.log(`${isNew ? 'loading' : 'continuing with'} ${task}; ${describeEstimate(expected)}`)
      const found = { pool, databaseUrl, backfillId: id, finalHeight, attempts }
      await withWorkers(workers, (own) => runLoad({ ...found, config, ...own, openDisplay }))
    }
    const shards = await readShards(pool, id)
    if (source.kind !== 'rpc') console.log(confirmation(name, shards))
    for (const shard of shards) console.log(`certificate: ${printCertificate(chain.name, certificateOf(shard))}`)
    if (shards.length > 1) console.log(`in total: ${printCertificate(chain.name, joinCertificates(shards))}`)
    const state = await readChainState(pool, chain.name)
    if ((state?.finalizedBlock ?? -1) < toBlock) console.log(untilFollowed(chain.name, toBlock))
  } finally {
    session.release()
  }
}

/** Runs a load with workers of its own, those that stand ready first; ends them, and forgets them, when it ends. */
async function withWorkers(
  workers: Worker[],
  load: (own: { nextWorker(): Worker; killWorkers(): void }) => Promise<void>,
): Promise<void> {
  const spare = [...workers]
  const taken: Worker[] = []
  const nextWorker = () => {
    const ready = spare.pop()
    const worker = ready ?? startWorker()
    if (!ready) workers.push(worker)
    taken.push(worker)
    return worker
  }
  const killWorkers = () => {
    for (const worker of taken) worker.kill()
  }
  try {
    await load({ nextWorker, killWorkers })
  } finally {
    // A process takes one job in its life: one that this load took and did not end must not reach the next load.
    killWorkers()
    workers.splice(0, workers.length, ...spare)
  }
}

/** Says which sources agree on what was loaded. */
function confirmation(source: string, shards: readonly Shard[]): string {
  const isConfirmed = shards.every(({ confirmed }) => confirmed)
  return isConfirmed
    ? `${source} and the chain's node agree: the node has nothing in a sample of the blocks that are empty`
    : `this is the word of ${source} alone: the chain's node has not confirmed all of its empty blocks`
}

/** Settlements are rolled up only below the chain's final block, which a processor reports. */
function untilFollowed(chain: string, toBlock: number): string {
  return `they are counted row by row until the processor of ${chain} has passed block ${toBlock}: npm run processor -- ${chain}`
}
