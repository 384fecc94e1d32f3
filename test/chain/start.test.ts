import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DevChain, startDevChain } from '../../devnet/chain.ts'
import { forkHere } from '../tools/branches.ts'
import { cleanTables, indexChain, startProcessor, untilSame } from '../tools/chain-index.ts'
import { chainSettings } from '../tools/chain-settings.ts'
import { createTestDatabase, type TestDatabase } from '../tools/database.ts'
import { spawnProcessor } from '../tools/processor.ts'
import { startTcpProxy } from '../tools/tcp-proxy.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from './traffic.ts'

const finality = 5 // blocks

let chain: DevChain
beforeAll(async () => {
  chain = await startDevChain('base', { funded: trafficAddresses })
  await prepareTraffic(chain)
})
afterAll(() => chain?.stop())

test('a node of another chain is refused with one line, and nothing is written', async () => {
  const database = await createTestDatabase()
  const { base: settings } = chainSettings(chain)
  const chainsFile = { optimism: settings }
  const processor = await spawnProcessor({ chain: 'optimism', databaseUrl: database.url, chainSettings: chainsFile })
  try {
    expect(await processor.untilExit()).toBe(1)
    expect(processor.output().trim()).toMatch(/^[^\n]*optimism[^\n]*chain id 8453 \(base\), expected 10[^\n]*$/)
    const { rows } = await database.pool.query('select from chain_state')
    expect(rows).toEqual([])
  } finally {
    await processor.stop()
    await database.drop()
  }
})

test('a second processor of a chain says so and ends, and the first goes on', async () => {
  const fork = await forkHere(chain)
  const first = await indexChain(chain, { finality })
  try {
    await first.untilHead()
    const second = await startProcessor(chain, first.database, { finality })
    try {
      expect(await second.untilExit()).toBe(1)
      expect(second.output().trim()).toMatch(/^[^\n]*another processor of base is running on this database[^\n]*$/)
    } finally {
      await second.stop()
    }
    await fork.mine(await trafficBranch(chain, 'with a second processor', 3))
    await untilSame(first, chain, await cleanTables(chain, { finality }))
  } finally {
    await first.close()
  }
})

test('two processors that both believe to be alone: one survives, and the rows are right', async () => {
  const fork = await forkHere(chain)
  const database = await createTestDatabase()
  const proxy = await startTcpProxy(Number(new URL(database.url).port))
  const throughProxy = new URL(database.url)
  throughProxy.port = String(proxy.port)
  const first = await startProcessor(chain, { ...database, url: throughProxy.href }, { finality })
  await first.untilIndexed(Number(await chain.client.getBlockNumber()))
  proxy.loseServerSide(await lockPort(database))
  const second = await startProcessor(chain, database, { finality })
  try {
    await second.untilOutput(/processing blocks from/) // from here on it has its own idea of the cursor
    await fork.mine(await trafficBranch(chain, 'with two processors', 4))
    const ends = [first.untilExit(), second.untilExit()]
    expect(await Promise.race(ends)).toBe(1)
    const survivor = (await Promise.race([ends[0], 'alive'])) === 'alive' ? first : second
    await untilSame({ database, processor: survivor }, chain, await cleanTables(chain, { finality }))
    await survivor.kill('SIGTERM')
    expect(await Promise.all(ends)).toContain(0)
  } finally {
    await first.stop()
    await second.stop()
    await proxy.close()
    await database.drop()
  }
})

/** The port from which the session that keeps other processors away comes to the server. */
async function lockPort({ pool }: TestDatabase): Promise<number> {
  const { rows } = await pool.query(
    `select client_port from pg_stat_activity
      where datname = current_database() and application_name = 'processor base lock'`,
  )
  expect(rows.length).toBe(1)
  return rows[0].client_port
}
