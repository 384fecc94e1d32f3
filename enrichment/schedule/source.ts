import type { Queryable } from '../../db/pool.ts'
import type { LeasedSubject } from '../../db/queries/sources/source-state.ts'
import type { Host } from '../../hosts/host.ts'
import type { SourceRow } from '../../sources.config.ts'

/** A source of enrichment: how its subjects are read. The scheduler calls it when they are due. */
export interface Source
  extends Pick<SourceRow, 'name' | 'batch' | 'perRead' | 'leaseMs' | 'retry' | 'loops' | 'atOnce'> {
  readonly host: Host
  /** Only reads. Throws NoAnswer when the host does not answer, HostClosed when it may not be asked now. */
  read(subjects: readonly LeasedSubject[]): Promise<Reading>
}

/** An answer that was read but not stored yet. */
export interface Reading {
  /** `ok`, `empty` (the host answered that there is nothing), or another word for the operator. */
  readonly outcome: string
  /** Whether the read failed and only that is stored: the next attempt follows `retry`. Asked after `write`. */
  readonly failed?: boolean
  /**
   * Stores the answer, inside the transaction that ends the lease. Returns when to read again in milliseconds (after a
   * failure: not before); undefined: never. Throws LeaseLost when somebody else has been here.
   */
  write(db: Queryable): Promise<number | undefined>
}

/** The answer must not be written: the lease went to another worker, or the subject has to be read again. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** Number in a subject such as `fid:12` or `shard:1`. */
export function numberOf({ subject }: LeasedSubject): number {
  return Number(subject.slice(subject.indexOf(':') + 1))
}
