import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { type CrashingServer, startCrashingServer } from '../doubles/crashing-server.ts'
import { makeSmallDisk, type SmallDisk } from '../doubles/small-disk.ts'
import { forkHere } from '../support/chain/branches.ts'
import { cleanTables, startProcessor, untilSame } from '../support/chain/index-chain.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from './traffic.ts'
import { expectDerived } from './traffic-agents.ts'

const finality = 5 // blocks
/** Blocks that a full disk has no room for: enough to need new pages, in hot blocks and in final ones. */
const blocks = 40
/** Processors that are started again while the disk is full, and end. */
const tries = 2
const timeout = 400_000
/** Keeps the WAL and shared memory small, so that the WAL alone does not fill the disk. */
const settings = { max_wal_size: '48MB', min_wal_size: '32MB', shared_buffers: '16MB' }

let chain: DevChain
let disk: SmallDisk
let server: CrashingServer
beforeAll(async () => {
  chain = await startDevChain('base', { funded: trafficAddresses })
  await prepareTraffic(chain)
  disk = await makeSmallDisk()
  server = await startCrashingServer(join(disk.folder, 'server'), settings)
})
afterAll(async () => {
  await server?.remove()
  await disk?.remove()
  await chain?.stop()
})

test('a disk that is full ends the processor with one line; when there is room again the rows are right', {
  timeout,
}, async () => {
  const fork = await forkHere(chain)
  await fork.mine(await trafficBranch(chain, 'with room', finality))
  let processor = await startProcessor(chain, server.database, { finality })
  await processor.untilIndexed(Number(await chain.client.getBlockNumber()))

  await disk.fill(server.pid)
  await (await forkHere(chain)).mine(await trafficBranch(chain, 'without room', blocks))
  for (let attempt = 1; ; attempt++) {
    expect(await processor.untilExit()).toBe(1)
    expect(faultsOf(processor.output())).toEqual([
      expect.stringMatching(/No space left on device|File too large|connection|ECONNREFUSED/i),
    ])
    await processor.stop()
    if (attempt > tries) break
    processor = await startProcessor(chain, server.database, { finality })
  }

  await disk.free(server.pid)
  await server.start() // a server that could not even write its log has ended
  const { database } = server
  processor = await startProcessor(chain, database, { finality })
  try {
    await untilSame({ database, processor }, chain, await cleanTables(chain, { finality }), 60)
    await expectDerived(database)
  } finally {
    await processor.stop()
  }
})

/** Lines of level error or fatal, and lines that are not JSON. */
function faultsOf(output: string): string[] {
  return output.split('\n').filter((line) => /"level":(50|60)|^[^{]/.test(line) && line !== '')
}
