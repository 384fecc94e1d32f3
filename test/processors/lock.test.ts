import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../chains.file.ts'
import { noticeLostClient } from '../../db/queries/chain/lock.ts'
import { abandonRange } from '../../processors/backfill/abandon.ts'
import { commandWaitMs, lockForProcessor } from '../../processors/store/lock.ts'
import { startTcpLink } from '../doubles/tcp-link.ts'
import { createTestDatabase } from '../support/database.ts'
import { chain, type LoadRun, startLoadRun } from './backfill/load-run.ts'

const { base } = readChains({ env: {} })
const onLost = (error: Error) => {
  throw error
}
let run: LoadRun
beforeAll(async () => {
  run = await startLoadRun()
})
afterAll(() => run?.end())

test('a reservation that goes while a processor waits for the lock is not passed by', async () => {
  const database = await run.database()
  expect((await run.load(database, ['--chain', 'base', '--from', 1_200, '--to', 1_399, '--workers', 1])).code).toBe(0)
  const lock = await lockForProcessor(database.url, base, { waitMs: commandWaitMs, onLost })
  const processor = await run.processor(database)
  onTestFinished(() => processor.stop())
  await processor.untilOutput(/waiting for it/)
  await abandonRange(database.pool, base, { fromBlock: 1_200, toBlock: 1_399 })
  await lock.release()
  await processor.untilIndexed(chain.lastBlock)
  expect(await run.difference(database)).toBe('')
})

test('a processor whose database vanishes without a word ends', { timeout: 60_000 }, async () => {
  const database = await run.database()
  const link = await startTcpLink(Number(new URL(database.url).port))
  onTestFinished(() => link.close())
  const through = new URL(database.url)
  through.port = String(link.port)
  const processor = await run.processor({ ...database, url: through.href })
  onTestFinished(() => processor.stop())
  await processor.untilOutput(/indexing base/)
  link.freeze()
  expect(await processor.untilExit(40_000)).toBe(1)
  expect(processor.output()).toMatch(/lost the connection that keeps other processors of base away|timeout/)
})

test('the server notices within 25 seconds that the owner of the lock vanished', async () => {
  const { pool, drop } = await createTestDatabase()
  onTestFinished(drop)
  const session = await pool.connect()
  await noticeLostClient(session)
  const { rows } = await session.query(
    `select current_setting('tcp_keepalives_idle')::int + current_setting('tcp_keepalives_interval')::int
            * current_setting('tcp_keepalives_count')::int as seconds,
            current_setting('client_connection_check_interval') as checked`,
  )
  session.release(true)
  expect(rows).toEqual([{ seconds: 25, checked: '10s' }])
})
