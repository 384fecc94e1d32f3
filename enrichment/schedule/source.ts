import type { Queryable } from '../../db/pool.ts'
import type { LeasedSubject } from '../../db/queries/sources/source-state.ts'
import type { Backoff } from '../../hosts/backoff.ts'
import type { Host } from '../../hosts/host.ts'

/** One kind of question put to the world, a file each. The scheduler asks it when its subjects are due. */
export interface Source {
  /** Value of `source_state.source`. */
  readonly name: string
  readonly host: Host
  /** Subjects leased in one pass at most. */
  readonly batch: number
  /** Subjects that one call of `read` takes. */
  readonly perRead: number
  /** After this a subject that was leased and not finished may be leased by anybody. */
  readonly leaseMs: number
  readonly retry: Backoff
  /** Asks; writes nothing. Throws NoAnswer when there is none, HostClosed when nobody may be asked now. */
  read(subjects: readonly LeasedSubject[]): Promise<Reading>
}

/** An answer in hand. */
export interface Reading {
  /** `ok`, `empty` (answered: there is nothing), or what else an operator should see. */
  readonly outcome: string
  /** There was no answer, which is itself worth storing. It counts as a failure: the next attempt comes by `retry`. */
  readonly failed?: boolean
  /**
   * Stores the answer, inside the transaction that ends the lease. Returns when to read again in milliseconds (after a
   * failure: not before); undefined: never. Throws LeaseLost when somebody else has been here.
   */
  write(db: Queryable): Promise<number | undefined>
}

/** What was read is not to be written: the subject went to another worker, or was asked for anew. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** Values of `source_state.source`. */
export const sourceNames = {
  /** `fid:123`: an account of the index, read anew. The one whose attempts the profile shows. */
  fids: 'socialindex',
  /** `hub`: which shards there are. */
  shards: 'social_shards',
  /** `shard:1`: the event stream. */
  events: 'social_events',
  /** `shard:1`: all accounts, page by page. */
  sweep: 'social_sweep',
  /** `address:0x…`: a holder nobody is known to verify. */
  lookup: 'social_lookup',
  /** `token:base:12`: what a registration's agentURI leads to. */
  agentUri: 'agent_uri',
  /** `fid:123`: the machine-readable documents on an agent's own hosts. */
  specs: 'spec_discovery',
  /** `fid:123`: tags of an agent's addresses, by an explorer and by the Open Labels Initiative. */
  explorer: 'explorer',
  labels: 'explorer_oli',
  /** `fid:123`: what else an agent is elsewhere. */
  identity: 'identity',
  /** `fid:123`: the account that an agent names on a host of code. */
  codehost: 'codehost',
  /** `fid:123`: whom an agent follows. */
  follows: 'social_follows',
} as const

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** The number at the end of `fid:12` or `shard:1`. */
export function numberOf({ subject }: LeasedSubject): number {
  return Number(subject.slice(subject.indexOf(':') + 1))
}
