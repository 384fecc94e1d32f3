import type pg from 'pg'
import type { Queryable } from '../../db/pool.ts'
import { markDue, markLater, takeDue } from '../../db/queries/due/queue.ts'
import { sumHours } from '../../db/queries/income/hours.ts'
import type { Derivation, DeriveContext } from '../../derive/derivation.ts'
import { derivations } from '../../derive/derivations.ts'
import { deriveEscrowHours, deriveEscrows, deriveIncomeHours } from '../../derive/income.ts'
import { derivePass } from '../../derive/pass.ts'

/** Most keys and hours of a pass. */
interface Steps {
  readonly changes: number
  readonly rings: number
  readonly hours: number
  readonly payments: number
  /** Rows of a payment of an escrow. */
  readonly parts?: number
}

const whole: Steps = { changes: 100, rings: 50, hours: 500, payments: 50_000, parts: 500 }

/** One bounded pass over everything that income is made of. Returns how much was done; zero: it is what the facts say. */
export async function runIncome({ pool, steps = whole }: { pool: pg.Pool; steps?: Steps }): Promise<number> {
  const context = { pool, now: () => new Date(), settlementOverloads: 'spec' } as const
  let work = 0
  for (const kind of ['wallets', 'income', 'funders']) work += await pass(kind, context, steps.changes)
  work += await pass('rings', context, steps.rings)
  const escrows: Derivation['derive'] = (db, keys, context) => deriveEscrows(db, keys, context, steps.parts)
  work += await derivePass({ ...kindOf('escrows'), derive: escrows }, context)
  const escrowHours: Derivation['derive'] = (db, keys, context) => deriveEscrowHours(db, keys, context, steps.parts)
  work += await derivePass({ ...kindOf('escrow hours'), derive: escrowHours }, context)
  const derive: Derivation['derive'] = (db, keys, context) => deriveIncomeHours(db, keys, context, steps.payments)
  return work + (await derivePass({ ...kindOf('income hours'), batch: steps.hours, derive }, context))
}

/** Sums up hours that are due in a transaction of the caller's; returns how many. */
export async function sumDueHours(
  db: Queryable,
  { hours, payments }: Pick<Steps, 'hours' | 'payments'>,
  behind?: string,
) {
  const due = await takeDue(db, { kind: 'income hours', turns: true, now: new Date(), limit: hours, behind })
  const keys = due.map(({ key }) => key)
  const left = await sumHours(db, keys, payments)
  await markDue(db, 'income hours', left)
  return keys.length - left.length
}

/** Sums up payments of escrows that are due, in a transaction of the caller's, over so many rows of each at once. */
export async function sumDueEscrows(db: pg.PoolClient, parts: number) {
  const context = { now: () => new Date() }
  for (;;) {
    const due = await takeDue(db, { kind: 'escrows', turns: true, now: new Date(), limit: 100 })
    if (due.length === 0) return
    const keys = due.map(({ key }) => key)
    const left = await deriveEscrows(db, keys, context, parts)
    await markDue(
      db,
      'escrows',
      left.map(({ key }) => key),
    )
  }
}

/** Marks hours of one payment of an escrow whose first charge came or went, over so many rows. Returns how many keys are left. */
export async function markDueEscrowHours(db: pg.PoolClient, parts: number): Promise<number> {
  const now = new Date()
  const due = await takeDue(db, { kind: 'escrow hours', turns: true, now, limit: 1 })
  const keys = due.map(({ key }) => key)
  const left = await deriveEscrowHours(db, keys, { now: () => now }, parts)
  await markLater(db, 'escrow hours', left)
  return left.length
}

/** One bounded pass over everything that agents are derived by, except large holders. Returns how much was done. */
export async function runJoin(context: DeriveContext): Promise<number> {
  let work = 0
  for (const kind of ['holders', 'registrations', 'agents', 'counts']) work += await pass(kind, context)
  return work
}

/** Derives one large holder, if one is due; returns how many. */
export async function runLargeHolders(context: DeriveContext): Promise<number> {
  const work = await pass('large holders', context)
  await pass('summed holders', context)
  return work
}

/**
 * Derives every edge that is due. `looked`: agents looked at; `derived`: agents whose edges were derived; `moved`: edges
 * that were written or removed.
 */
export async function settleEdges(context: DeriveContext) {
  const before = await storedEdges(context.pool)
  let looked = 0
  for (let work = 1; work > 0; looked += work) work = await pass('neighbours', context)
  let derived = 0
  for (let work = 1; work > 0; derived += work) work = await pass('edges', context)
  const after = await storedEdges(context.pool)
  const moved = [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key))
  return { looked, derived, moved: moved.length }
}

/** Edges by what tells them apart, and the transaction that wrote each. */
async function storedEdges(pool: pg.Pool): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ key: string; xmin: string }>(
    `select concat_ws(' ', fid, peer, kind, chain) as key, xmin::text from agent_edge`,
  )
  return new Map(rows.map(({ key, xmin }) => [key, xmin]))
}

function pass(kind: string, context: DeriveContext, batch?: number): Promise<number> {
  const named = kindOf(kind)
  return derivePass({ ...named, batch: batch ?? named.batch }, context)
}

function kindOf(kind: string): Derivation {
  return derivations.find((one) => one.kind === kind)!
}
