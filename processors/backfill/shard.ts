import pg from 'pg'
import type { Logger } from 'pino'
import { connectionTimeouts, rebuildable, sessionOf } from '../../db/pool.ts'
import { readShards, type Shard } from '../../db/queries/chain/backfill.ts'
import { Refusal } from '../../ops/cli.ts'
import type { History } from '../history/history.ts'
import { Slices } from '../history/slices.ts'
import type { Witness } from '../history/witness.ts'
import { paymentContractsOf } from '../mapping/payment-kinds.ts'
import { tokensOf } from '../mapping/scale.ts'
import type { FindCalls } from '../mapping/settlements.ts'
import { tallyPayments } from '../store/payment-tally.ts'
import { BatchWriter } from './batch-writer.ts'
import { BlockEncoder } from './block-encoder.ts'
import type { Job } from './job.ts'

/** A batch is committed when it reaches this many settlements or (`maxBatchMs`) this age. */
const maxBatchSettlements = 50_000
const maxBatchMs = 5_000
const connectTimeoutMs = 10_000

interface ShardOptions {
  readonly job: Job
  readonly history: History
  /** The source is not believed alone where it has nothing; undefined: there is nobody else to ask. */
  readonly witness: Witness | undefined
  readonly findCalls: FindCalls
  readonly log: Pick<Logger, 'warn'>
  /** Called after each commit with the next block of the shard and the number of rows added. */
  readonly committed: (nextBlock: number, settlements: number) => void
}

/** Loads what is left of a shard. Rejects when the database or the source fails; then it can be called again. */
export async function loadShard(options: ShardOptions): Promise<void> {
  const { databaseUrl, chain, firstBlock, backfillId } = options.job
  const client = new pg.Client({
    connectionString: rebuildable(sessionOf(databaseUrl, { isPatient: true })),
    application_name: `backfill ${chain.name} from ${firstBlock}`,
    connectionTimeoutMillis: connectTimeoutMs,
    ...connectionTimeouts(0), // a COPY waits for the source
  })
  client.on('error', () => {}) // the statement in flight rejects with it, or the next one
  await client.connect()
  try {
    const shard = (await readShards(client, backfillId)).find((one) => one.firstBlock === firstBlock)
    if (!shard)
      throw new Refusal(`backfill ${backfillId} of ${chain.name} has no shard from block ${firstBlock} on any more`)
    let { nextBlock, lastHash } = shard
    while (nextBlock <= shard.lastBlock) {
      lastHash = await loadPart(client, shard, partAt(options.job, shard, nextBlock), lastHash, options)
      nextBlock = partAt(options.job, shard, nextBlock).lastBlock + 1
    }
  } finally {
    await client.end().catch(() => {})
  }
}

interface Part {
  readonly table: string
  readonly firstBlock: number
  readonly lastBlock: number
}

/** The blocks of a shard from `block` on that go into one table. */
function partAt({ staging }: Job, shard: Shard, block: number): Part {
  const within = staging.find(({ firstBlock, lastBlock }) => firstBlock <= block && block <= lastBlock)
  if (within) {
    return { table: within.table, firstBlock: block, lastBlock: Math.min(within.lastBlock, shard.lastBlock) }
  }
  const next = staging.find(({ firstBlock }) => firstBlock > block)
  return {
    table: 'settlement',
    firstBlock: block,
    lastBlock: Math.min((next?.firstBlock ?? Infinity) - 1, shard.lastBlock),
  }
}

/** Loads one part of a shard. Returns the hash of its last block. */
async function loadPart(
  client: pg.Client,
  { firstBlock }: Shard,
  part: Part,
  lastHash: string | null,
  { job, history, witness, findCalls, log, committed }: ShardOptions,
): Promise<string> {
  const { chain, backfillId } = job
  const options = { witness, attempts: job.attempts }
  const slices = new Slices(history, part.firstBlock, part.lastBlock, lastHash, log, options)
  const encoder = new BlockEncoder(chain.name, tokensOf(chain), findCalls, paymentContractsOf(chain.paymentContracts))
  const writer = new BatchWriter(client, chain.name, part.table, (step) => committed(step.nextBlock, step.settlements))
  try {
    while (!slices.isDone) {
      const from = slices.next
      const deadline = Date.now() + maxBatchMs
      do {
        await slices.advance(encoder)
        if (encoder.isFull) await encoder.settle()
        await writer.write(encoder.pages.takeFull())
      } while (!slices.isDone && encoder.pages.settlements < maxBatchSettlements && Date.now() < deadline)
      if (slices.next === from) continue // the answer failed before its first block
      await encoder.settle()
      const { pages, tally } = encoder.pages.takeAll()
      await writer.write(pages)
      const payments = encoder.payments.splice(0)
      const { hash = '', parentHash = '' } = slices.first ?? {}
      await writer.end({
        unpaid: encoder.unpaid.splice(0),
        payments,
        codes: encoder.codes.splice(0),
        step: {
          backfillId,
          firstBlock,
          from,
          nextBlock: slices.next,
          parentHash,
          firstHash: hash,
          lastHash: slices.lastHash ?? '',
          confirmed: witness?.isWhole === true,
          ...tally,
          ...tallyPayments(payments),
        },
      })
    }
    await writer.close()
    return slices.lastHash ?? ''
  } finally {
    slices.close()
  }
}
