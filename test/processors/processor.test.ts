import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountOf, type DevChain, startDevChain } from '../../devnet/chain.ts'
import { register } from '../../devnet/chain-identity.ts'
import { mint, pay, signAuthorization } from '../../devnet/chain-payments.ts'
import { chainSettings } from '../tools/chain-settings.ts'
import { createTestDatabase, type TestDatabase } from '../tools/database.ts'
import { spawnProcessor, type TestProcessor } from '../tools/processor.ts'

const payer = accountOf('payer')
const agent = accountOf('agent')
const facilitator = accountOf('facilitator')

let chain: DevChain
let database: TestDatabase
let processor: TestProcessor
beforeAll(async () => {
  chain = await startDevChain('base', { funded: [agent.address, facilitator.address] })
  database = await createTestDatabase()
  processor = await spawnProcessor({ chain: 'base', databaseUrl: database.url, chainSettings: chainSettings(chain) })
})
afterAll(async () => {
  await processor?.stop()
  await database?.drop()
  await chain?.stop()
})

test('a registration and a payment on a chain become rows', async () => {
  await chain.execute(facilitator, mint(chain, payer.address, 5_000_000n))
  await chain.execute(agent, register('https://agent.example/card.json'))
  const authorization = await signAuthorization(chain, payer, {
    to: agent.address,
    value: 1_500_000n,
    nonce: keccak256(toBytes('first')),
  })
  const receipt = await chain.execute(facilitator, pay(authorization))
  const state = await processor.untilIndexed(Number(receipt.blockNumber))
  expect(state.chainId).toBe(8453)
  expect(await settlements()).toEqual([
    { amount: 1_500_000, payer: payer.address.toLowerCase(), recipient: agent.address.toLowerCase(), source: 'c' },
  ])
})

async function settlements() {
  const { rows } = await database.pool.query(
    `select amount, '0x' || encode(payer, 'hex') as payer, '0x' || encode(recipient, 'hex') as recipient,
            selector_source as source
       from settlement`,
  )
  return rows
}
