import { setTimeout as delay } from 'node:timers/promises'
import { grouped } from '../../config/limits.ts'
import { boundedFailures } from '../../hosts/retries.ts'
import type { History } from '../history/history.ts'
import { RangeReader } from '../history/range-reader.ts'
import { tokensOf } from '../mapping/scale.ts'
import { BlockEncoder } from './block-encoder.ts'
import type { BackfillConfig } from './config.ts'

export interface Estimate {
  readonly settlements: number
  readonly bytes: number
  /** Settlements per block in each of the equal parts of the range, ascending. */
  readonly density: readonly number[]
}

/** Samples spread over the range, of `blocksPerPlace` blocks each. */
const places = 8
const blocksPerPlace = 100
/** Bytes of a stored settlement with its share of key and indexes; `bench -- rehearsal` measured 442. */
const bytesPerSettlement = 440
/** Rows that one process loads in a second, as measured (docs/bench.md); a source can be slower. */
export const rowsPerSecond = 80_000
/** Cost of reading a block without settlements, in settlements. */
export const workOfBlock = 0.02
/** Timeout of an estimate in milliseconds; a range that cannot be estimated can still be loaded. */
const timeoutMs = 10_000

/** Estimates what a range holds, from a few samples. Undefined: the source did not answer in time. */
export async function estimate(history: History, config: BackfillConfig): Promise<Estimate | undefined> {
  const { fromBlock, toBlock, chain } = config
  const blocks = toBlock - fromBlock + 1
  const length = Math.min(blocksPerPlace, Math.max(1, Math.floor(blocks / places)))
  const starts = Array.from({ length: Math.min(places, blocks) }, (_, place) =>
    Math.min(fromBlock + Math.floor(((place + 0.5) * blocks) / places), toBlock - length + 1),
  )
  const readers = starts.map(
    (start) => new RangeReader(history, start, start + length - 1, { warn: () => {} }, { attempts: boundedFailures }),
  )
  const counting = async (reader: RangeReader) => {
    const encoder = new BlockEncoder(chain.name, tokensOf(chain), async () => undefined, new Map())
    while (!reader.isDone) await reader.advance(encoder)
    return encoder.pages.settlements
  }
  const late = new AbortController()
  const counted = await Promise.race([
    Promise.all(readers.map(counting)),
    delay(timeoutMs, undefined, { signal: late.signal }).catch(() => undefined),
  ])
  late.abort()
  for (const reader of readers) reader.close()
  if (!counted) return undefined
  const found = counted.reduce((sum, count) => sum + count, 0)
  const settlements = Math.round((found * blocks) / (starts.length * length))
  return { settlements, bytes: settlements * bytesPerSettlement, density: counted.map((count) => count / length) }
}

/** An estimate in words, for the line that announces a load. */
export function describeEstimate(expected: Estimate | undefined): string {
  if (!expected) return 'the source is too slow to estimate how many'
  return `about ${grouped(expected.settlements)} of them, ${sizeOf(expected.bytes)} in the database`
}

/** Bytes as they are said to a person: `512 MB`, from ten thousand of these on `24 GB`. */
export function sizeOf(bytes: number): string {
  const megabytes = Math.ceil(bytes / 1024 ** 2)
  return megabytes < 10_000 ? `${megabytes} MB` : `${grouped(Math.round(megabytes / 1024))} GB`
}
