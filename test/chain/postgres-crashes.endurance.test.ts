import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { type CrashingServer, startCrashingServer } from '../doubles/crashing-server.ts'
import { forkHere } from '../support/chain/branches.ts'
import { cleanTables, startProcessor, untilSame } from '../support/chain/index-chain.ts'
import { until } from '../support/until.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from './traffic.ts'
import { expectDerived } from './traffic-agents.ts'

const finality = 5 // blocks
/** Tables of a batch; in each round Postgres crashes before the batch writes its first row to one of them. */
const writtenTo = [
  'settlement',
  'registration',
  'chain_state',
  'feedback',
  'processor_base.hot_block',
  'registration_transfer',
  'processor_base.status',
  'unpaid_authorization',
  'registration_metadata',
  'processor_base.hot_change_log',
]
const blocksPerRound = 3
/** Milliseconds; ten recoveries of the server and eleven starts of a processor, one after the other. */
const timeout = 900_000

let chain: DevChain
let server: CrashingServer
beforeAll(async () => {
  chain = await startDevChain('base', { funded: trafficAddresses })
  await prepareTraffic(chain)
  server = await startCrashingServer()
})
afterAll(async () => {
  await server?.remove()
  await chain?.stop()
})

test('a Postgres that ends at once in the middle of ten batches costs no row, and the processor says why it ends', {
  timeout,
}, async () => {
  for (const [round, table] of writtenTo.entries()) {
    await (await forkHere(chain)).mine(await trafficBranch(chain, `round ${round}`, blocksPerRound))
    const release = await holdBack(table)
    const processor = await startProcessor(chain, server.database, { finality })
    try {
      await until(`a batch waits to write to ${table}`, () => isWaiting(table))
      await server.crash()
      await release()
      expect(await processor.untilExit()).toBe(1)
      const lines = processor.output().split('\n')
      expect(lines.filter((line) => /"level":60|^[^{]/.test(line) && line !== '')).toHaveLength(1)
    } finally {
      await server.start()
      await processor.stop()
    }
  }
  const { database } = server
  const processor = await startProcessor(chain, database, { finality })
  try {
    await untilSame({ database, processor }, chain, await cleanTables(chain, { finality }), 60)
    await expectDerived(database)
  } finally {
    await processor.stop()
  }
})

/** Locks a table against writes. Resolves with the function that releases the lock; it works after a crash too. */
async function holdBack(table: string): Promise<() => Promise<void>> {
  const holder = await server.database.pool.connect()
  holder.on('error', () => {})
  await holder.query('begin')
  await holder.query(`lock table ${table} in exclusive mode`)
  return async () => holder.release(true)
}

async function isWaiting(table: string): Promise<boolean> {
  const { rows } = await server.database.pool.query(
    `select from pg_locks join pg_stat_activity using (pid)
      where relation = $1::regclass and not granted and application_name = 'processor base'`,
    [table],
  )
  return rows.length > 0
}
