import { expect, test } from 'vitest'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { agentIncome } from '../../../db/queries/income/agent-income.ts'
import { incomePayments } from '../../../db/queries/income/payments.ts'
import { runIncome } from '../../derive/passes.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, hashOf, insert, seedPayment } from '../../support/seed.ts'
import { bytes, dollar, empty, people } from './income-rows.ts'
import { World } from './income-world.ts'

const database = testDatabase()

test('a token that is listed from a block on is no dollars in payments before it, in the list and in every sum', async () => {
  await empty(database.pool)
  const { pool } = database
  const world = new World(pool)
  const [payee, payer] = people as [string, string]
  const added = addressOf('added token')
  const pay = async (block: number) => {
    const at = new Date(Date.UTC(2026, 0, 1) + block * 1_000)
    await seedPayment(pool, { kind: 'permit2_exact', payee, payer, block, amount: 5_000_000n, at, token: added })
  }
  await world.take({ kind: 'verify', fid: 1, now: [0] })
  await pay(0)
  await world.take({ kind: 'roll up', blocks: 10 })
  while ((await runIncome({ pool })) > 0);
  const contracts = [
    { address: dollar, fromBlock: 0 },
    { address: added, fromBlock: 10 },
  ]
  await writeContracts(pool, 'base', contracts)
  // In the same hour, so that it is summed up again as a whole.
  await pay(10)
  await pay(11)
  await world.take({ kind: 'roll up', blocks: 10 })
  while ((await runIncome({ pool })) > 0);

  const filter = { chain: null, since: null, until: null }
  const { rows } = await incomePayments(pool, { fid: 1, limit: 10, order: 'asc', filter, columns: ['amount_usdc'] })
  expect(JSON.parse(rows)).toEqual([[null], ['5.000000'], ['5.000000']])
  const { raw, other_tokens } = (await agentIncome(pool, 1)).members
  expect([raw, other_tokens].map((text) => JSON.parse(text ?? ''))).toEqual([
    { payments: 3, amount_usdc: 10 },
    { payments: 1 },
  ])
  // What is counted again from the payments is as without the one that goes.
  await pool.query('delete from payment where block_number = 11')
  expect((await pool.query('select amount::text from payment_sum')).rows).toEqual([{ amount: '5000000' }])
})

test('a forwarded payment in a token outside the list is no dollars, though the payment that it is of is not stored', async () => {
  await empty(database.pool)
  const { pool } = database
  const world = new World(pool)
  await world.take({ kind: 'verify', fid: 1, now: [0] })
  await insert(pool, 'payment', {
    id: 'base-0-1',
    chain: 'base',
    block_number: 0,
    log_index: 1,
    block_timestamp: new Date(),
    kind: 'forwarded',
    token: bytes(addressOf('token of nobody')),
    payer: bytes(people[1] as string),
    payee: bytes(people[0] as string),
    gross: String(10n ** 40n),
    net: String(10n ** 40n),
    facilitator: bytes(people[2] as string),
    tx_hash: bytes(hashOf('0')),
    forwarder: bytes(people[3] as string),
    origin_log_index: 0,
    depth: 1,
  })
  await world.take({ kind: 'roll up', blocks: 1 })
  while ((await runIncome({ pool })) > 0);
  const { rows } = await pool.query('select amount::text, other_n::int from income_hour')
  expect(rows).toEqual([{ amount: '0', other_n: 1 }])
  const { raw, other_tokens } = (await agentIncome(pool, 1)).members
  expect([raw, other_tokens].map((text) => JSON.parse(text ?? ''))).toEqual([
    { payments: 1, amount_usdc: 0 },
    { payments: 1 },
  ])
})
