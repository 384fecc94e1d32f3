import type pg from 'pg'
import { inTransaction } from '../../db/pool.ts'
import {
  dropSubjects,
  endSubjects,
  failSubjects,
  finishSubjects,
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

/** Stores the answer about a group of subjects and ends their lease, both or neither. Throws LeaseLost. */
type Store = (group: readonly LeasedSubject[], answer: Answer) => Promise<void>

/** How the reads of a pass end. */
export interface Endings {
  readonly store: Store
  /** Ends the lease of subjects that were not read. */
  readonly release: (unread: Unread) => Promise<void>
}

/** How the reads of a pass end that has this lease: those that end together are released by one statement. */
export function endings(source: AnySource, pass: Storing, leaseId: string): Endings {
  const release = batched(async (unread: readonly Unread[]) => {
    await releaseSubjects(pass.pool, { source: source.name, leaseId }, unread)
    return unread.map(() => undefined)
  })
  return { store: storing(source, pass, leaseId), release }
}

/** How the answers of a pass are stored. */
function storing(source: AnySource, pass: Storing, leaseId: string): Store {
  if (!('writeAll' in source)) return (group, answer) => storeAlone(source, pass, leaseId, group, answer as Reading)
  const store = batched((ended: readonly Ended[]) => storeAll(source, pass, leaseId, ended))
  return async ([leased], answer) => {
    const { subject } = leased as LeasedSubject
    if (!(await store({ subject, answer }))) throw lost(source, subject)
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

interface Ended {
  readonly subject: string
  readonly answer: Answer
}

/**
 * Stores answers in one transaction. Returns for each whether its lease was still held. When they cannot be stored, one of
 * them may be the cause, so each half is stored by itself, down to single ones.
 */
async function storeAll(
  source: ManySource,
  pass: Storing,
  leaseId: string,
  ended: readonly Ended[],
): Promise<readonly (boolean | Error)[]> {
  const { name } = source
  const { pool, now } = pass
  try {
    return await inTransaction(pool, async (db) => {
      const subjects = ended.map(({ subject }) => subject)
      const held = await lockHeld(db, { source: name, subjects, leaseId })
      const stored = ended.filter(({ subject }) => held.has(subject))
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
      return subjects.map((subject) => held.has(subject))
    })
  } catch (error) {
    if (ended.length === 1) return [error as Error]
    const half = Math.ceil(ended.length / 2)
    const first = await storeAll(source, pass, leaseId, ended.slice(0, half))
    return [...first, ...(await storeAll(source, pass, leaseId, ended.slice(half)))]
  }
}
