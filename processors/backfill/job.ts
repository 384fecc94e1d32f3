import type { ChainSettings } from '../../config/chains.file.ts'
import type { SourceAddress } from '../history/source-address.ts'

/** Message to a worker process: the shard that it is to load. */
export interface Job {
  readonly kind: 'load'
  readonly databaseUrl: string
  readonly chain: ChainSettings
  /** Where the history is read. */
  readonly source: SourceAddress
  /** Newest final block of the source. */
  readonly finalHeight: number
  /** Attempts in a row after which a source that does not answer is given up; absent: it is waited for. */
  readonly attempts?: number | undefined
  readonly backfillId: number
  /** First block of the shard. */
  readonly firstBlock: number
  /** Tables that later replace partitions, ascending; rows of blocks outside of them go into `settlement`. */
  readonly staging: readonly StagedBlocks[]
}

interface StagedBlocks {
  readonly table: string
  readonly firstBlock: number
  readonly lastBlock: number
}

/** Message from a worker process to its backfill. */
export type Report =
  | { readonly kind: 'committed'; readonly nextBlock: number; readonly settlements: number }
  | { readonly kind: 'warning'; readonly text: string }
  /** `isPassing`: the source could not answer, and may later. */
  | { readonly kind: 'failed'; readonly text: string; readonly isPassing: boolean }
  | { readonly kind: 'done' }
