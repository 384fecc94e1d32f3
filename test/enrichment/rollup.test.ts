import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../db/pool.ts'
import { lockRollup, rewindHours, rewindRollup } from '../../db/queries/settlement-hourly.ts'
import { countedSettlements } from '../../db/queries/settlement-windows.ts'
import { rollUpSettlements } from '../../enrichment/rollup.ts'
import { createTestDatabase, type TestDatabase } from '../tools/database.ts'
import { addressOf, seedChainState, seedSettlement } from '../tools/seed.ts'

const chainNames = ['base', 'celo'] as const
const recipients = ['first', 'second'].map(addressOf)
const selectors = ['0xe3ee160e', '0xef55bec6', '0xcf092995', '0x88b7ab63']
const start = Date.UTC(2026, 2, 1)
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
afterEach(async () => {
  await database.pool.query(`
    truncate settlement, settlement_hourly, settlement_rollup_backfill, backfill, chain_state cascade;
    update settlement_rollup set next_block = 0;
    drop trigger if exists refuse on settlement_rollup`)
})

/** Counts and amounts of both recipients, in windows that end at a time. */
const windows = [
  { name: 'last_7d', since: `$2::timestamptz - interval '7 days'` },
  { name: 'last_30d', since: `$2::timestamptz - interval '30 days'` },
  { name: 'ever', since: null },
]
const sums = windows.flatMap(({ name }) => [name, `${name}_amount`]).map((name) => `sum(${name})::text as ${name}`)
const recipientsOf = '(select unnest($1::bytea[]) as address)'
const rolled = (few: boolean) => `
select address, ${sums.join(', ')}
  from (${countedSettlements({ recipients: recipientsOf, few, amounts: true, overloads: '$3', windows })}) part
 group by address having sum(ever) > 0 order by address`
const direct = `
select s.recipient as address, ${windows
  .map(({ name, since }) => {
    const filter = since ? `filter (where s.block_timestamp > ${since})` : ''
    return `count(*) ${filter}::text as ${name}, coalesce(sum(s.amount) ${filter}, 0)::text as ${name}_amount`
  })
  .join(', ')}
  from settlement s
 where s.recipient = any ($1) and ($3 or s.selector in ('\\xe3ee160e', '\\xef55bec6'))
 group by 1 order by 1`

async function expectExactCounts(now: Date) {
  for (const overloads of [false, true]) {
    const values = [recipients.map((hex) => Buffer.from(hex.slice(2), 'hex')), now, overloads]
    const counted = await database.pool.query(direct.replaceAll('$2::timestamptz', `coalesce($2::timestamptz)`), values)
    for (const few of [true, false]) {
      const { rows } = await database.pool.query(rolled(few), values)
      expect(rows).toEqual(counted.rows)
    }
  }
}

type ChainName = (typeof chainNames)[number]
interface Paid {
  readonly chain: ChainName
  readonly block: number
  readonly logIndex: number
  readonly recipient: number
  readonly selector: number
  readonly amount: bigint
}
/** Blocks are some minutes apart, so that hours begin within them and thirty days are some hundreds of blocks. */
const timeOf = (block: number) => new Date(start + block * 37 * minuteMs)
const blocks = 1_500
const paid = fc.record({
  chain: fc.constantFrom(...chainNames),
  block: fc.integer({ min: 0, max: blocks }),
  logIndex: fc.integer({ min: 0, max: 3 }),
  recipient: fc.integer({ min: 0, max: 1 }),
  selector: fc.integer({ min: 0, max: 3 }),
  amount: fc.bigInt({ min: 0n, max: 2n ** 62n }),
})
const keyOf = ({ chain, block, logIndex }: Paid) => `${chain}-${block}-${logIndex}`

async function store(rows: readonly Paid[]) {
  for (const { recipient, selector, block, ...rest } of rows) {
    await seedSettlement(database.pool, {
      ...rest,
      block,
      recipient: recipients[recipient] as string,
      selector: selectors[selector] as string,
      at: timeOf(block),
    })
  }
}

const finalize = (chain: ChainName, finalized: number) =>
  database.pool
    .query('delete from chain_state where chain = $1', [chain])
    .then(() => seedChainState(database.pool, { chain, indexed: blocks, finalized }))

const rollUp = async (stepSettlements: number) => {
  while ((await rollUpSettlements({ pool: database.pool, stepSettlements })) > 0);
}

