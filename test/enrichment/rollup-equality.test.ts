import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../db/pool.ts'
import {
  lockRollup,
  recountRecipients,
  recountRecipientsFrom,
  rewindRollup,
} from '../../db/queries/settlement-hourly.ts'
import { rollUpSettlements } from '../../enrichment/rollup.ts'
import { createTestDatabase, type TestDatabase } from '../tools/database.ts'
import {
  bytes,
  type ChainName,
  chainNames,
  dayMs,
  empty,
  expectExactTables,
  expectExactWindows,
  finalize,
  lastBlock,
  type Paid,
  recipients,
  rollUp,
  store,
  timeOf,
} from './rollup-world.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** Histories that are tried, and steps of one. */
const histories = 40
const longest = 14

/** What can happen to the tables; the world leaves out what cannot happen as it is then. */
type Step =
  | { readonly kind: 'pay'; readonly rows: readonly Paid[] }
  | { readonly kind: 'finalize'; readonly chain: ChainName; readonly block: number }
  | { readonly kind: 'roll up'; readonly settlements: number }
  | { readonly kind: 'claim'; readonly from: number; readonly to: number }
  | { readonly kind: 'load'; readonly rows: readonly Paid[] }
  | { readonly kind: 'complete' }
  | { readonly kind: 'arrive late'; readonly recipient: number; readonly rows: readonly Paid[] }
  | { readonly kind: 'take back'; readonly chain: ChainName; readonly block: number }

const chain = fc.constantFrom(...chainNames)
const block = fc.integer({ min: 0, max: lastBlock })
const rows = fc.array(
  fc.record({
    chain,
    block,
    logIndex: fc.integer({ min: 0, max: 3 }),
    recipient: fc.integer({ min: 0, max: 1 }),
    payer: fc.integer({ min: 0, max: 2 }),
    selector: fc.integer({ min: 0, max: 3 }),
    amount: fc.bigInt({ min: 0n, max: 2n ** 62n }),
  }),
  { minLength: 5, maxLength: 40 },
)
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('pay' as const), rows }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('finalize' as const), chain, block }) },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('roll up' as const), settlements: fc.integer({ min: 1, max: 30 }) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('claim' as const), from: block, to: block }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('load' as const), rows }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('complete' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('arrive late' as const),
        recipient: fc.integer({ min: 0, max: 1 }),
        rows,
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('take back' as const), chain, block }) },
  ),
  { minLength: 4, maxLength: longest },
)

/** The tables as their writers would change them: one chain's final block, and the ranges backfills of Base claimed. */
function createWorld() {
  const final: Record<ChainName, number> = { base: -1, celo: -1 }
  let claims: { id: number; from: number; to: number; complete: boolean }[] = []
  const within = ({ chain, block }: Paid, complete: boolean) =>
    chain === 'base' && claims.some((claim) => claim.complete === complete && block >= claim.from && block <= claim.to)
  const isClaimed = (row: Paid) => within(row, false) || within(row, true)

  const happen = {
    // A processor adds hot blocks.
    pay: ({ rows }: { rows: readonly Paid[] }) =>
      store(
        database.pool,
        rows.filter((row) => row.block > final[row.chain] && !isClaimed(row)),
      ),
    finalize: ({ chain, block }: { chain: ChainName; block: number }) => {
      final[chain] = Math.max(final[chain], block)
      return finalize(database, chain, final[chain])
    },
    'roll up': ({ settlements }: { settlements: number }) =>
      rollUpSettlements({ pool: database.pool, stepSettlements: settlements }),
    claim: async ({ from: a, to: b }: { from: number; to: number }) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)]
      const { rows } = await database.pool.query(
        `insert into backfill (chain, from_block, to_block)
         select 'base', $1, $2 where not settlement_has_rows('base', $1, $2)
             on conflict do nothing returning id`,
        [from, to],
      )
      for (const { id } of rows) claims.push({ id, from, to, complete: false })
    },
    load: ({ rows }: { rows: readonly Paid[] }) =>
      store(
        database.pool,
        rows.filter((row) => within(row, false)),
      ),
    complete: async () => {
      const open = claims.find(({ complete }) => !complete)
      if (!open) return
      open.complete = true
      await database.pool.query('update backfill set completed_at = now() where id = $1', [open.id])
    },
    // The history of an address, loaded once somebody verifies it.
    'arrive late': ({ recipient, rows }: { recipient: number; rows: readonly Paid[] }) =>
      inTransaction(database.pool, async (db) => {
        for (const chain of chainNames) {
          await lockRollup(db, chain)
          const late = rows
            .map((row) => ({ ...row, recipient }))
            .filter((row) => row.chain === chain && row.block <= final[chain] && !within(row, false))
          await store(db, late)
          await recountRecipients(db, chain, [bytes(recipients[recipient] as string)])
        }
      }),
    // The command `reset`, which is refused while a backfill above the block is not complete.
    'take back': ({ chain, block }: { chain: ChainName; block: number }) =>
      inTransaction(database.pool, async (db) => {
        const above = chain === 'base' ? claims.filter(({ to }) => to >= block) : []
        if (block > final[chain] || above.some(({ complete }) => !complete)) return
        const first = Math.min(block, ...above.map(({ from }) => from))
        await lockRollup(db, chain)
        await rewindRollup(db, chain, first)
        await recountRecipientsFrom(db, chain, first)
        await db.query('delete from settlement_rollup_backfill where backfill_id = any ($1)', [
          above.map(({ id }) => id),
        ])
        await db.query('delete from backfill where id = any ($1)', [above.map(({ id }) => id)])
        await db.query('delete from settlement where chain = $1 and block_number >= $2', [chain, block])
        await db.query('update chain_state set finalized_block = $2 where chain = $1', [chain, block - 1])
        claims = claims.filter((claim) => !above.includes(claim))
        final[chain] = block - 1
      }),
  } satisfies Record<Step['kind'], (step: never) => Promise<unknown>>
  return { happen: (step: Step) => happen[step.kind](step as never) }
}

test('hours, totals, payers and windows are those of the settlements, whatever happens to a chain', async () => {
  const seen = new Map<string, number>()
  await fc.assert(
    fc
      .asyncProperty(
        steps,
        fc.array(fc.integer({ min: -1, max: 80 * 24 * 60 }), { minLength: 1, maxLength: 2 }),
        async (all, nows) => {
          const world = createWorld()
          for (const step of all) {
            await world.happen(step)
            seen.set(step.kind, (seen.get(step.kind) ?? 0) + 1)
            await expectExactTables(database)
            // The very moment at which a settlement leaves a window, and any other.
            const left = 'rows' in step ? step.rows.slice(0, 1).map(({ block }) => +timeOf(block) + 30 * dayMs) : []
            for (const time of left) await expectExactWindows(database, new Date(time))
          }
          for (const now of nows) await expectExactWindows(database, new Date(+timeOf(0) + now * 60_000))
          await rollUp(database, 7)
          await expectExactTables(database)
          for (const now of nows) await expectExactWindows(database, new Date(+timeOf(0) + now * 60_000))
        },
      )
      .afterEach(() => empty(database)),
    { numRuns: histories },
  )
  expect([...seen.keys()]).toHaveLength(8)
}, 240_000)
