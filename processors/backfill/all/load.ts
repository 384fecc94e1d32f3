import type pg from 'pg'
import { boundedFailures, SourceFailure } from '../../../hosts/retries.ts'
import { describeError, Refusal } from '../../../ops/cli.ts'
import { rememberContracts } from '../../contracts.ts'
import { refuseBackfill } from '../../scope/scope.ts'
import type { BackfillConfig } from '../config.ts'
import { type Reservation, reserveRange } from '../reservation.ts'
import type { Worker } from '../workers.ts'
import { AllDisplay } from './display.ts'
import { type Piece, planOf, printPlan, workOf } from './plan.ts'
import { loadReserved, nothingToLoad } from './range-load.ts'

/** Failures of a source in a row after which the other chains are loaded first. */
const failuresBeforeOthers = 5

interface LoadingAll {
  readonly pool: pg.Pool
  readonly databaseUrl: string
  readonly workers: Worker[]
}

/**
 * Loads what is missing of all ranges, smallest first, so that most chains are complete soon. Everything is reserved
 * before the first load: processors that start meanwhile skip these blocks. A chain that fails does not hold up the
 * others: one whose source does not answer is tried again after them.
 *
 * Throws a Refusal that names the chains that failed.
 */
export async function loadAll(loading: LoadingAll, configs: readonly BackfillConfig[]): Promise<void> {
  const { pool } = loading
  const loaded = await withoutRefused(pool, configs)
  if (loaded.length === 0) return
  const plan = await planOf(pool, loaded)
  printPlan(plan, (loaded[0] as BackfillConfig).workers)
  const failures = plan.failures.map(({ chain, reason }) => `${chain}: ${reason}`)
  const attempt = async (piece: Piece, work: () => Promise<void>) => {
    const { chain, fromBlock, toBlock } = piece.config
    await work().catch((error) => {
      failures.push(`${chain.name} ${fromBlock} to ${toBlock}: ${describeError(error)}`)
      process.stderr.write(`${failures.at(-1)}\n`)
    })
  }
  const reserved: { piece: Piece; reservation: Reservation }[] = []
  for (const piece of plan.pieces) {
    await attempt(piece, async () => {
      const { config, expected } = piece
      const reservation = await reserveRange(pool, config.chain, config, config.workers, expected?.density)
      if (reservation) reserved.push({ piece, reservation })
      else console.log(nothingToLoad(config))
    })
  }
  const display = new AllDisplay(
    reserved.map(({ piece }) => ({ name: piece.config.chain.name, work: workOf(piece) })),
    process.stdout,
  )
  const load = ({ piece, reservation }: (typeof reserved)[number], index: number, attempts?: number) =>
    loadReserved({ ...loading, openDisplay: display.opener(index) }, piece.config, { ...piece, reservation, attempts })
  const isAlone = reserved.length === 1
  const putOff: number[] = []
  for (const [index, one] of reserved.entries()) {
    await attempt(one.piece, async () => {
      try {
        await load(one, index, isAlone ? undefined : failuresBeforeOthers)
      } catch (error) {
        if (isAlone || !(error instanceof SourceFailure)) throw error
        const { chain, fromBlock, toBlock } = one.piece.config
        const problem = `${chain.name} ${fromBlock} to ${toBlock}: ${describeError(error)}`
        process.stderr.write(`${problem}; it is tried again after the others\n`)
        putOff.push(index)
        display.putLast(index)
      }
    })
  }
  for (const index of putOff) {
    const one = reserved[index] as (typeof reserved)[number]
    await attempt(one.piece, () => load(one, index, boundedFailures))
  }
  if (failures.length > 0) {
    throw new Refusal(`not everything is loaded; run the same command again to continue: ${failures.join('; ')}`)
  }
}

/** The ranges of chains that a backfill may load; says why it leaves out the others. */
async function withoutRefused(pool: LoadingAll['pool'], configs: readonly BackfillConfig[]): Promise<BackfillConfig[]> {
  const loaded: BackfillConfig[] = []
  for (const config of configs) {
    const { chain, scope } = config
    // Where processors load the history of verified addresses by themselves there is nothing to do, and nothing wrong.
    const refusal = await refuseBackfill(pool, chain, scope).catch((error) => {
      if (error instanceof Refusal) return error.message
      throw error
    })
    if (refusal !== undefined) console.log(`${chain.name}: ${refusal}`)
    else {
      await rememberContracts(pool, chain)
      loaded.push(config)
    }
  }
  return loaded
}
