import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountOf, type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { type MemorySource, memorySource } from '../../doubles/portal/memory-source.ts'
import { readBlocks } from '../../doubles/portal/rpc-blocks.ts'
import { type Portal, startPortal } from '../../doubles/portal/server.ts'
import { spawnProcessor, type TestProcessor } from '../../support/chain/processor.ts'
import { cleanSettlementsTo, untilNoticed, untilSettled, verifiedScope, verify } from '../../support/chain/scope.ts'
import { chainSettings } from '../../support/chain/settings.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'
import { payer, paymentActs, preparePayer } from './payments.ts'

const finality = 3 // blocks
const timeout = 400_000
const [early, late] = ['early', 'late'].map((name) => accountOf(`${name} recipient of both`).address) as [
  `0x${string}`,
  `0x${string}`,
]

let chain: DevChain
let source: MemorySource
let portal: Portal
let database: OwnDatabase
let processor: TestProcessor
beforeAll(async () => {
  chain = await startDevChain('base', { funded: [payer.address] })
  await preparePayer(chain)
  for (const to of [early, late]) await payEveryWay('history', to)
  const history = await height()
  source = memorySource({ blocks: await readBlocks(chain.rpc, 0, history), chunkBlocks: 4 })
  portal = await startPortal({ datasets: { 'base-mainnet': source } })
  database = await createTestDatabase()
  await verify(database.pool, 1, early)
  for (const to of [early, late]) await payEveryWay('tip', to)
  await chain.client.mine({ blocks: finality + 1 })
  const { base } = chainSettings(chain, { finality })
  processor = await spawnProcessor({
    chain: 'base',
    databaseUrl: database.url,
    chainSettings: { base: { ...base, portal: portal.url } },
    env: verifiedScope,
  })
})
afterAll(async () => {
  await processor?.stop()
  await portal?.stop()
  await database?.drop()
  await chain?.stop()
})

test('history is loaded from the Portal by recipient, and the tip is read from the node', { timeout }, async () => {
  await isClean([early])
  const asked = portal.requests.filter(
    ({ path, body }) => path.endsWith('/finalized-stream') && body.includes('topic2'),
  )
  expect(asked.length).toBeGreaterThan(0)
})

test('what the node has and the Portal does not have yet is loaded when it does', { timeout }, async () => {
  await payEveryWay('beyond', late)
  await chain.client.mine({ blocks: finality + 1 })
  await processor.untilIndexed(await height())
  await verify(database.pool, 2, late)
  await untilNoticed(database.pool, 'base', late, true)
  await payEveryWay('after', late)
  await chain.client.mine({ blocks: finality + 1 })
  const from = (source.head()?.number ?? -1) + 1
  source.append(await readBlocks(chain.rpc, from, await height()))
  await isClean([early, late])
})

async function isClean(recipients: readonly `0x${string}`[]) {
  const expected = await cleanSettlementsTo(chain, recipients, { finality })
  expect(expected.length).toBeGreaterThan(4)
  await untilSettled(database.pool, 'base', expected, { processor })
}

async function payEveryWay(name: string, to: `0x${string}`) {
  for (const { from, call } of await paymentActs(chain, name, to)) await chain.execute(from, call)
}

async function height(): Promise<number> {
  return Number(await chain.client.getBlockNumber())
}
