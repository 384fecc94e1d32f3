import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from '../../chain/traffic.ts'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { readBlocks } from '../../doubles/portal/rpc-blocks.ts'
import { type Portal, startPortal } from '../../doubles/portal/server.ts'
import { forkHere } from '../../support/chain/branches.ts'
import { describeDifference, readChainTables } from '../../support/chain/oracle.ts'
import { spawnProcessor } from '../../support/chain/processor.ts'
import { chainSettings, type SettingsOptions } from '../../support/chain/settings.ts'
import { createTestDatabase } from '../../support/database.ts'
import { runMain } from '../../support/mains.ts'

const keptBlocks = 4
const laterBlocks = 6

let chain: DevChain
let target: number
let head: number
let folder: string
beforeAll(async () => {
  chain = await startDevChain('base', { genesisTime: 1_770_000_000, funded: trafficAddresses })
  await prepareTraffic(chain)
  const fork = await forkHere(chain)
  target = Number(await chain.client.getBlockNumber()) + keptBlocks
  head = target + laterBlocks
  await fork.mine(await trafficBranch(chain, 'archived', keptBlocks + laterBlocks))
  folder = await mkdtemp(join(tmpdir(), 'reset-sources-test-'))
})
afterAll(async () => {
  await chain?.stop()
  await rm(folder, { recursive: true, force: true })
})

test.each<[string, (portal: Portal) => SettingsOptions]>([
  ['the Portal', ({ url }) => ({ portal: url })],
  ['a v2 archive', (portal) => ({ gateway: portal.gatewayUrl('base-mainnet') })],
])('over %s alone, a chain that is taken back is what it was at that block', async (name, sourceOf) => {
  const source = memorySource({ blocks: await readBlocks(chain.rpc, 0, target), chunkBlocks: 5 })
  const portal = await startPortal({ datasets: { 'base-mainnet': source } })
  const database = await createTestDatabase()
  const settings = chainSettings(chain, { finality: 2, rpc: null, ...sourceOf(portal) })
  const chainsFile = join(folder, `${name}.json`)
  await writeFile(chainsFile, JSON.stringify(settings))
  const indexTo = async (block: number) => {
    const processor = await spawnProcessor({ chain: 'base', databaseUrl: database.url, chainSettings: settings })
    await processor.untilIndexed(block)
    await processor.stop()
    const { chain_state: _, ...tables } = await readChainTables(database.pool, 'base')
    return { ...tables, chain_state: [] }
  }
  try {
    const then = await indexTo(target)
    source.append(await readBlocks(chain.rpc, target + 1, head))
    const whole = await indexTo(head)
    expect(describeDifference(whole, then)).not.toBe('')
    const env = { DATABASE_URL: database.url, CHAINS_FILE: chainsFile }
    const args = ['--chain', 'base', '--to', String(target)]
    const { code, stdout, stderr } = await runMain('processors/reset/main.ts', args, { env })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^base: back at block ${target}, from ${head}: [1-9]\\d* settlements deleted`))
    const now = { ...(await readChainTables(database.pool, 'base')), chain_state: [] }
    expect(describeDifference(now, then)).toBe('')
    expect(describeDifference(await indexTo(head), whole)).toBe('')
  } finally {
    await portal.stop()
    await database.drop()
  }
})
