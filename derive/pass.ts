import { inTransaction } from '../db/pool.ts'
import { isAnyDue, markDue, markLater, takeDue } from '../db/queries/due/queue.ts'
import { doubledMs, minute, second } from '../ops/time.ts'
import type { Derivation, DeriveContext } from './derivation.ts'

/** How long a key that failed waits for its next attempt. */
const retry = { baseMs: second, capMs: 5 * minute }
/** Failed keys after which a pass ends; the others are taken by the next. */
const mostFailures = 10

/** A key's derivation failed; it is retried after a pause, and the others are derived. */
export class Underivable extends Error {
  override readonly name = 'Underivable'
}

/**
 * Derives a batch of the keys of a kind that are due; their marks are deleted in the same transaction. Returns how many
 * there were; zero: nothing is due.
 *
 * Throws Underivable when a key cannot be derived, after the others of its batch have been.
 */
export async function derivePass(derivation: Derivation, context: DeriveContext): Promise<number> {
  if (!(await isAnyDue(context.pool, derivation.kind, context.now()))) return 0
  return deriveBatch(derivation, context).catch(() => deriveOneByOne(derivation, context))
}

/** Derives what is due of some kinds, in the order given, until nothing is. */
export async function settle(kinds: readonly Derivation[], context: DeriveContext): Promise<void> {
  for (let work = 1; work > 0; ) {
    work = 0
    for (const one of kinds) work += await derivePass(one, context)
  }
}

function deriveBatch(
  { kind, turns, batch, derive }: Derivation,
  context: DeriveContext,
  { limit = batch, oldest = false } = {},
): Promise<number> {
  return inTransaction(context.pool, async (db) => {
    const due = await takeDue(db, { kind, turns: turns && !oldest, now: context.now(), limit })
    const keys = due.map(({ key }) => key)
    if (keys.length === 0) return 0
    const later = await derive(db, keys, context)
    if (later) await markLater(db, kind, later)
    return keys.length
  })
}

/**
 * Derives the keys of a batch one by one, after it failed as a whole, so that one failure does not stop others. Nobody takes
 * turns: the key that fails is the oldest, which is deferred.
 */
async function deriveOneByOne(derivation: Derivation, context: DeriveContext): Promise<number> {
  let taken = 0
  const failures: Underivable[] = []
  while (taken < derivation.batch && failures.length < mostFailures) {
    try {
      if ((await deriveBatch(derivation, context, { limit: 1, oldest: true })) === 0) break
      taken++
    } catch (cause) {
      const key = await deferFirst(derivation, context)
      if (key === undefined) break
      failures.push(
        new Underivable(`${derivation.kind}: ${key} cannot be derived: ${(cause as Error).message}`, { cause }),
      )
    }
  }
  if (failures[0]) throw failures[0]
  return taken
}

/** Has the key that is due for longest wait for its next attempt. Returns it; undefined: none is due any more. */
function deferFirst({ kind }: Derivation, { pool, now }: DeriveContext): Promise<string | undefined> {
  return inTransaction(pool, async (db) => {
    const [first] = await takeDue(db, { kind, now: now(), limit: 1 })
    if (!first) return undefined
    const waitMs = doubledMs(retry, first.attempts)
    await markDue(db, kind, [first.key], { dueAt: new Date(now().getTime() + waitMs), attempts: first.attempts + 1 })
    return first.key
  })
}
