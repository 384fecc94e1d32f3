import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../config/chains.file.ts'
import { migrate } from '../../db/migrate.ts'
import { createPool, sessionOf } from '../../db/pool.ts'
import { refusePooler } from '../../db/pooler.ts'
import { abandonRange } from '../../processors/backfill/abandon.ts'
import { commandWaitMs, lockForProcessor } from '../../processors/store/lock.ts'
import { startTcpLink } from '../doubles/tcp-link.ts'
import { startPooler } from '../doubles/transaction-pooler.ts'
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

test('a processor whose database vanishes without a word ends', async () => {
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

test('the server notices within 25 seconds that the owner of a lock vanished', async () => {
  const { url, drop } = await createTestDatabase()
  onTestFinished(drop)
  const asked = `
    select current_setting('tcp_keepalives_idle')::int + current_setting('tcp_keepalives_interval')::int
           * current_setting('tcp_keepalives_count')::int as seconds,
           current_setting('tcp_user_timeout') as unacknowledged,
           current_setting('client_connection_check_interval') as checked`
  const session = new pg.Client({ connectionString: sessionOf(url) })
  await session.connect()
  expect((await session.query(asked)).rows).toEqual([{ seconds: 25, unacknowledged: '25000', checked: '10s' }])
  await session.end()
  const pool = createPool({ databaseUrl: url, name: 'a load', max: 1, statementTimeoutMs: 0 })
  expect((await pool.query(asked)).rows).toEqual([{ seconds: 25, unacknowledged: '0', checked: '10s' }])
  await pool.end()
})

test('a processor is refused through a pooler that gives its connections away', async () => {
  const { url, drop } = await createTestDatabase()
  onTestFinished(drop)
  const pooler = await startPooler(Number(new URL(url).port))
  onTestFinished(() => pooler.close())
  const through = new URL(url)
  through.port = String(pooler.port)
  const line = /between here and the database is a pooler .* name the server itself in DATABASE_URL/
  await expect(lockForProcessor(through.href, base, { waitMs: commandWaitMs, onLost })).rejects.toThrow(line)
  await expect(migrate(through.href)).rejects.toThrow(line)
  await expect(refusePooler(url)).resolves.toBeUndefined()
})
