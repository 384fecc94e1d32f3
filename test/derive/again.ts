import { expect } from 'vitest'
import type { Queryable } from '../../db/pool.ts'
import { deriveAgain } from '../../derive/again.ts'
import type { DeriveContext } from '../../derive/derivation.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { refreshCounts, rollUpSettlements } from '../../enrichment/periodic/rollup.ts'

/** Rolls up and derives everything that is due, as the job does until it rests. */
export async function deriveAll(context: DeriveContext): Promise<void> {
  while ((await rollUpSettlements(context)) > 0);
  await settle(derivations, context)
  await refreshCounts(context)
  await settle(derivations, context)
}

/** Rows of everything that is stored, by table. */
export async function storedRows(db: Queryable): Promise<Record<string, string[]>> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  )
  const found: Record<string, string[]> = {}
  for (const { name } of tables) {
    const row = name === 'due' ? 'row(kind, key, due_at)' : 't'
    const { rows } = await db.query<{ row: string }>(`select ${row}::text as row from ${name} t order by 1`)
    found[name] = rows.map(({ row }) => row)
  }
  return found
}

/** Expects `npm run derive -- --all` to change no row of a chain that stands still, once everything due is derived. */
export async function expectNothingNew(context: DeriveContext): Promise<void> {
  await deriveAll(context)
  const { chain_state: _, ...before } = await storedRows(context.pool)
  expect(before.agent).not.toEqual([])
  expect(await deriveAgain({ kinds: derivations, context, tell: () => {} })).toBe(0)
  const { chain_state: __, ...after } = await storedRows(context.pool) // its processor goes on
  expect(after).toEqual(before)
}
