import { expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../config/chains.file.ts'
import { writeChainState } from '../../db/queries/chain/chain-state.ts'
import { readContracts } from '../../db/queries/chain/contracts.ts'
import { lateContracts, moveLate } from '../../db/queries/chain/payments/late.ts'
import { rememberContracts } from '../../processors/contracts.ts'
import { createTestDatabase } from '../support/database.ts'

const { base } = readChains({ env: {} })
const [token] = base.tokens
if (!token) throw new Error('base has no token')
const added = { ...token, address: `0x${'ab'.repeat(20)}`, fromBlock: 4_000_000 }
const later = { ...base, tokens: [...base.tokens, added] }
const earlier = { ...base, tokens: base.tokens.map((one) => ({ ...one, fromBlock: 7 })) }

async function indexed(indexedBlock: number) {
  const { pool, drop } = await createTestDatabase()
  onTestFinished(drop)
  await rememberContracts(pool, base)
  const state = { chain: 'base', chainId: base.id, indexedBlock, indexedAt: null, headBlock: indexedBlock }
  await writeChainState(pool, { ...state, finalizedBlock: indexedBlock - 10 })
  return pool
}

test('a token that is added to an indexed chain is refused with the command that indexes it', async () => {
  const pool = await indexed(5_000_000)
  await rememberContracts(pool, base)
  await expect(rememberContracts(pool, later)).rejects.toThrow(
    `base is indexed up to block 5000000 without the events of ${added.address} from block 4000000 on; ` +
      'index them with: npm run reset -- --chain base --to 3999999',
  )
  await pool.query('update chain_state set indexed_block = 3999999')
  await rememberContracts(pool, later)
  expect(await readContracts(pool, 'base')).toContainEqual({ address: added.address, fromBlock: 4_000_000 })
})

test('so is an earlier first block, also when a backfill alone has passed it', async () => {
  const pool = await indexed(5_000_000)
  await expect(rememberContracts(pool, earlier)).rejects.toThrow(/--chain base --to 6$/)
  await pool.query('delete from chain_state')
  await rememberContracts(pool, base)
  await pool.query(`insert into backfill (chain, from_block, to_block) values ('base', 0, 100)`)
  await expect(rememberContracts(pool, earlier)).rejects.toThrow(/is indexed up to block 100 /)
})

test('what is loaded by recipient beyond the indexed blocks is loaded again with a contract that is added', async () => {
  const pool = await indexed(3_999_999)
  await pool.query(`
    insert into settlement_scope (chain, complete_to, own_from) values ('base', -1, 6000000);
    insert into known_recipient (chain, address, next_block, to_block) values ('base', '\\x01', 6000000, 5999999)`)
  const next = async () => (await pool.query('select next_block from known_recipient')).rows[0].next_block
  await rememberContracts(pool, base)
  expect(await next()).toBe(6_000_000)
  const proxy = { kind: 'permit2_exact' as const, address: `0x${'cd'.repeat(20)}`, fromBlock: 4_000_000 }
  const payments = { ...base, paymentContracts: [...base.paymentContracts, proxy, { ...proxy, fromBlock: 5_000_000 }] }
  // Without a contract nothing is missing; when it is added again, what was loaded meanwhile has none of its events.
  for (const chain of [later, base, later, payments]) {
    await pool.query('update known_recipient set next_block = 6000000')
    await rememberContracts(pool, chain)
    expect(await next()).toBe(chain === base ? 6_000_000 : 4_000_000)
  }
})

test('what a payment contract paid in blocks that are indexed already is marked to be loaded, and nothing else', async () => {
  const pool = await indexed(5_000_000)
  const proxy = { kind: 'permit2_exact' as const, address: `0x${'cd'.repeat(20)}`, fromBlock: 4_000_000 }
  const withProxy = (fromBlock: number) => ({
    ...base,
    paymentContracts: [...base.paymentContracts, { ...proxy, fromBlock }],
  })
  const late = () => lateContracts(pool, 'base')
  expect(await late()).toEqual([])
  await rememberContracts(pool, withProxy(6_000_000))
  expect(await late()).toEqual([])
  await rememberContracts(pool, withProxy(4_000_000))
  await rememberContracts(pool, withProxy(4_000_000))
  const { address } = proxy
  expect(await late()).toEqual([{ address, nextBlock: 4_000_000, toBlock: 5_000_000 }])
  const step = { addresses: [address], fromBlock: 4_000_000, nextBlock: 4_500_000 }
  expect(await moveLate(pool, 'base', step)).toBe(true)
  expect(await moveLate(pool, 'base', step)).toBe(false)
  await rememberContracts(pool, withProxy(3_000_000))
  expect(await late()).toEqual([{ address, nextBlock: 3_000_000, toBlock: 5_000_000 }])
  await moveLate(pool, 'base', { addresses: [address], fromBlock: 3_000_000, nextBlock: 5_000_001 })
  await rememberContracts(pool, withProxy(2_900_000))
  expect(await late()).toEqual([{ address, nextBlock: 2_900_000, toBlock: 2_999_999 }])
})

test('a payment contract is recorded from the first block that the others are read from, or later', async () => {
  const pool = await indexed(5_000_000)
  const [first, ...others] = base.paymentContracts.map((one, n) => ({ ...one, fromBlock: n === 0 ? 0 : 4_000_000 }))
  if (!first || !others[0]) throw new Error('base has fewer than two payment contracts')
  await rememberContracts(pool, { ...base, paymentContracts: [first, ...others] })
  const read = [base.registry, base.reputation, ...base.tokens].map(({ fromBlock }) => fromBlock)
  const known = new Map((await readContracts(pool, 'base')).map(({ address, fromBlock }) => [address, fromBlock]))
  expect([first, others[0]].map(({ address }) => known.get(address))).toEqual([Math.min(...read), 4_000_000])
})

test('before anything is indexed, and above what is, contracts may change', async () => {
  const { pool, drop } = await createTestDatabase()
  onTestFinished(drop)
  for (const chain of [base, later, earlier, base]) await rememberContracts(pool, chain)
  expect(await readContracts(pool, 'base')).toHaveLength(2 + base.tokens.length + base.paymentContracts.length)
})
