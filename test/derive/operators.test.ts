import { expect, test } from 'vitest'
import { readingLimits } from '../../config/limits.ts'
import { followOwners } from '../../db/queries/income/followed-addresses.ts'
import { bytes, empty } from '../enrichment/rollup/income-rows.ts'
import { testDatabase } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'
import { addressOf, seedAgent } from '../support/seed.ts'
import { runIncome } from './passes.ts'

const database = testDatabase()

const fid = 10
const owner = addressOf('owner')
const operator = addressOf('operator')
const timeOf = (block: number) => new Date(Date.UTC(2026, 0, 1) + block * 60_000)

/** What an owner says of operators, one word a block: `operator` is SQL over the block `n`, from this block to that one. */
const say = (approved: string, named: string, from: number, to = from) =>
  database.pool.query(
    `insert into registration_operator (id, chain, owner, operator, approved, block_number, log_index, block_timestamp, tx_hash)
     select 'base-' || n, 'base', $1, ${named}, ${approved}, n, 0, $4::timestamptz + n * interval '1 minute', sha256(int4send(n))
       from generate_series($2::int, $3::int) n`,
    [bytes(owner), from, to, timeOf(0)],
  )

const itself = `'\\x${operator.slice(2)}'::bytea`
const another = 'substr(sha256(int4send(n)), 1, 20)'

async function seed() {
  await empty(database.pool)
  await seedAgent(database.pool, { fid, addresses: [owner] })
}

/** Times in which the operator could act, as stored. */
async function times() {
  await runIncome({ pool: database.pool })
  const { rows } = await database.pool.query(
    `select from_at, nullif(to_at, 'infinity') as to_at from income_owner
      where fid = $1 and address = $2 and because = 'operator' order by from_at`,
    [fid, bytes(operator)],
  )
  return rows.map(({ from_at, to_at }) => [from_at, to_at])
}

test('whom an owner named long ago is told for that time, however much it said of others since', async () => {
  await seed()
  await say('true', itself, 1)
  await say('false', itself, 5)
  await say('n % 2 = 0', `substr(sha256(int4send(n / 6)), 1, 20)`, 10, 10 + 2 * readingLimits.operatorEvents)
  expect(await times()).toEqual([[timeOf(1), timeOf(5)]])
})

test('whom an owner named and took back very often is told from the first time on', async () => {
  await seed()
  await say('true', itself, 1)
  await say('n % 2 = 0', itself, 10, 10 + 2 * readingLimits.operatorEvents)
  const found = await times()
  expect(found[0]?.[0]).toEqual(timeOf(1))
  expect(found.at(-1)).toEqual([timeOf(10 + 2 * readingLimits.operatorEvents), null])
  expect(found).toHaveLength(51)
})

test('one word of each of very many is read once', async () => {
  await seed()
  await say('true', itself, 1)
  await say('true', another, 10, 10 + 3 * readingLimits.operatorsNamed)
  await database.pool.query('analyze registration_operator')
  const read = await rowsRead(database.pool, (db) => followOwners(db, [fid]), ['registration_operator'])
  expect(read).toBeLessThan(6 * readingLimits.operatorsNamed)
})
