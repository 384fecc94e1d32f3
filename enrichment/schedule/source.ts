import type { SourceRow } from '../../config/sources.ts'
import type { Queryable } from '../../db/pool.ts'
import type { LeasedSubject } from '../../db/queries/sources/source-state.ts'
import type { Host } from '../../hosts/host.ts'

interface Scheduled extends Pick<SourceRow, 'name' | 'batch' | 'perRead' | 'leaseMs' | 'retry' | 'loops' | 'atOnce'> {
  readonly host: Host
}

/** A source of enrichment: how its subjects are read. The scheduler calls it when they are due. */
export interface Source extends Scheduled {
  /** Only reads. Throws NoAnswer when the host does not answer, HostClosed when it may not be asked now. */
  read(subjects: readonly LeasedSubject[]): Promise<Reading>
}

/** A source with so many answers, each about one subject, that those which come at the same time are stored together. */
export interface ManySource<A extends Answer = Answer> extends Scheduled {
  read(subjects: readonly LeasedSubject[]): Promise<A>
  /** Stores answers, inside the transaction that ends their leases, which are locked. Returns what is next, in their order. */
  writeAll(db: Queryable, answers: readonly A[]): Promise<readonly Next[]>
}

export type AnySource = Source | ManySource

/** An answer that was read but not stored yet. */
export interface Answer {
  /** `ok`, `empty` (the host answered that there is nothing), or another word for the operator. */
  readonly outcome: string
}

/** When a subject is read again, in milliseconds; undefined: never. `failures`: in a row now; 0: it did not fail. */
export interface Next {
  readonly inMs: number | undefined
  readonly failures: number
}

/** An answer that stores itself. */
export interface Reading extends Answer {
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
