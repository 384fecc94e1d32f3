import type pg from 'pg'
import { completeBackfill, readShards, type Shard } from '../../db/queries/chain/backfill.ts'
import { readStaging, type StagingTable } from '../../db/queries/chain/staging-partitions.ts'
import type { BackfillConfig } from './config.ts'
import type { Display, ShardProgress } from './display.ts'
import type { Job, Report } from './job.ts'
import { placePartition } from './staging-placement.ts'
import type { Worker } from './workers.ts'

interface Load {
  readonly config: BackfillConfig
  readonly pool: pg.Pool
  readonly databaseUrl: string
  readonly backfillId: number
  readonly finalHeight: number
  /** As in a Job. */
  readonly attempts?: number | undefined
  /** Returns a worker process that has no job yet. */
  readonly nextWorker: () => Worker
  /** Kills every process that `nextWorker` has returned; what they have committed stays. */
  readonly killWorkers: () => void
  readonly openDisplay: (shards: readonly ShardProgress[]) => Display
}

/**
 * Loads what is left of a backfill, places its partitions as they get full, and completes it. When a shard fails no
 * other one is begun, the workers are killed, and it rejects with the first reason once all of them have ended.
 */
export async function runLoad(load: Load): Promise<void> {
  const { pool, backfillId, config, openDisplay } = load
  const shards = (await readShards(pool, backfillId)).map(toProgress)
  const staging = await readStaging(pool, backfillId)
  const display = openDisplay(shards)
  try {
    const placing = new Placing(load, shards, staging, display)
    const waiting = shards.filter(({ firstBlock, lastBlock, nextBlock }) => nextBlock <= lastBlock && firstBlock >= 0)
    const lanes = Array.from({ length: Math.min(config.workers, waiting.length) }, async () => {
      try {
        for (let shard = waiting.shift(); shard; shard = waiting.shift()) {
          await runShard(load, shard, staging, display)
          placing.check()
        }
      } catch (error) {
        waiting.length = 0
        load.killWorkers()
        throw error
      }
    })
    placing.check()
    // The next load may begin as soon as this one rejects: by then no lane may be left that starts or hears a worker.
    await Promise.all(lanes).finally(() => Promise.allSettled(lanes))
    await placing.finish()
    if (!(await completeBackfill(pool, backfillId))) throw new Error(await describeRest(load))
  } finally {
    display.stop()
  }
}

/** Says which blocks of a backfill are missing although every worker has reported that it is done. */
async function describeRest({ pool, backfillId, config: { chain } }: Load): Promise<string> {
  const rest = (await readShards(pool, backfillId)).filter(({ nextBlock, lastBlock }) => nextBlock <= lastBlock)
  const blocks = rest.map(({ nextBlock, lastBlock }) => `${nextBlock} to ${lastBlock}`).join(', ')
  return `blocks ${blocks} of ${chain.name} were not loaded, so the backfill is not complete; run it again to load them`
}

function toProgress({ firstBlock, lastBlock, nextBlock, settlements }: Shard): ShardProgress {
  return { firstBlock, lastBlock, nextBlock, settlements, added: 0, blocks: 0, startedAt: undefined }
}

async function runShard(load: Load, shard: ShardProgress, staging: readonly StagingTable[], display: Display) {
  const { config, databaseUrl, backfillId, finalHeight, attempts } = load
  const { chain, source } = config
  const job: Job = {
    kind: 'load',
    databaseUrl,
    chain,
    source,
    finalHeight,
    attempts,
    backfillId,
    firstBlock: shard.firstBlock,
    staging: staging.map(({ table, firstBlock, lastBlock }) => ({ table, firstBlock, lastBlock })),
  }
  shard.startedAt = Date.now()
  const report = (message: Report) => {
    if (message.kind === 'warning') display.line(message.text)
    if (message.kind !== 'committed') return
    shard.blocks += message.nextBlock - shard.nextBlock
    shard.nextBlock = message.nextBlock
    shard.settlements += message.settlements
    shard.added += message.settlements
    display.update()
  }
  await load.nextWorker().run(job, report)
}

/** Places partitions, one after the other, once every shard is through with their blocks. */
class Placing {
  #waiting: StagingTable[]
  #running: Promise<void> = Promise.resolve()

  constructor(
    private readonly load: Load,
    private readonly shards: readonly ShardProgress[],
    staging: readonly StagingTable[],
    private readonly display: Display,
  ) {
    this.#waiting = [...staging]
  }

  check(): void {
    const full = this.#waiting.filter((partition) => this.#isFull(partition))
    this.#waiting = this.#waiting.filter((partition) => !full.includes(partition))
    for (const partition of full) this.#running = this.#running.then(() => this.#place(partition))
    this.#running.catch(() => {}) // `finish` rejects with it
  }

  async finish(): Promise<void> {
    this.check()
    await this.#running
  }

  #isFull({ firstBlock, lastBlock }: StagingTable): boolean {
    return this.shards.every(
      (shard) =>
        shard.firstBlock > lastBlock ||
        shard.lastBlock < firstBlock ||
        shard.nextBlock > Math.min(lastBlock, shard.lastBlock),
    )
  }

  async #place(partition: StagingTable) {
    const { pool, config } = this.load
    const began = Date.now()
    await placePartition(pool, config.chain, partition)
    const seconds = ((Date.now() - began) / 1000).toFixed(1)
    this.display.line(`${partition.partition} is indexed and in its place (${seconds} s)`)
  }
}
