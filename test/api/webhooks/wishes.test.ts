import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { startWebhookStage } from '../../support/api/webhooks.ts'
import { addressOf, insert, seedAgent, seedChainState, seedSettlement } from '../../support/seed.ts'

let hooks: Awaited<ReturnType<typeof startWebhookStage>>
let pool: typeof hooks.stage.database.pool
const bytes = (address: string | null) => address && Buffer.from(address.slice(2), 'hex')
const ada = addressOf('an address of Ada')
const bob = addressOf('an address of Bob')
let block = 1_000

beforeAll(async () => {
  hooks = await startWebhookStage()
  pool = hooks.stage.database.pool
  for (const [fid, address] of [
    [1, ada],
    [2, bob],
  ] as const)
    await seedAgent(pool, { fid, chains: ['base'], addresses: [address] })
  await seedChainState(pool, { chain: 'base', indexed: 0, finalized: 0 })
  await seedChainState(pool, { chain: 'celo', indexed: 0, finalized: 0 })
})
afterAll(() => hooks.stop())
beforeEach(() => hooks.reset())

const paid = async (recipient: string, amount: bigint, { chain = 'base' as const, at = new Date(), ...more } = {}) =>
  seedSettlement(pool, { chain, recipient, amount, block: ++block, at, ...more })
/** Makes all blocks up to now final, and sums them up. */
async function finalize() {
  await pool.query('update chain_state set indexed_block = $1, finalized_block = $1', [block])
  while ((await rollUpSettlements({ pool })) > 0);
}
const heard = () => hooks.received.map(({ type, data }) => [type, data.fid, data.amount_usdc ?? data.operator_address])

test('an endpoint is sent a settlement when it is final, of the agents, chains and amounts that it wants', async () => {
  await hooks.register(hooks.newUrl(), { types: ['settlement.received'], fids: [1], chains: ['base'], min_amount: 1.5 })
  await paid(ada, 1_500_000n)
  await paid(ada, 1_499_999n)
  await paid(bob, 2_000_000n)
  await paid(addressOf('nobody known'), 2_000_000n)
  await paid(ada, 3_000_000n, { chain: 'celo' as 'base' })
  await paid(ada, 4_000_000n, { at: new Date(Date.now() - 40 * 86_400_000) }) // loaded with the past of a chain
  await hooks.run()
  expect(heard()).toEqual([])
  await finalize()
  await hooks.run()
  expect(heard()).toEqual([['settlement.received', 1, 1.5]])
  // What no endpoint wants has no row.
  const { rows } = await pool.query(`select fid from webhook_event where type = 'settlement.received'`)
  expect(rows).toEqual([{ fid: 1 }])
  expect(hooks.received[0]!.data).toMatchObject({ chain: 'base', recipient_address: ada, block_number: 1_001 })

  hooks.received = []
  await hooks.register(hooks.newUrl(), { types: ['settlement.received'] })
  await paid(bob, 10n)
  await finalize()
  await hooks.run()
  expect(heard()).toEqual([['settlement.received', 2, 0.00001]])
})

test('an endpoint is told who may act for an agent now, and not who might already', async () => {
  await hooks.register(hooks.newUrl(), { types: ['operator.added'] })
  const place = () => ({
    id: `base-${++block}-0`,
    chain: 'base',
    block_number: block,
    log_index: 0,
    block_timestamp: new Date(),
    tx_hash: Buffer.alloc(32),
  })
  const operator = addressOf('an operator')
  for (const [owner, approved] of [
    [ada, true],
    [ada, true],
    [addressOf('nobody known'), true],
    [ada, false],
  ] as const)
    await insert(pool, 'registration_operator', {
      ...place(),
      owner: bytes(owner),
      operator: bytes(operator),
      approved,
    })
  for (const approved of [null, bob])
    await insert(pool, 'registration_approval', {
      ...place(),
      agent_id: '7',
      owner: bytes(ada),
      approved: bytes(approved),
    })
  await hooks.run()
  expect(heard()).toEqual([
    ['operator.added', 1, operator],
    ['operator.added', 1, bob],
  ])
  expect(hooks.received[1]!.data).toMatchObject({ chain: 'base', owner_address: ada, erc8004_id: 7 })
})

test('an endpoint is told when others than before can change an agent’s registrations', async () => {
  await hooks.register(hooks.newUrl(), { types: ['agent.control'], fids: [1] })
  for (const [fid, kind] of [
    [1, 'status'],
    [1, 'control'],
    [2, 'control'],
  ] as const)
    await insert(pool, 'directory_event', { fid, kind, status: 'active' })
  await hooks.run()
  const { rows } = await pool.query(`select seq from directory_event where kind = 'control' and fid = 1`)
  expect(hooks.received.map(({ type, data }) => [type, data.fid, data.event])).toEqual([
    ['agent.control', 1, rows[0].seq],
  ])
})

test('what an endpoint may want is said where it is not that', async () => {
  const claimant = await hooks.stage.claimant()
  const url = hooks.newUrl()
  for (const wish of [{ chains: ['atlantis'] }, { chains: [] }, { min_amount: -1 }, { min_amount: '5' }]) {
    const body = { ...(await hooks.proofOf(claimant, url)), url, types: ['settlement.received'], ...wish }
    const response = await hooks.call('POST', '/api/webhooks', undefined, body)
    expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([
      400,
      expect.stringContaining(Object.keys(wish)[0]!),
    ])
  }
})
