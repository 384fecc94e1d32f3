import type pg from 'pg'
import type { KindName } from '../db/due/kinds.ts'
import type { LaterKey } from '../db/queries/due/queue.ts'
import type { LogSigner } from '../transparency/log-key.ts'

/** What derivations need besides the database. */
export interface DeriveContext {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
  /** Whether holders that no known FID verifies can be looked up by address. Default: no. */
  readonly lookups?: boolean
  /** Names of the sources that are asked about every agent. Default: none. */
  readonly perAgent?: readonly string[]
  /** Signs the transparency log. Default: it is not signed. */
  readonly log?: LogSigner | undefined
  /** Whether everything is derived again: sums that otherwise move with each change are counted from all rows. Default: no. */
  readonly again?: boolean
}

/** Something that is derived key by key from stored facts, and can be derived again at any time. */
export interface Derivation {
  readonly kind: KindName
  /** Most keys that are derived in one transaction. */
  readonly batch: number
  /** Whether a key begins with its owner and a colon, and owners take turns: one with very many keeps no other waiting. */
  readonly turns?: boolean
  /**
   * How long its loop rests when nothing is due. `soon`: somebody waits for it. `with sums`: what it reads moves with the
   * roll-up. `with counts`: it is as late as counts may be, so that what moves often is derived once.
   */
  readonly rest: 'soon' | 'with sums' | 'with counts'
  /**
   * Brings what is stored for these keys in line with the facts. Called in a transaction in which nobody else derives the kind.
   * Returns those of them that come due again by time alone, and when.
   */
  derive(db: pg.PoolClient, keys: readonly string[], context: DeriveContext): Promise<readonly LaterKey[] | undefined>
}
