import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from '../../chain/traffic.ts'
import { memorySource } from '../../doubles/portal/memory-source.ts'
import { readBlocks } from '../../doubles/portal/rpc-blocks.ts'
import { type Portal, startPortal } from '../../doubles/portal/server.ts'
import { runBackfill } from '../../support/chain/backfill.ts'
import { forkHere } from '../../support/chain/branches.ts'
import { describeDifference, readChainTables } from '../../support/chain/oracle.ts'
import { spawnProcessor } from '../../support/chain/processor.ts'
import { chainSettings, type SettingsOptions } from '../../support/chain/settings.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { type Ended, runMain } from '../../support/mains.ts'

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

async function indexTo(block: number, database: TestDatabase, settings: object): Promise<void> {
  const processor = await spawnProcessor({ chain: 'base', databaseUrl: database.url, chainSettings: settings })
  await processor.untilIndexed(block)
  await processor.stop()
}

/** Takes the chain back to the target block. */
async function reset(database: TestDatabase, settings: object): Promise<Ended> {
  const chainsFile = join(folder, 'chains.json')
  await writeFile(chainsFile, JSON.stringify(settings))
  const env = { DATABASE_URL: database.url, CHAINS_FILE: chainsFile }
  return runMain('processors/reset/main.ts', ['--chain', 'base', '--to', String(target)], { env })
}

test.each<[string, (portal: Portal) => SettingsOptions]>([
  ['the Portal', ({ url }) => ({ portal: url })],
  ['a v2 archive', (portal) => ({ gateway: portal.gatewayUrl('base-mainnet') })],
])('over %s alone, a chain that is taken back is what it was at that block', async (_, sourceOf) => {
  const source = memorySource({ blocks: await readBlocks(chain.rpc, 0, target), chunkBlocks: 5 })
  const portal = await startPortal({ datasets: { 'base-mainnet': source } })
  const database = await createTestDatabase()
  const settings = chainSettings(chain, { finality: 2, rpc: null, ...sourceOf(portal) })
  const tablesAt = async (block: number) => {
    await indexTo(block, database, settings)
    const { chain_state: _, ...tables } = await readChainTables(database.pool, 'base')
    return { ...tables, chain_state: [] }
  }
  try {
    const then = await tablesAt(target)
    source.append(await readBlocks(chain.rpc, target + 1, head))
    const whole = await tablesAt(head)
    expect(describeDifference(whole, then)).not.toBe('')
    const { code, stdout, stderr } = await reset(database, settings)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^base: back at block ${target}, from ${head}: [1-9]\\d* settlements deleted`))
    const now = { ...(await readChainTables(database.pool, 'base')), chain_state: [] }
    expect(describeDifference(now, then)).toBe('')
    expect(describeDifference(await tablesAt(head), whole)).toBe('')
  } finally {
    await portal.stop()
    await database.drop()
  }
})

test('a backfill that the block lies in ends with it, and so do the payments that it certifies', async () => {
  const source = memorySource({ blocks: await readBlocks(chain.rpc, 0, head), chunkBlocks: 5 })
  const portal = await startPortal({ datasets: { 'base-mainnet': source } })
  const database = await createTestDatabase()
  const settings = chainSettings(chain, { finality: 2, rpc: null, portal: portal.url })
  const backfill = (to: number, ...more: string[]) => {
    const args = ['--chain', 'base', '--from', '0', '--to', String(to), ...more]
    return runBackfill({ databaseUrl: database.url, chainSettings: settings, args })
  }
  const paid = async (to: number) => {
    const { rows } = await database.pool.query(
      'select count(*)::int as payments from payment where block_number <= $1',
      [to],
    )
    return rows[0].payments as number
  }
  const certified = async () => {
    const { rows } = await database.pool.query(
      'select max(last_block)::int as to, sum(payments)::int as payments from backfill_shard',
    )
    return rows
  }
  try {
    expect(await backfill(head - 1, '--workers', '1')).toMatchObject({ code: 0, stderr: '' })
    await indexTo(head, database, settings)
    const kept = await paid(target)
    const loaded = await paid(head - 1)
    expect(kept).toBeGreaterThan(0)
    expect(loaded).toBeGreaterThan(kept)
    expect(await certified()).toEqual([{ to: head - 1, payments: loaded }])

    expect(await reset(database, settings)).toMatchObject({ code: 0, stderr: '' })
    expect(await paid(head)).toBe(kept)
    expect(await certified()).toEqual([{ to: target, payments: kept }])
    const verified = await backfill(target, '--verify', '--portal', portal.url)
    expect(verified).toMatchObject({ code: 0, stderr: '' })
    expect(verified.stdout).toMatch(
      new RegExp(`^the table matches base 0 to ${target}: .*, ${kept} payments beside them, .*\\n.* agrees\\n$`),
    )
  } finally {
    await portal.stop()
    await database.drop()
  }
})
