import { afterAll, beforeAll, expect, test } from 'vitest'
import { runBackfill } from '../../tools/backfill.ts'
import { createTestDatabase, type TestDatabase } from '../../tools/database.ts'
import { describeDifference, readChainTables } from '../../tools/oracle.ts'
import { firstBlock, lastBlock, type PortalRun, paymentChain, runThroughPortal, token } from '../portal-run.ts'

let run: PortalRun
let database: TestDatabase
beforeAll(async () => {
  run = await runThroughPortal({ source: paymentChain() })
  await run.processor.untilIndexed(lastBlock)
  database = await createTestDatabase()
})
afterAll(async () => {
  await run?.end()
  await database?.drop()
})

const range = ['--chain', 'base', '--from', String(firstBlock), '--to', String(lastBlock)]

function backfill(...more: string[]) {
  const chainSettings = {
    base: { rpc: null, portal: run.portal.url, tokens: [{ address: token, decimals: 6, fromBlock: firstBlock }] },
  }
  return runBackfill({ databaseUrl: database.url, chainSettings, args: [...range, ...more] })
}

test('it loads what the processor indexes', async () => {
  const { code } = await backfill('--workers', '2')
  expect(code).toBe(0)
  const without = { chain_state: [] }
  const loaded = { ...(await readChainTables(database.pool, 'base')), ...without }
  expect(describeDifference(loaded, { ...(await run.tables()), ...without })).toBe('')
})
