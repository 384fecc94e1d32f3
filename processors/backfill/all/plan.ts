import type pg from 'pg'
import { grouped } from '../../../config/limits.ts'
import { maxBlock } from '../../../db/block-range.ts'
import { type BackfillRange, backfillsWithin } from '../../../db/queries/chain/backfill.ts'
import { readChainState } from '../../../db/queries/chain/chain-state.ts'
import { describeError } from '../../../ops/cli.ts'
import { gapsBetween } from '../../backfilled.ts'
import { wantedOf } from '../../history/history.ts'
import { openHistory } from '../../history/sources.ts'
import type { BackfillConfig } from '../config.ts'
import { clock } from '../display.ts'
import { type Estimate, estimate, rowsPerSecond, sizeOf, workOfBlock } from '../estimate.ts'
import { finalHeightOf } from './range-load.ts'

/** A range of blocks that is not loaded, or only in part. */
export interface Piece {
  readonly config: BackfillConfig
  readonly finalHeight: number
  /** Undefined: the source was too slow for an estimate. */
  readonly expected: Estimate | undefined
}

interface Plan {
  /** Ranges still to load, least work first. */
  readonly pieces: readonly Piece[]
  /** Chains whose source fails, with the reason. */
  readonly failures: readonly { readonly chain: string; readonly reason: string }[]
}

/** What is missing of these ranges. Reads the database and the sources, and writes nothing. */
export async function planOf(pool: pg.Pool, configs: readonly BackfillConfig[]): Promise<Plan> {
  const planned = await Promise.all(
    configs.map((config) =>
      piecesOf(pool, config).then(
        (pieces) => ({ pieces, failures: [] }),
        (error) => ({ pieces: [], failures: [{ chain: config.chain.name, reason: describeError(error) }] }),
      ),
    ),
  )
  const pieces = planned.flatMap((one): Piece[] => one.pieces)
  return {
    pieces: pieces.toSorted((a, b) => workOf(a) - workOf(b)),
    failures: planned.flatMap((one): Plan['failures'] => one.failures),
  }
}

async function piecesOf(pool: pg.Pool, config: BackfillConfig): Promise<Piece[]> {
  const { chain, source } = config
  const state = await readChainState(pool, chain.name)
  const backfills = await backfillsWithin(pool, chain.name, 0, maxBlock)
  const ranges = missingOf(config, state?.indexedBlock ?? -1, backfills)
  if (ranges.length === 0) return []
  const finalHeight = await finalHeightOf(config)
  const pieces: Piece[] = []
  for (const { fromBlock, toBlock } of ranges) {
    const piece = { ...config, fromBlock, toBlock: Math.min(toBlock, finalHeight) }
    if (piece.fromBlock > piece.toBlock) continue
    const expected = await estimate(openHistory(source, wantedOf(chain)), piece)
    pieces.push({ config: piece, finalHeight, expected })
  }
  return pieces
}

/** The backfills within a range that are not complete, and what neither they nor the processor have of it. */
function missingOf({ fromBlock, toBlock }: BackfillConfig, indexedBlock: number, backfills: readonly BackfillRange[]) {
  const begun = backfills.filter((one) => !one.completedAt && one.fromBlock <= toBlock && one.toBlock >= fromBlock)
  const gaps = gapsBetween(Math.max(fromBlock, indexedBlock + 1), backfills)
    .map(({ from, to = toBlock }) => ({ fromBlock: from, toBlock: Math.min(to, toBlock) }))
    .filter((gap) => gap.fromBlock <= gap.toBlock)
  return [...begun, ...gaps].toSorted((a, b) => a.fromBlock - b.fromBlock)
}

/** Work of loading a piece, in settlements; without an estimate every block counts as one. */
export function workOf({ config: { fromBlock, toBlock }, expected }: Piece): number {
  const blocks = toBlock - fromBlock + 1
  return expected ? expected.settlements + blocks * workOfBlock : blocks
}

/** Prints a line per piece, in the order in which they are loaded, and a total. */
export function printPlan({ pieces, failures }: Plan, workers: number): void {
  for (const { config, expected } of pieces) {
    const { chain, fromBlock, toBlock, source } = config
    const what = `${chain.name} ${fromBlock} to ${toBlock}, ${toBlock - fromBlock + 1} blocks from ${source.kind}`
    console.log(`${what}: ${expected ? described(expected, workers) : 'the source is too slow to estimate it'}`)
  }
  for (const { chain, reason } of failures) console.log(`${chain}: ${reason}`)
  const known = pieces.flatMap(({ expected }) => expected ?? [])
  const settlements = known.reduce((sum, one) => sum + one.settlements, 0)
  const bytes = known.reduce((sum, one) => sum + one.bytes, 0)
  if (pieces.length === 0 && failures.length === 0) console.log('nothing is missing')
  else if (pieces.length > 1) console.log(`in total: ${described({ settlements, bytes }, workers)}`)
}

function described({ settlements, bytes }: Pick<Estimate, 'settlements' | 'bytes'>, workers: number): string {
  const least = clock(Math.ceil(settlements / (rowsPerSecond * workers)))
  const processes = workers === 1 ? '1 process' : `${workers} processes`
  return `about ${grouped(settlements)} settlements, ${sizeOf(bytes)} of disk, at least ${least} with ${processes}`
}
