import type { Address } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { accountOf, type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { expectExactTables, rollUp } from '../../enrichment/rollup/world.ts'
import { forkHere } from '../../support/chain/branches.ts'
import { spawnProcessor, type TestProcessor } from '../../support/chain/processor.ts'
import {
  cleanSettlementsTo,
  keepTo,
  settlementsTo,
  untilNoticed,
  untilSettled,
  unverify,
  verifiedScope,
  verify,
} from '../../support/chain/scope.ts'
import { chainSettings } from '../../support/chain/settings.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'
import { payer, paymentActs, preparePayer } from './payments.ts'

const recipient = (name: string) => accountOf(`${name} recipient`).address
const early = recipient('early')
const late = recipient('late')
const fickle = recipient('fickle')
const stranger = recipient('other')

const killed = Array.from({ length: 6 }, (_, number) => recipient(`killed ${number}`))

const finality = 4 // blocks
const timeout = 400_000
/** Blocks that make everything before them final. */
const untilFinal = finality + 1
/** Most settlements that one step of the roll-up adds. */
const stepSettlements = 5

let chain: DevChain
let database: OwnDatabase
let processor: TestProcessor
beforeAll(async () => {
  chain = await startDevChain('base', { genesisTime: 1_770_000_000, funded: [payer.address] })
  database = await createTestDatabase()
  await preparePayer(chain)
  for (const to of [early, late, fickle, stranger]) await payEveryWay('before', to)
  await chain.client.mine({ blocks: untilFinal })
  await verify(database.pool, 1, early)
  processor = await start()
})
afterEach(async () => {
  await expectExactTables(database)
  await rollUp(database, stepSettlements)
  await expectExactTables(database)
})
afterAll(async () => {
  await processor?.stop()
  await database?.drop()
  await chain?.stop()
})

test('of a history that was there before, verified recipients alone are kept', { timeout }, async () => {
  await isClean([early])
  expect(await settlementsTo(database.pool, 'base')).toEqual(await settlementsTo(database.pool, 'base', [early]))
  expect(await settlementsTo(database.pool, 'base')).toHaveLength(4)
})

test('at the head, verified recipients alone are kept', { timeout }, async () => {
  for (const to of [stranger, early, fickle]) await payEveryWay('head', to)
  await chain.client.mine({ blocks: untilFinal })
  await isClean([early])
  expect(keepTo(await settlementsTo(database.pool, 'base'), [stranger, late, fickle])).toEqual([])
})

test('an address that becomes verified brings its history along, hot blocks included', { timeout }, async () => {
  await payEveryWay('just before', late)
  await verify(database.pool, 2, late)
  await untilNoticed(database.pool, 'base', late, true)
  await payEveryWay('just after', late)
  await chain.client.mine({ blocks: untilFinal })
  await isClean([early, late])
})

test('so does a contract, whose payments only traces tell apart', { timeout }, async () => {
  await verify(database.pool, 3, chain.addresses.puller)
  await isClean([early, late, chain.addresses.puller])
  const sources = (await settlementsTo(database.pool, 'base', [chain.addresses.puller])).map(
    (row) => JSON.parse(row).selector_source,
  )
  expect(sources).toContain('t')
})

test('an address that two accounts verify stays known until both have given it up', { timeout }, async () => {
  await verify(database.pool, 4, fickle)
  await verify(database.pool, 5, fickle)
  await untilNoticed(database.pool, 'base', fickle, true)
  await unverify(database.pool, 4, fickle)
  await payEveryWay('one is left', fickle)
  await chain.client.mine({ blocks: untilFinal })
  await isClean([early, late, fickle, chain.addresses.puller])

  await unverify(database.pool, 5, fickle)
  await untilNoticed(database.pool, 'base', fickle, false)
  const kept = await settlementsTo(database.pool, 'base', [fickle])
  await payEveryWay('none is left', fickle)
  await chain.client.mine({ blocks: untilFinal })
  await processor.untilIndexed(Number(await chain.client.getBlockNumber()))
  expect(await settlementsTo(database.pool, 'base', [fickle])).toEqual(kept)
})

test('verified again, it gets what it missed', { timeout }, async () => {
  await verify(database.pool, 5, fickle)
  await isClean([early, late, fickle, chain.addresses.puller])
  expect(processor.output()).toMatch(/recipients whose settlements are kept: 0 more, 1 fewer/)
})

test('a reorg of the blocks in which an address became verified leaves what is on the chain', { timeout }, async () => {
  const { puller } = chain.addresses
  const fork = await forkHere(chain)
  await fork.mine([await paymentActs(chain, 'seen', stranger), await paymentActs(chain, 'seen', late), []])
  await processor.untilIndexed(Number(await chain.client.getBlockNumber()))
  await verify(database.pool, 6, stranger)
  await untilNoticed(database.pool, 'base', stranger, true)
  await fork.mine([
    await paymentActs(chain, 'instead', late),
    await paymentActs(chain, 'instead', stranger),
    [],
    await paymentActs(chain, 'then', stranger),
  ])
  await isClean([early, late, fickle, puller, stranger])

  await chain.client.setAutomine(true)
  await chain.client.mine({ blocks: untilFinal })
  await isClean([early, late, fickle, puller, stranger])
})

test('a processor killed while it loads goes on where it stood', { timeout }, async () => {
  for (const to of killed) await payEveryWay('killed', to)
  await chain.client.mine({ blocks: untilFinal })
  for (const [at, to] of killed.entries()) {
    await verify(database.pool, 100 + at, to)
    await processor.stop()
    processor = await start()
    await processor.untilOutput(at % 2 ? /loading the settlements/ : /indexing base/)
    await processor.kill('SIGKILL')
  }
  await processor.stop()
  processor = await start()
  await isClean([early, late, fickle, stranger, chain.addresses.puller, ...killed])
})

test('what is rolled up counts the settlements that came later', { timeout }, async () => {
  const to = recipient('rolled up')
  await payEveryWay('rolled up', to)
  await chain.client.mine({ blocks: untilFinal })
  await processor.untilIndexed(Number(await chain.client.getBlockNumber()))
  await rollUp(database, stepSettlements)
  await verify(database.pool, 200, to)
  await isClean([early, late, fickle, stranger, chain.addresses.puller, to, ...killed])
  await expectExactTables(database)
})

function start(): Promise<TestProcessor> {
  const settings = chainSettings(chain, { finality })
  return spawnProcessor({ chain: 'base', databaseUrl: database.url, chainSettings: settings, env: verifiedScope })
}

/** Asserts that the stored settlements are those that a clean index of the whole chain holds for these recipients. */
async function isClean(recipients: readonly Address[]) {
  const expected = await cleanSettlementsTo(chain, recipients, { finality })
  await untilSettled(database.pool, 'base', expected, { processor })
}

async function payEveryWay(name: string, to: Address) {
  for (const { from, call, options } of await paymentActs(chain, name, to)) await chain.execute(from, call, options)
}
