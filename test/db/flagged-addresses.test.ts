import { beforeAll, expect, test } from 'vitest'
import { writeContracts } from '../../db/queries/chain/contracts.ts'
import { markDue } from '../../db/queries/due/queue.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { runIncome } from '../derive/passes.ts'
import { testDatabase } from '../support/database.ts'
import {
  addressOf,
  birth,
  hashOf,
  seedAgent,
  seedChainState,
  seedHolding,
  seedPayment,
  seedRegistration,
  seedSettlement,
  seedVerification,
  seedWallet,
} from '../support/seed.ts'

// Who paid a wallet before it was the agent's and after it was no more, and who paid it in between, too.

const database = testDatabase()
const at = (hours: number) => new Date(birth.getTime() + hours * 3_600_000)
const [own, before, replaced, wallet] = ['own', 'before', 'replaced', 'wallet'].map(addressOf) as [
  string,
  string,
  string,
  string,
]

beforeAll(async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 900, at: at(50) })
  await seedAgent(pool, { fid: 7, addresses: [own] })
  await seedVerification(pool, { fid: 7, address: before, endedAt: at(1) })
  await seedRegistration(pool, { chain: 'base', id: 1, owner: own, wallet })
  await seedHolding(pool, { fid: 7, chain: 'base', id: 1, by: own })
  await seedWallet(pool, { id: 1, wallet: replaced, block: 260, at: at(26) })
  await seedWallet(pool, { id: 1, wallet, block: 300, at: at(30) })
  const paid = { chain: 'base', recipient: replaced, amount: 1_000_000n }
  await seedSettlement(pool, { ...paid, payer: before, block: 200, at: at(20) })
  await seedSettlement(pool, { ...paid, payer: own, block: 201, at: at(20) })
  await seedSettlement(pool, { ...paid, payer: own, block: 270, at: at(27) })
  await seedPayment(pool, { kind: 'permit2_exact', payee: replaced, payer: before, block: 199, amount: 1n, at: at(19) })
  await seedPayment(pool, { kind: 'permit2_exact', payee: replaced, payer: before, block: 310, amount: 1n, at: at(31) })
  await seedSettlement(pool, { ...paid, payer: own, block: 400, at: at(40) })
  await seedSettlement(pool, { ...paid, payer: before, block: 401, at: at(40) })
  while ((await rollUpSettlements({ pool })) > 0);
  while ((await runIncome({ pool })) > 0);
})

test('an address is flagged for payments of the time in which both were the agent’s, and for no other', async () => {
  const { rows } = await database.pool.query(
    'select address, flag, since, evidence::json as evidence from directory.flagged_addresses',
  )
  const lastAt = at(27).toISOString().replace('.000Z', 'Z')
  expect(rows).toEqual([
    {
      address: own,
      flag: 'same_owner',
      since: at(27),
      evidence: { paid: [replaced], paid_count: 1, signers: [], fids: [7], last_at: lastAt },
    },
  ])
})

test('who filled a channel that a key signed for is flagged, with the key, and the key is not', async () => {
  const { pool } = database
  await writeContracts(pool, 'base', [{ address: addressOf('token'), fromBlock: 0 }])
  const [key, stranger] = ['key', 'stranger'].map(addressOf) as [string, string]
  const to = { payee: replaced, at: at(28), amount: 5n }
  const channel = (name: string) => ({ ...to, subject: hashOf(name) })
  for (const [name, funder, block] of [
    ['own', before, 280],
    ['of a stranger', stranger, 284],
  ] as const) {
    await seedPayment(pool, { ...channel(name), kind: 'batch_deposit', net: 0n, payer: funder, block })
    await seedPayment(pool, { ...channel(name), kind: 'batch_claim', payer: key, block: block + 1 })
  }
  const { rows } = await pool.query(
    `select address, flag, evidence::json as evidence from directory.flagged_addresses where address <> $1`,
    [own],
  )
  expect(rows).toEqual([
    {
      address: before,
      flag: 'same_owner',
      evidence: { paid: [replaced], paid_count: 1, signers: [key], fids: [7], last_at: expect.any(String) },
    },
  ])
})

/** Rounds from a payer to an agent, from there to another address, and back to the payer; whether the payer is listed. */
async function isListed(name: string, { fid, amounts }: { fid: number; amounts: readonly bigint[] }) {
  const { pool } = database
  const [payer, seller, third] = ['payer', 'seller', 'third'].map((one) => addressOf(`${name} ${one}`)) as [
    string,
    string,
    string,
  ]
  await seedAgent(pool, { fid, addresses: [seller] })
  const first = fid * 100
  await pool.query('update chain_state set indexed_block = $1, finalized_block = $1', [first + 50])
  for (const [n, amount] of amounts.entries()) {
    const round = { chain: 'base', amount, at: at(41 + n) } as const
    const block = first + n * 3
    await seedSettlement(pool, { ...round, payer, recipient: seller, block })
    await seedSettlement(pool, { ...round, payer: seller, recipient: third, block: block + 1 })
    await seedSettlement(pool, { ...round, payer: third, recipient: payer, block: block + 2 })
  }
  await markDue(pool, 'income', [String(fid)])
  while ((await rollUpSettlements({ pool })) > 0);
  while ((await runIncome({ pool })) > 0);
  const bytes = Buffer.from(payer.slice(2), 'hex')
  expect((await pool.query('select from income_ring where payer = $1', [bytes])).rowCount).toBe(1)
  const { rows } = await pool.query('select flag from directory.flagged_addresses where address = $1', [payer])
  return rows.map(({ flag }) => flag)
}

test('who is sent a cent back over a third address is not listed, and who goes round with dollars is', async () => {
  expect(await isListed('a cent', { fid: 50, amounts: [10_000n] })).toEqual([])
  expect(await isListed('cents', { fid: 51, amounts: [10_000n, 10_000n] })).toEqual([])
  expect(await isListed('one purchase', { fid: 52, amounts: [20_000_000n] })).toEqual([])
  expect(await isListed('dollars', { fid: 53, amounts: [5_000_000n, 5_000_000n] })).toEqual(['ring'])
})