test('windows are exact to the row however far chains are final, backfilled, rolled up and rewound', async () => {
  const range = fc
    .tuple(fc.integer({ min: 0, max: blocks }), fc.integer({ min: 0, max: blocks }))
    .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }))
  await fc.assert(
    fc
      .asyncProperty(
        fc.uniqueArray(paid, { selector: keyOf, maxLength: 60 }),
        fc.array(fc.integer({ min: 0, max: blocks }), { minLength: 1, maxLength: 4 }),
        range,
        fc.integer({ min: 0, max: blocks }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: -1, max: 80 * 24 * 60 }), { minLength: 2, maxLength: 4 }),
        async (rows, finals, claim, rewind, step, nows) => {
          const check = async () => {
            for (const now of nows) await expectExactCounts(new Date(start + now * minuteMs))
            // The very moment at which a settlement leaves the window.
            for (const { block } of rows.slice(0, 2)) await expectExactCounts(new Date(+timeOf(block) + 30 * dayMs))
          }
          const late = rows.filter(({ chain, block }) => chain === 'base' && block >= claim.from && block <= claim.to)
          const { rows: claims } = await database.pool.query(
            `insert into backfill (chain, from_block, to_block) values ('base', $1, $2) returning id`,
            [claim.from, claim.to],
          )
          await store(rows.filter((row) => !late.includes(row)))
          await check()
          for (const final of [...finals].sort((a, b) => a - b)) {
            for (const chain of chainNames) await finalize(chain, final)
            await rollUpSettlements({ pool: database.pool, stepSettlements: step })
            await check()
          }
          await store(late)
          await check()
          await database.pool.query('update backfill set completed_at = now() where id = $1', [claims[0].id])
          await rollUpSettlements({ pool: database.pool, stepSettlements: step })
          await check()
          await rollUp(step)
          await check()
          await inTransaction(database.pool, async (db) => {
            await lockRollup(db, 'base')
            await rewindHours(db, 'base', rewind)
            await rewindRollup(db, 'base', rewind)
          })
          await check()
          await rollUp(step)
          await check()
        },
      )
      .afterEach(async () => {
        await database.pool.query(`
          truncate settlement, settlement_hourly, settlement_rollup_backfill, backfill, chain_state cascade;
          update settlement_rollup set next_block = 0`)
      }),
    { numRuns: 6 },
  )
}, 240_000)

const hours = async () =>
  (
    await database.pool.query(
      `select chain, n::int, amount::int, first_block, last_block from settlement_hourly order by hour`,
    )
  ).rows

test('a settlement is added once when the process ends between its hour and the mark that says so', async () => {
  await store([{ chain: 'base', block: 10, logIndex: 0, recipient: 0, selector: 0, amount: 5n }])
  await finalize('base', 10)
  await database.pool.query(`
    create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'gone'; end $$;
    create trigger refuse before update on settlement_rollup for each row execute function refuse()`)
  await expect(rollUpSettlements({ pool: database.pool })).rejects.toThrow('gone')
  expect(await hours()).toEqual([])
  await database.pool.query('drop trigger refuse on settlement_rollup')
  await rollUp(100)
  const once = [{ chain: 'base', n: 1, amount: 5, first_block: 10, last_block: 10 }]
  expect(await hours()).toEqual(once)
  await rollUp(100)
  expect(await hours()).toEqual(once)
})

test('two jobs that roll up at once add every settlement once', async () => {
  const rows = Array.from({ length: 40 }, (_, block) => ({ block, logIndex: 0, recipient: 0, selector: 0, amount: 1n }))
  await store(rows.map((row) => ({ ...row, chain: 'base' as const })))
  await finalize('base', 39)
  await Promise.all([rollUp(3), rollUp(5), rollUp(7)])
  expect((await hours()).reduce((sum, { n }) => sum + n, 0)).toBe(40)
  await expectExactCounts(timeOf(40))
})

test('blocks that can still be undone are not rolled up', async () => {
  const row = { chain: 'base', logIndex: 0, recipient: 0, selector: 0, amount: 1n } as const
  await store([
    { ...row, block: 10 },
    { ...row, block: 11 },
  ])
  await finalize('base', 10)
  await rollUp(100)
  expect(await hours()).toMatchObject([{ n: 1, last_block: 10 }])
})
