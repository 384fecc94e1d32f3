import { beforeAll, expect, test } from 'vitest'
import { agentFeedback, everyFeedback } from '../../../db/queries/feedback/page.ts'
import { testDatabase } from '../../support/database.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { addressOf, seedAgent, seedHolding, seedRegistration } from '../../support/seed.ts'

const database = testDatabase()
const owner = addressOf('rated')
const onOne = 3_000
const limit = 20

beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: [owner], chains: ['base'] })
  await seedRegistration(pool, { chain: 'base', id: 1, owner })
  await seedHolding(pool, { fid: 1, chain: 'base', id: 1, by: owner, block: 0 })
  await pool.query(`
    insert into feedback (id, chain, agent_id, client, feedback_index, value, value_decimals, tag1, tag2, endpoint, feedback_uri,
                          feedback_hash, block_number, log_index, block_timestamp, tx_hash)
    select 'base-' || n, 'base', case when n <= ${onOne} then 1 else n end, substr(sha256(int8send(n)), 1, 20), 1, n % 100, 0, '', '',
           '', '', '\\x00', n, 0, timestamptz '2026-06-01' + n * interval '1 minute', '\\x00'
      from generate_series(1::bigint, 4 * ${onOne}) n`)
  await pool.query('vacuum (analyze) feedback')
})

test.each([
  ['all', {}],
  ['those above a value', { min_value: '50' }],
])('a page of %s of what one registration among many was given reads few rows', async (_, filter) => {
  let count = 0
  const read = async (db: Parameters<typeof agentFeedback>[0]) => {
    const page = await agentFeedback(db, { fid: 1, limit, after: undefined, filter: { ...everyFeedback, ...filter } })
    count = page?.count ?? 0
  }
  // Looked at, judged, and looked at again for flags.
  expect(await rowsRead(database.pool, read, ['feedback'])).toBeLessThan(3 * 500)
  expect(count).toBe(limit)
})

test('a page of the holder of very many registrations reads rows of those times alone that it is of', async () => {
  const { pool } = database
  const held = 600
  const onEach = 15
  await seedAgent(pool, { fid: 2, addresses: [addressOf('holder')], chains: ['celo'] })
  await pool.query(`
    insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at)
    select 2, 'celo', n, '\\x00', 0, 0, '2026-01-01' from generate_series(1, ${held}) n`)
  await pool.query(`
    insert into feedback (id, chain, agent_id, client, feedback_index, value, value_decimals, tag1, tag2, endpoint, feedback_uri,
                          feedback_hash, block_number, log_index, block_timestamp, tx_hash)
    select 'celo-' || n, 'celo', 1 + n % ${held}, substr(sha256(int8send(n)), 1, 20), 1, n % 100, 0, '', '',
           '', '', '\\x00', n, 0, timestamptz '2026-06-01' + n * interval '1 minute', '\\x00'
      from generate_series(1::bigint, ${held * onEach}) n`)
  await pool.query('vacuum (analyze) feedback, agent_holding')
  let page: Awaited<ReturnType<typeof agentFeedback>>
  const read = async (db: Parameters<typeof agentFeedback>[0]) => {
    page = await agentFeedback(db, { fid: 2, limit, after: undefined, filter: { ...everyFeedback, tag1: 'nothing' } })
  }
  // The newest of each registration, then those looked at.
  expect(await rowsRead(pool, read, ['feedback'])).toBeLessThanOrEqual(held + 2 * 500)
  expect(page).toMatchObject({ count: 0, next: ['1780782060000000', 'celo', `${held * onEach - 499}`, '0'] })
})
