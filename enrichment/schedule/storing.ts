import type pg from 'pg'
import { inTransaction } from '../../db/pool.ts'
import {
  dropSubjects,
  endSubjects,
  failSubjects,
  finishSubjects,
  type Lease,
  type LeasedSubject,
  lockHeld,
  releaseSubjects,
  type Unread,
} from '../../db/queries/sources/source-state.ts'
import { batched } from '../../ops/batched.ts'
import { backoffMs, jittered, type Random } from '../../ops/time.ts'
import { type Answer, type AnySource, LeaseLost, type ManySource, type Reading, type Source } from './source.ts'

/** What storing needs. */
export interface Storing {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly random: Random
}

/** How the reads of a pass end. */
export interface Endings {
  /** Stores the answer about a group of subjects and ends their lease, both or neither. Throws LeaseLost. */
  store(group: readonly LeasedSubject[], answer: Answer): Promise<void>
  /** Ends the lease of subjects that were not read. */
  release(unread: Omit<Unread, 'leaseId'>): Promise<void>
}

/** Leases that are released by one statement, at most: more than a loop holds. */
const mostReleased = 1_000

/**
 * How the reads of passes end, by the lease of each. Those that end together do so by one statement, whichever pass began
 * them, and take one connection of the pool, however many there are.
 */
export function endings(source: AnySource, pass: Storing): (leaseId: string) => Endings {
  const release = batched(async (unread: readonly Unread[]) => {
    await releaseSubjects(pass.pool, source.name, unread)
    return unread.map(() => undefined)
  }, mostReleased)
  const store = storing(source, pass)
  return (leaseId) => ({
    store: (group, answer) => store(leaseId, group, answer),
    release: (unread) => release({ ...unread, leaseId }),
  })
}

type Store = (leaseId: string, ...of: Parameters<Endings['store']>) => Promise<void>

/** How answers are stored. */
function storing(source: AnySource, pass: Storing): Store {
  if (!('writeAll' in source))
    return (leaseId, group, answer) => storeAlone(source, pass, leaseId, group, answer as Reading)
  const store = batched((ended: readonly Ended[]) => storeAll(source, pass, ended))
  return async (leaseId, [leased], answer) => {
    const { subject } = leased as LeasedSubject
    if (!(await store({ subject, leaseId, answer }))) throw lost(source, subject)
  }
}

const lost = ({ name }: AnySource, subject = '') => new LeaseLost(`${name}: ${subject} is somebody else's now`)

async function storeAlone(
  source: Source,
  { pool, now, random }: Storing,
  leaseId: string,
  group: readonly LeasedSubject[],
  reading: Reading,
): Promise<void> {
  const subjects = group.map(({ subject }) => subject)
  const failures = Math.max(...group.map((leased) => leased.failures))
  await inTransaction(pool, async (db) => {
    const nextMs = await reading.write(db)
    const at = now()
    const ending = (inMs: number) => {
      const dueAt = new Date(at.getTime() + inMs)
      return { source: source.name, subjects, leaseId, outcome: reading.outcome, now: at, dueAt }
    }
    const held = await (nextMs === undefined
      ? dropSubjects(db, ending(0))
      : reading.failed
        ? failSubjects(db, ending(Math.max(nextMs, backoffMs(source.retry, failures, random))))
        : finishSubjects(db, ending(jittered(nextMs, random))))
    if (!held) throw lost(source, subjects[0])
  })
}

interface Ended extends Lease {
  readonly answer: Answer
}

/**
 * Stores answers in one transaction. Returns for each whether its lease was still held. When they cannot be stored, one of
 * them may be the cause, so each half is stored by itself, down to single ones.
 */
async function storeAll(
  source: ManySource,
  pass: Storing,
  ended: readonly Ended[],
): Promise<readonly (boolean | Error)[]> {
  const { name } = source
  const { pool, now } = pass
  try {
    return await inTransaction(pool, async (db) => {
      const held = await lockHeld(db, name, ended)
      const isHeld = ({ subject, leaseId }: Ended) => held.get(subject) === leaseId
      const stored = ended.filter(isHeld)
      const next = await source.writeAll(
        db,
        stored.map(({ answer }) => answer),
      )
      const at = now()
      const endings = stored.map(({ subject, answer: { outcome } }, n) => {
        const { inMs, failures } = next[n]!
        return { subject, outcome, failures, dueAt: inMs === undefined ? null : new Date(at.getTime() + inMs) }
      })
      await endSubjects(db, name, endings, at)
      return ended.map(isHeld)
    })
  } catch (error) {
    if (ended.length === 1) return [error as Error]
    const half = Math.ceil(ended.length / 2)
    const first = await storeAll(source, pass, ended.slice(0, half))
    return [...first, ...(await storeAll(source, pass, ended.slice(half)))]
  }
}
