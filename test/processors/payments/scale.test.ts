import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { amendChain, chains } from '../../../config/chains.ts'
import { ensureChainRows } from '../../../db/chain-rows.ts'
import { inTransaction } from '../../../db/pool.ts'
import { settlementObject } from '../../../db/queries/sql/received-settlements.ts'
import { accountOf, type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { mint, pay, signAuthorization } from '../../../devnet/chain/payments.ts'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { readBlocks } from '../../doubles/portal/rpc-blocks.ts'
import { type Portal, startPortal } from '../../doubles/portal/server.ts'
import { startBackfill } from '../../support/chain/backfill.ts'
import { type ChainIndex, indexChain } from '../../support/chain/index-chain.ts'
import { describeDifference } from '../../support/chain/oracle.ts'
import { allowProxy, dollarOf, payByProxy } from '../../support/chain/permit2.ts'
import { chainSettings } from '../../support/chain/settings.ts'
import { createTestDatabase } from '../../support/database.ts'

const payer = accountOf('payer of eighteen decimals')
const payee = accountOf('payee of eighteen decimals')
/** Base units of 10^-18 dollars; the last one is less than a millionth of a dollar. */
const paid = [1_234_567_890_123_456_789n, 5_000_000_000_000_000_000n, 7n]
/** Of payments by a proxy; the last one as that. */
const paidByProxy = [2_000_000_000_000_000_009n, 8n]
const finality = 20
const decimals = 18

let chain: DevChain
let portal: Portal
/** Saw the payments in hot blocks. */
let live: ChainIndex
beforeAll(async () => {
  chain = await startDevChain('base', { funded: [payer.address, payee.address] })
  live = await indexChain(chain, { finality, decimals })
  await live.untilHead()
  await chain.execute(payer, mint(chain, payer.address, 10n ** 19n))
  for (const value of paid) {
    const nonce = keccak256(toBytes(`scale ${value}`))
    await chain.execute(payer, pay(await signAuthorization(chain, payer, { to: payee.address, value, nonce })))
  }
  await chain.execute(payer, mint(chain, payer.address, 10n ** 19n, dollarOf(chain)))
  await chain.execute(payer, allowProxy(chain))
  for (const amount of paidByProxy)
    await chain.execute(payer, payByProxy(chain, { owner: payer.address, to: payee.address, amount }))
  await live.untilHead()
  await chain.client.mine({ blocks: finality })
  await live.untilHead()
  const blocks = await readBlocks(chain.rpc, 0, Number(await chain.client.getBlockNumber()))
  portal = await startPortal({ datasets: { [chains.base.dataset]: memorySource({ blocks }) } })
})
afterAll(async () => {
  await live?.close()
  await portal?.stop()
  await chain?.stop()
})

const stored = async ({ pool }: ChainIndex['database']) =>
  (
    await pool.query<{ amount: bigint; base_units: string; decimals: number }>(
      `select s.amount::text as amount, e.base_units::text as base_units, e.decimals
         from settlement s join exact_amount e using (chain, block_number, log_index) order by s.block_number`,
    )
  ).rows

const storedByProxy = async ({ pool }: ChainIndex['database']) =>
  (
    await pool.query<{ net: string; fraction_sign: number | null; base_units: string; decimals: number }>(
      `select p.net::text, p.fraction_sign, e.base_units::text, e.decimals
         from payment p join exact_amount e using (chain, block_number, log_index) order by p.block_number`,
    )
  ).rows

const rows = paid.map((baseUnits) => ({
  amount: String(baseUnits / 10n ** 12n),
  base_units: String(baseUnits),
  decimals,
}))
const [whole, fraction] = paidByProxy.map(String)
const proxyRows = [
  { net: '2000000', fraction_sign: null, base_units: whole, decimals },
  { net: '0', fraction_sign: 1, base_units: fraction, decimals },
]

test('an amount of 18 decimals is stored in whole millionths and in base units, from hot blocks and from final ones', async () => {
  expect(await stored(live.database)).toEqual(rows)
  expect(await storedByProxy(live.database)).toEqual(proxyRows)
  for (const source of [{}, { rpc: null, portal: portal.url }]) {
    const late = await indexChain(chain, { finality, decimals, ...source })
    onTestFinished(late.close)
    await late.untilHead()
    const ours = await live.tables()
    const theirs = await late.tables()
    expect(describeDifference({ ...theirs, chain_state: [] }, { ...ours, chain_state: [] })).toBe('')
  }
})

test('a backfill stores the same', async () => {
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  const settings = chainSettings(chain, { finality, decimals, rpc: null, portal: portal.url })
  const end = String(Number(await chain.client.getBlockNumber()))
  const args = ['--chain', 'base', '--from', '0', '--to', end, '--workers', '1']
  const backfill = await startBackfill({ databaseUrl: database.url, chainSettings: settings, args })
  expect(await backfill.ended).toMatchObject({ code: 0 })
  expect(await stored(database)).toEqual(rows)
  expect(await storedByProxy(database)).toEqual(proxyRows)
})

test('JSON and SQL have all digits; sums are made of whole millionths', async () => {
  const { pool } = live.database
  const { tokens } = chains.base
  amendChain('base', { tokens: tokens.map((token) => ({ ...token, decimals, symbol: 'ABC' })) })
  onTestFinished(() => amendChain('base', { tokens }))
  await ensureChainRows(pool)
  const { rows: shown } = await pool.query<{ json: string; base_units: string; amount_usdc: string }>(
    `select ${settlementObject}::text as json, v.base_units::text, v.amount_usdc::text
       from (select *, true as final from settlement) s
       join directory.settlements v using (chain, block_number, log_index) order by s.block_number`,
  )
  expect(shown.map(({ json }) => /"amount_usdc" : ([\d.]+)/.exec(json)?.[1])).toEqual([
    '1.234567890123456789',
    '5.000000000000000000',
    '0.000000000000000007',
  ])
  expect(shown.map(({ base_units }) => base_units)).toEqual(paid.map(String))
  expect(shown.map(({ amount_usdc }) => amount_usdc)).toEqual([
    '1.234567890123456789',
    '5.000000000000000000',
    '0.000000000000000007',
  ])
  const read = await inTransaction(pool, async (db) => {
    await db.query('set local role directory_reader; set local search_path = directory')
    return db.query('select base_units::text, amount_usdc::text from settlements order by block_number')
  })
  expect(read.rows).toEqual(shown.map(({ base_units, amount_usdc }) => ({ base_units, amount_usdc })))
  // Of the table's own tokens alone: the chain that is local has another one.
  const symbols = await pool.query('select token_symbol_of($1) as one, token_symbol_of($2) as other', [
    Buffer.from(chains.base.tokens[0]!.address.slice(2), 'hex'),
    Buffer.alloc(20),
  ])
  expect(symbols.rows).toEqual([{ one: 'ABC', other: null }])
})
