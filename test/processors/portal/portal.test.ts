import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { PortalRequest } from '../../doubles/portal/server.ts'
import { type ChainTables, describeDifference } from '../../support/chain/oracle.ts'
import { firstBlock, lastBlock, type PortalRun, runThroughPortal } from './run.ts'

/** Rows of a processor whose Portal has no faults. */
let clean: ChainTables
let run: PortalRun

beforeAll(async () => {
  run = await runThroughPortal()
  await run.processor.untilIndexed(lastBlock)
  clean = await run.tables()
  expect(clean.settlement).toHaveLength(600)
  await run.end()
})
afterEach(() => run.end())

describe('a processor of history alone', () => {
  test('resumes behind the last block it stored, and asks for nothing twice', async () => {
    run = await runThroughPortal({
      chunksPerAnswer: 1,
      faults: (faults) => faults.add({ kind: 'silence', lines: 0 }, { skip: 15, times: 2 }),
    })
    const { indexedBlock } = await run.processor.untilIndexed(firstBlock + 20)
    await run.processor.kill('SIGKILL')
    run.portal.faults.clear()
    const asked = run.portal.requests.length
    const processor = await run.restart()
    await processor.untilIndexed(lastBlock)
    const resumed = streamRequests(run).filter((request) => run.portal.requests.indexOf(request) >= asked)
    const [first] = resumed.map(({ body }) => JSON.parse(body)).filter((query) => query.toBlock !== query.fromBlock)
    expect(first.fromBlock).toBeGreaterThan(indexedBlock)
    expect(describeDifference(await run.tables(), clean)).toBe('')
  })

  test('sends its key, and stays silent about it', async () => {
    run = await runThroughPortal({ env: { PORTAL_API_KEY: 'very-secret-key' } })
    await run.processor.untilIndexed(lastBlock)
    const requests = streamRequests(run)
    expect(requests.every(({ headers }) => JSON.stringify(headers).includes('very-secret-key'))).toBe(true)
    expect(run.processor.output()).not.toContain('very-secret-key')
  })
})

function streamRequests({ portal }: PortalRun): PortalRequest[] {
  return portal.requests.filter(({ path }) => path.endsWith('-stream'))
}
