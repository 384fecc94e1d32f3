import type pg from 'pg'
import type { KeyRows } from '../db/queries/due/queue.ts'

/** What derivations need besides the database. */
export interface DeriveContext {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
  /** Whether holders that no known FID verifies can be looked up by address. Default: no. */
  readonly lookups?: boolean
  /** Names of the sources that are asked about every agent. Default: none. */
  readonly perAgent?: readonly string[]
}

/** Keys that come due by time alone. */
export interface LaterKeys {
  readonly keys: readonly (string | number)[]
  readonly dueAt: Date
}

/** Rows whose coming, change or going makes keys due. */
export interface Mark {
  readonly table: string
  /** Default: all three. */
  readonly on?: readonly ('insert' | 'update' | 'delete')[]
  /** SQL of the key, over `moved`: rows as they became, or as they were when they are deleted. */
  readonly key: string
  /** SQL behind `from moved`: what leads from the rows to keys, or leaves rows out. */
  readonly through?: string
}

/** Something that is derived key by key from stored facts, and can be derived again at any time. */
export interface Derivation {
  readonly kind: string
  readonly marks: readonly Mark[]
  /** Where all its keys are, to derive everything again. None where other kinds make all that matter due. */
  readonly all: readonly KeyRows[]
  /** Most keys that are derived in one transaction. */
  readonly batch: number
  /**
   * How long its loop rests when nothing is due. `soon`: somebody waits for it. `with sums`: what it reads moves with the
   * roll-up. `with counts`: it is as late as counts may be, so that what moves often is derived once.
   */
  readonly rest: 'soon' | 'with sums' | 'with counts'
  /**
   * Makes what is stored of the keys what the facts say. Called in a transaction in which nobody else derives the kind.
   * Returns those of them that come due again by time alone.
   */
  derive(db: pg.PoolClient, keys: readonly string[], context: DeriveContext): Promise<LaterKeys | undefined>
}
