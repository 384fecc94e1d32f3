import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { freePort } from '../../ops/ports.ts'
import { startTcpProxy } from '../doubles/tcp-proxy.ts'
import { forkHere } from '../support/chain/branches.ts'
import { cleanTables, indexChain, startProcessor, untilSame } from '../support/chain/index-chain.ts'
import { spawnProcessor } from '../support/chain/processor.ts'
import { chainSettings } from '../support/chain/settings.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from './traffic.ts'

const finality = 5 // blocks
/** Milliseconds within which one of two processors that contend ends; `blockMs`: the longest wait for each block. */
const contestMs = 120_000
const blockMs = 2_000
/** Starts of a second processor next to the first; `blocksPerAttempt`: blocks the first one indexes meanwhile. */
const attempts = 2
const blocksPerAttempt = 4
/** Milliseconds; longer than a processor's timeout for the chain's lock. */
const lockWaitMs = 75_000
const timeout = 400_000

let chain: DevChain
let contested = 0
beforeAll(async () => {
  chain = await startDevChain('base', { funded: trafficAddresses })
  await prepareTraffic(chain)
})
afterAll(() => chain?.stop())

test('a node of another chain is refused with one line next to the start line, and nothing is written', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const chainsFile = { optimism: chainSettings(chain).base }
  const processor = await spawnProcessor({ chain: 'optimism', databaseUrl: database.url, chainSettings: chainsFile })
  onTestFinished(() => processor.stop())

  expect(await processor.untilExit()).toBe(1)
  // The start line comes by another pipe, so either may be read first.
  const lines = processor
    .output()
    .trim()
    .split('\n')
    .filter((line) => !line.includes('"msg":"indexing optimism'))
  expect(lines).toEqual([expect.stringMatching(/optimism answers chain id 8453 \(base\), expected 10/)])
  const { rows } = await database.pool.query('select from chain_state')
  expect(rows).toEqual([])
})

test('a second processor of a chain waits and is not ready, at last says so and ends, and the first goes on', {
  timeout,
}, async () => {
  const first = await indexChain(chain, { finality })
  onTestFinished(() => first.close())
  await first.untilHead()
  const port = await freePort()
  for (let attempt = 0; attempt < attempts; attempt++) {
    const second = await spawnProcessor({
      chain: 'base',
      databaseUrl: first.database.url,
      chainSettings: chainSettings(chain, { finality }),
      env: { METRICS_PORT: String(port) },
    })
    onTestFinished(() => second.stop())
    await second.untilOutput(/another process has the lock of base: waiting for it/)
    // Batches go by while the second one waits for the lock.
    for (let block = 0; block < blocksPerAttempt; block++) {
      await (await forkHere(chain)).mine(
        await trafficBranch(chain, `next to a second processor ${attempt} ${block}`, 1),
      )
      await first.untilHead()
    }
    const [alive, ready] = await Promise.all(['healthz', 'readyz'].map((at) => fetch(`http://127.0.0.1:${port}/${at}`)))
    expect([alive?.status, ready?.status]).toEqual([200, 503])
    expect(await ready?.text()).toBe('another process has the lock of base\n')
    if (attempt < attempts - 1) await second.kill('SIGTERM')
    expect(await second.untilExit(lockWaitMs)).toBe(attempt < attempts - 1 ? 0 : 1)
    if (attempt < attempts - 1) continue
    expect(second.output().trim()).toMatch(/\nanother processor of base is running on this database[^\n]*$/)
  }
  await untilSame(first, chain, await cleanTables(chain, { finality }))
})

test('two processors that both believe to be alone: one survives, and the rows are right', { timeout }, async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const proxy = await startTcpProxy(Number(new URL(database.url).port))
  onTestFinished(() => proxy.close())
  const throughProxy = new URL(database.url)
  throughProxy.port = String(proxy.port)
  const first = await startProcessor(chain, { ...database, url: throughProxy.href }, { finality })
  onTestFinished(() => first.stop())
  await first.untilIndexed(Number(await chain.client.getBlockNumber()))
  proxy.loseServerSide(await lockPort(database))
  const second = await startProcessor(chain, database, { finality })
  onTestFinished(() => second.stop())

  const ended = new Map<typeof first, number | NodeJS.Signals>()
  const ends = [first, second].map(async (one) => void ended.set(one, await one.untilExit(timeout)))
  // Each keeps its own copy of the cursor; the one that finds it moved by the other must end at the next block.
  for (const deadline = Date.now() + contestMs; ended.size === 0 && Date.now() < deadline; ) {
    await (await forkHere(chain)).mine(await trafficBranch(chain, `contested ${contested++}`, 1))
    await within(Promise.race(ends), blockMs)
  }
  expect([...ended.values()][0]).toBe(1)
  if (ended.has(second)) {
    // The first one, which went on without its lock, ends by itself when its heartbeat finds that it is lost.
    await ends[0]
    expect(ended.get(first)).toBe(1)
    expect(first.output()).toContain('lost the connection that keeps other processors')
  } else {
    await second.untilIndexed(Number(await chain.client.getBlockNumber()))
    await second.kill('SIGTERM')
    await ends[1]
    expect(ended.get(second)).toBe(0)
  }
  const next = await startProcessor(chain, database, { finality })
  onTestFinished(() => next.stop())
  await untilSame({ database, processor: next }, chain, await cleanTables(chain, { finality }))
})

/** Result of a promise; undefined when it does not settle within the time. */
function within<T>(promise: Promise<T> | undefined, milliseconds: number): Promise<T | undefined> {
  return Promise.race([promise, delay(milliseconds, undefined)])
}

/** Client port of the database session that holds the processor's lock. */
async function lockPort({ pool }: TestDatabase): Promise<number> {
  const { rows } = await pool.query(
    `select client_port from pg_stat_activity
      where datname = current_database() and application_name = 'processor base lock'`,
  )
  expect(rows.length).toBe(1)
  return rows[0].client_port
}
