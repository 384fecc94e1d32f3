import { randomUUID } from 'node:crypto'
import {
  type LeasedSubject,
  leaseDue,
  leaseTail,
  renewLease,
  type Unread,
} from '../../db/queries/sources/source-state.ts'
import { HostClosed } from '../../hosts/host.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import { backoffMs, jittered, minute, second } from '../../ops/time.ts'
import { type AnySource, LeaseLost } from './source.ts'
import { type Endings, endings, type Storing } from './storing.ts'

export interface Pass extends Storing {
  /** Called for every read that failed. */
  readonly failed: (source: string, subjects: readonly string[], error: Error) => void
}

/** How many subjects a pass leased, and how their reads ended. */
export interface PassResult {
  readonly leased: number
  readonly outcomes: readonly string[]
}

/** Share of a pass that is kept from urgent subjects, so that they do not starve the rest. */
const tailShare = 0.2
const renewalsALease = 3
/** Milliseconds after which a lease is not renewed any more: no read takes that long. */
const longestHoldMs = 30 * minute
/** Outcome of a read that ended in an unexpected error. */
const unforeseen = 'unforeseen'

/**
 * One bounded pass of a source: leases due subjects, reads them, stores the answers. An answer and the end of its lease
 * are one transaction. Any failure keeps what is known and reschedules the subject; a host whose circuit is open is not
 * asked.
 *
 * Throws when not even a failure can be stored, because the database cannot be reached; leases then expire.
 */
export async function runPass(source: AnySource, pass: Pass): Promise<PassResult> {
  const { leased, reads } = await beginPass(source, pass, source.batch)
  const settled = await Promise.allSettled(reads)
  const broken = settled.find((result) => result.status === 'rejected')
  if (broken) throw broken.reason
  return { leased, outcomes: settled.flatMap((result) => (result as PromiseFulfilledResult<string[]>).value) }
}

/** A pass whose reads have begun. */
interface BegunPass {
  readonly leased: number
  /** Each resolves with its outcomes. */
  readonly reads: readonly Promise<string[]>[]
}

/** Leases due subjects, `most` at most, and begins to read them. Their lease is held until all reads have ended. */
export async function beginPass(
  source: AnySource,
  pass: Pass,
  most: number,
  endingsOf = endings(source, pass),
): Promise<BegunPass> {
  const leaseId = randomUUID()
  const subjects = await lease(source, pass, leaseId, most)
  const letGo = holdLease(source, pass, subjects, leaseId)
  const ends = endingsOf(leaseId)
  const reads = chunks(subjects, source.perRead ?? 1).map((group) => readGroup(source, pass, group, ends))
  Promise.allSettled(reads).then(letGo)
  return { leased: subjects.length, reads }
}

async function lease(source: AnySource, { pool, now }: Pass, leaseId: string, most: number): Promise<LeasedSubject[]> {
  const limit = Math.min(source.batch, source.host.capacity(), most)
  if (limit <= 0) return []
  const at = now()
  const order = { source: source.name, leaseId, now: at, until: new Date(at.getTime() + source.leaseMs) }
  const reserved = limit > 1 ? Math.ceil(limit * tailShare) : 0
  const tail = reserved > 0 ? await leaseTail(pool, { ...order, limit: reserved }) : []
  return [...tail, ...(await leaseDue(pool, { ...order, limit: limit - tail.length }))]
}

/**
 * Renews a lease until the returned function is called: at a slow host a read takes longer than a lease, and two
 * processes would take over each other's for ever. After `longestHoldMs` the lease expires all the same.
 */
function holdLease(
  source: AnySource,
  { pool, now }: Pass,
  leased: readonly LeasedSubject[],
  leaseId: string,
): () => void {
  if (leased.length === 0) return () => {}
  const subjects = leased.map(({ subject }) => subject)
  const begunAt = performance.now()
  const timer = setInterval(() => {
    if (performance.now() - begunAt > longestHoldMs) return clearInterval(timer)
    const until = new Date(now().getTime() + source.leaseMs)
    // A lease that cannot be renewed expires, as if this process had ended.
    renewLease(pool, { source: source.name, subjects, leaseId, until }).catch(() => {})
  }, source.leaseMs / renewalsALease)
  timer.unref()
  return () => clearInterval(timer)
}

/**
 * Reads one group of leased subjects, stores the answer, and returns the outcomes. When an answer about several cannot
 * be used, one of them may be the cause, so each half is read by itself, down to single subjects.
 */
export async function readGroup(
  source: AnySource,
  pass: Pass,
  group: readonly LeasedSubject[],
  ends: Endings,
): Promise<string[]> {
  const { now, random } = pass
  const subjects = group.map(({ subject }) => subject)
  const unread = (outcome: string, inMs: number): Omit<Unread, 'leaseId'> => {
    const at = now()
    return { subjects, outcome, dueAt: new Date(at.getTime() + inMs), askedAt: at, failed: false }
  }
  try {
    const reading = await source.read(group)
    source.host.succeeded()
    await ends.store(group, reading)
    return [reading.outcome]
  } catch (error) {
    if (error instanceof LeaseLost) return ['lease_lost']
    if (error instanceof HostClosed) {
      const postponed = unread('postponed', Math.max(0, error.until.getTime() - now().getTime()))
      await ends.release(error.wasAsked ? postponed : { ...postponed, askedAt: null })
      return ['postponed']
    }
    // Any other error is a bug here, or the database's.
    const failure = error instanceof NoAnswer ? error.failure : unforeseen
    if (error instanceof NoAnswer && failure !== 'rate_limited') {
      if (error.isAboutOne) source.host.succeeded()
      else source.host.failed()
    }
    if (group.length > 1 && (failure === 'bad_answer' || failure === unforeseen)) {
      const half = Math.ceil(group.length / 2)
      const first = await readGroup(source, pass, group.slice(0, half), ends)
      return [...first, ...(await readGroup(source, pass, group.slice(half), ends))]
    }
    const thrown = error instanceof Error ? error : new Error(String(error))
    pass.failed(source.name, subjects, thrown)
    if (error instanceof NoAnswer && error.retryAfterSeconds !== undefined) {
      const ms = error.retryAfterSeconds * second
      source.host.restFor(ms)
      await ends.release({ ...unread(failure, jittered(ms * 1.1, random)), error: thrown.message })
    } else {
      const failures = Math.max(...group.map((subject) => subject.failures))
      const inMs = backoffMs(source.retry, failures, random)
      // A source that counts failures itself may end a subject for them, but not for what this service did wrong.
      const failed = failure !== unforeseen || !('writeAll' in source)
      await ends.release({ ...unread(failure, inMs), error: thrown.message, failed })
    }
    return [failure]
  }
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}
