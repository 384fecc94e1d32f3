import { afterAll, beforeAll, expect, test } from 'vitest'
import { readingLimits } from '../../../config/limits.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, insert, seedChainState, seedRegistration } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
const chain = 'base' as const
const bytes = (address: string) => Buffer.from(address.slice(2), 'hex')
let block = 1_000

const say = (owner: string, operator: string, approved = true, on: string = chain) =>
  insert(database.pool, 'registration_operator', {
    id: `${on}-${++block}-0`,
    chain: on,
    owner: bytes(owner),
    operator: bytes(operator),
    approved,
    block_number: block,
    log_index: 0,
    block_timestamp: new Date('2026-05-01T00:00:00Z'),
    tx_hash: Buffer.alloc(32),
  })
const searched = derivations.filter(({ kind }) => kind === 'searched registrations')
const derive = () => settle(searched, { pool: database.pool, now: () => new Date(), settlementOverloads: 'spec' })

beforeAll(async () => {
  api = await startApi(database)
  await seedChainState(database.pool, { chain, indexed: 9_000, finalized: 9_000 })
})
afterAll(() => api.stop())

/** Ids of all that is found, whatever pages it comes in. */
async function found(operator: string): Promise<number[]> {
  const ids: number[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const response = await api.get(`/api/registrations?limit=50&operator=${operator}&cursor=${cursor}`)
    expect(response.status).toBe(200)
    const page = (await response.json()) as { registrations: { erc8004_id: number }[]; next_cursor: string | null }
    ids.push(...page.registrations.map(({ erc8004_id }) => erc8004_id))
    cursor = page.next_cursor
  }
  return ids.sort((a, b) => a - b)
}
async function inSubgraph(operator: string): Promise<number[]> {
  const query = `{ agents(first: 1000, where: { operators_contains: ["${operator}"] }) { agentId } }`
  const response = await api.get('/subgraph', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  expect(response.status).toBe(200)
  const { data } = (await response.json()) as { data: { agents: { agentId: string }[] } }
  return data.agents.map(({ agentId }) => Number(agentId)).sort((a, b) => a - b)
}

test('what an owner says of operators changes no words of its registrations, and finds all of them', async () => {
  const owner = addressOf('one owner')
  const operator = addressOf('one operator')
  for (const id of [1, 2, 3]) await seedRegistration(database.pool, { chain, id, owner })
  await seedRegistration(database.pool, { chain, id: 4, owner: addressOf('another owner') })
  await derive()
  await say(owner, operator)
  const due = await database.pool.query(`select key from due where kind = 'searched registrations'`)
  expect(due.rows).toEqual([])
  expect(await found(operator)).toEqual([1, 2, 3])
  expect(await inSubgraph(operator)).toEqual([1, 2, 3])
  const taken = addressOf('one that is taken back')
  await say(owner, taken)
  await say(owner, taken, false)
  await say(addressOf('another owner'), taken, true, 'celo')
  expect(await found(taken)).toEqual([])
  expect(await inSubgraph(taken)).toEqual([])
})

test('one who acts for more holders than are looked up is found at all of them', async () => {
  const operator = addressOf('operator of very many')
  const ids = Array.from({ length: readingLimits.operatorHolders + 20 }, (_, n) => 1_000 + n)
  for (const id of ids) {
    await seedRegistration(database.pool, { chain, id, owner: addressOf(`owner ${id}`) })
    await say(addressOf(`owner ${id}`), operator)
  }
  await derive()
  expect(await found(operator)).toEqual(ids)
  expect(await inSubgraph(operator)).toEqual(ids)
})

test('an operator with more events than are examined is found as well', async () => {
  const owner = addressOf('who says much')
  const operator = addressOf('named by many')
  await seedRegistration(database.pool, { chain, id: 5_000, owner })
  await derive()
  for (let n = 0; n < 2; n++) await say(owner, operator)
  await database.pool.query(
    `insert into registration_operator (id, chain, owner, operator, approved, block_number, log_index, block_timestamp, tx_hash)
     select 'base-much-' || n, 'base', substr(sha256(int4send(n)), 1, 20), $1, true, n, 0, now(), sha256(int4send(n))
       from generate_series(1, $2::int) n`,
    [bytes(operator), readingLimits.operatorEvents],
  )
  expect(await found(operator)).toEqual([5_000])
  expect(await inSubgraph(operator)).toEqual([5_000])
})
