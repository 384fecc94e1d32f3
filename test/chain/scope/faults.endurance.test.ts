import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountOf, type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { expectExactTables, rollUp } from '../../enrichment/rollup/world.ts'
import { type Branch, type Fork, forkHere } from '../../support/chain/branches.ts'
import { spawnProcessor, type TestProcessor } from '../../support/chain/processor.ts'
import { cleanSettlementsTo, untilSettled, unverify, verifiedScope, verify } from '../../support/chain/scope.ts'
import { chainSettings } from '../../support/chain/settings.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'
import { payer, paymentActs, preparePayer } from './payments.ts'

const finality = 6 // blocks
const recipients = [1, 2, 3, 4, 5, 6, 7].map((number) => accountOf(`recipient ${number} of the storm`).address)
const kills = 8
/** Milliseconds from the start of a processor to its kill, at most; a second more for its start. */
const longestLife = 6_000
const timeout = 400_000

let chain: DevChain
let database: OwnDatabase
beforeAll(async () => {
  chain = await startDevChain('base', { genesisTime: 1_770_000_000, funded: [payer.address] })
  database = await createTestDatabase()
  await preparePayer(chain)
})
afterAll(async () => {
  await database?.drop()
  await chain?.stop()
})

test('reorgs, kills and verifications that come and go leave the settlements of who is verified in the end', {
  timeout,
}, async () => {
  const live = new Set<number>()
  let tip = await forkHere(chain)
  await tip.mine(await branch('history', 20))
  tip = await forkHere(chain)
  for (let round = 0; round < kills; round++) {
    const processor = await start()
    const dies = delay((longestLife * ((round * 5) % kills)) / kills + 1_000)
    tip = await replaceTip(tip, round)
    for (let turn = 0; turn < 3; turn++) await toggle((3 * round + 2 * turn) % recipients.length, live)
    await tip.mine(await branch(`other tip ${round}`, 5))
    await dies
    await rollUp(database, 10)
    await processor.kill('SIGKILL')
    await processor.stop()
    await expectExactTables(database)
  }
  await tip.mine([...(await branch('last', 3)), ...Array.from({ length: finality + 1 }, () => [])])

  const processor = await start()
  try {
    const known = [...live].map((at) => recipients[at]!)
    expect(known.length).toBeGreaterThan(1)
    const expected = await cleanSettlementsTo(chain, known, { finality })
    expect(expected.length).toBeGreaterThan(40)
    await untilSettled(database.pool, 'base', expected, { recipients: known, processor })
    await rollUp(database, 10)
    await expectExactTables(database)
  } finally {
    await processor.stop()
  }
})

/** Replaces the tip of the round before, and adds blocks that stay; resolves with the fork below the new tip. */
async function replaceTip(tip: Fork, round: number): Promise<Fork> {
  await tip.mine(await branch(`kept ${round}`, 6))
  const kept = await forkHere(chain)
  await kept.mine(await branch(`tip ${round}`, 4))
  return kept
}

async function toggle(at: number, live: Set<number>) {
  if (live.delete(at)) return unverify(database.pool, 1, recipients[at]!)
  live.add(at)
  await verify(database.pool, 1, recipients[at]!)
}

/** Blocks that each pay two of the recipients by every kind of call. */
async function branch(name: string, blocks: number): Promise<Branch> {
  const paidIn = (block: number) => [recipients[block % 7]!, recipients[(3 * block + 2) % 7]!]
  return Promise.all(
    Array.from({ length: blocks }, async (_, block) => {
      const acts = paidIn(block).map((to, at) => paymentActs(chain, `${name} ${block} ${at}`, to))
      return (await Promise.all(acts)).flat()
    }),
  )
}

function start(): Promise<TestProcessor> {
  const settings = chainSettings(chain, { finality })
  return spawnProcessor({ chain: 'base', databaseUrl: database.url, chainSettings: settings, env: verifiedScope })
}
