import { expect, test } from 'vitest'
import { addressList } from '../../../api/schemas/addresses/addresses.ts'
import { agentIncome, incomePayments } from '../../../api/schemas/income/income.ts'
import { registrationList } from '../../../api/schemas/registrations/registration.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { startApi } from '../../support/api/api.ts'
import {
  first,
  minute,
  move,
  scene,
  second,
  setScenes,
  stranger,
  token,
  verify,
} from '../../support/chain/one-token.ts'
import { seedChainState, seedRegistration } from '../../support/seed.ts'
import { runIncome } from '../passes.ts'

setScenes()

test('what a contract wallet has on another chain than its verification names counts, and is marked', async () => {
  const { pool } = scene.database
  minute()
  scene.hub.state.addVerification(7, first, { contractChain: 10, walletSignature: '0x01' })
  verify(7, second)
  for (const chain of ['base', 'optimism'] as const) {
    for (const [id, holder] of [first, second].entries()) {
      await seedRegistration(pool, { chain, id, owner: holder })
      await scene.rows.transfer({ chain, id }, null, holder, minute())
      await scene.rows.settle(chain, holder, minute())
    }
    await seedChainState(pool, { chain, indexed: 2_000, finalized: 2_000, at: minute() })
  }
  await scene.settle()
  await rollUpSettlements({ pool })
  await runIncome({ pool })

  const api = await startApi(scene.database)
  const read = async (path: string) => JSON.parse(await (await api.get(path)).text())
  try {
    const { erc8004_records: records, ...profile } = await read('/api/agent/7')
    expect(profile).toMatchObject({ agent_status: 'active', chains: ['Base', 'OP'], erc8004_total: 4 })
    const marks = (list: { chain: string; erc8004_id: number; wallet_chain: unknown }[]) =>
      list.map((one) => `${one.chain} ${one.erc8004_id} ${one.wallet_chain}`)
    const marked = ['base 0 other', 'base 1 null', 'optimism 0 null', 'optimism 1 null']
    expect(marks(records)).toEqual(marked)
    const held = registrationList.parse(await read('/api/agent/7/registrations'))
    expect(marks(held.registrations as never)).toEqual(marked)
    const { addresses } = addressList.parse(await read('/api/agent/7/addresses'))
    expect(Object.fromEntries(addresses.map((one) => [one.address, one.wallet_chain]))).toEqual({
      [first]: 'other',
      [second]: null,
    })

    const { payments } = incomePayments.parse(await read('/api/agent/7/income/payments'))
    const paid = payments.map((one) => `${one.chain} ${one.recipient_address} ${one.wallet_chain}`)
    expect(paid.sort()).toEqual(
      [`base ${first} other`, `base ${second} null`, `optimism ${first} null`, `optimism ${second} null`].sort(),
    )
    const { raw, filtered, flags } = agentIncome.parse(await read('/api/agent/7/income'))
    expect([raw.payments, filtered.payments, flags.other_chain.payments]).toEqual([4, 4, 1])
  } finally {
    await api.stop()
  }
  const count = async (view: string) =>
    (await pool.query(`select count(*)::int as n from directory.${view} where wallet_chain = 'other'`)).rows[0].n
  expect([await count('holdings'), await count('addresses'), await count('income')]).toEqual([1, 1, 1])

  // A key verified again is no contract wallet.
  verify(7, first)
  await scene.settle()
  expect([await count('holdings'), await count('addresses'), await count('income')]).toEqual([0, 0, 0])
})

test('a holding of a contract wallet that ended keeps the mark', async () => {
  minute()
  scene.hub.state.addVerification(7, first, { contractChain: 10, walletSignature: '0x01' })
  await scene.rows.transfer(token, null, first, minute())
  await move(first, stranger)
  await scene.settle()
  const { rows } = await scene.database.pool.query('select reason, wallet_chain from directory.holdings')
  expect(rows).toEqual([{ reason: 'transfer', wallet_chain: 'other' }])
})
