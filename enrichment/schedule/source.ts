import type { Queryable } from '../../db/pool.ts'
import type { LeasedSubject } from '../../db/queries/sources/source-state.ts'
import type { Host } from '../../hosts/host.ts'
import type { SourceRow } from '../../sources.ts'

/** A source of enrichment: how its subjects are read. The scheduler reads them when they are due. */
export interface Source extends Pick<SourceRow, 'name' | 'batch' | 'perRead' | 'leaseMs' | 'retry'> {
  readonly host: Host
  /** Writes nothing. Throws NoAnswer when the host does not answer, HostClosed when it may not be asked now. */
  read(subjects: readonly LeasedSubject[]): Promise<Reading>
}

/** An answer in hand. */
export interface Reading {
  /** `ok`, `empty` (answered: there is nothing), or what else an operator should see. */
  readonly outcome: string
  /** Whether there was no answer, which is stored as well. It counts as a failure: the next attempt comes by `retry`. */
  readonly failed?: boolean
  /**
   * Stores the answer, inside the transaction that ends the lease. Returns when to read again in milliseconds (after a
   * failure: not before); undefined: never. Throws LeaseLost when somebody else has been here.
   */
  write(db: Queryable): Promise<number | undefined>
}

/** What was read must not be written: the lease went to another worker, or the subject is to be read again. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** The number at the end of `fid:12` or `shard:1`. */
export function numberOf({ subject }: LeasedSubject): number {
  return Number(subject.slice(subject.indexOf(':') + 1))
}
