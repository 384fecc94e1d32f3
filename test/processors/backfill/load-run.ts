import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { paymentChain } from '../../../bench/payment-chain.ts'
import { type Portal, startPortal } from '../../doubles/portal/server.ts'
import { type BackfillOptions, runBackfill, startBackfill } from '../../support/chain/backfill.ts'
import { type ChainTables, describeDifference, readChainTables } from '../../support/chain/oracle.ts'
import { spawnProcessor } from '../../support/chain/processor.ts'
import { createTestDatabase, type OwnDatabase, type TestDatabase } from '../../support/database.ts'

/** Stream requests that the estimate makes before the load begins. */
export const estimateRequests = 8

/** Three thousand calls in six hundred blocks, as in a busy month of Base. */
export const chain = paymentChain({ firstBlock: 1_000, chunkBlocks: 20, chunks: 30 })

export interface LoadRun {
  readonly portal: Portal
  /** Rows that the chain's processor writes: those that a backfill must leave. */
  readonly expected: ChainTables
  /** An empty database; dropped at the end. */
  database(): Promise<TestDatabase>
  options(database: TestDatabase, args: readonly (string | number)[], more?: object): BackfillOptions
  /** Runs a backfill to its end; `args`: of its command line; default: all blocks. */
  load(database: TestDatabase, args?: readonly (string | number)[], more?: object): ReturnType<typeof runBackfill>
  start(database: TestDatabase, args?: readonly (string | number)[]): ReturnType<typeof startBackfill>
  /** Environment for the project's other commands. */
  environment(database: TestDatabase): NodeJS.ProcessEnv
  processor(database: TestDatabase, env?: Record<string, string>): ReturnType<typeof spawnProcessor>
  /** Describes where the rows differ from `expected`; empty: nowhere. */
  difference(database: TestDatabase): Promise<string>
  end(): Promise<void>
}

export const all = ['--chain', 'base', '--from', chain.firstBlock, '--to', chain.lastBlock]

export async function startLoadRun(): Promise<LoadRun> {
  const portal = await startPortal({ datasets: { 'base-mainnet': chain.source }, chunksPerAnswer: 5 })
  const databases: OwnDatabase[] = []
  const folder = await mkdtemp(join(tmpdir(), 'load-run-'))
  const chainsFile = join(folder, 'chains.json')
  const contract = (address: string) => ({ address, fromBlock: chain.firstBlock })
  const settings = {
    rpc: null,
    portal: portal.url,
    registry: contract('0x8004a169fb4a3325136eb29fa0ceb6d2e539a432'),
    reputation: contract('0x8004baa17c55a88189ae136b182e5fda19de9b63'),
    tokens: [{ ...contract(chain.token), decimals: 6 }],
  }
  await writeFile(chainsFile, JSON.stringify({ base: settings }))
  const database = async () => {
    const made = await createTestDatabase()
    databases.push(made)
    return made
  }
  const processor = ({ url }: TestDatabase, env?: Record<string, string>) =>
    spawnProcessor({ chain: 'base', databaseUrl: url, chainSettings: { base: settings }, env })
  const options: LoadRun['options'] = ({ url }, args, more = {}) => ({
    databaseUrl: url,
    chainSettings: { base: { ...settings, ...more } },
    args: args.map(String),
  })
  const read = async ({ pool }: TestDatabase) => ({ ...(await readChainTables(pool, 'base')), chain_state: [] })

  const indexed = await database()
  const running = await processor(indexed)
  await running.untilIndexed(chain.lastBlock)
  await running.stop()
  const expected = await read(indexed)
  return {
    portal,
    expected,
    database,
    options,
    load: (target, args = all, more) => runBackfill(options(target, args, more)),
    start: (target, args = all) => startBackfill(options(target, args)),
    environment: ({ url }) => ({ DATABASE_URL: url, CHAINS_FILE: chainsFile }),
    processor,
    difference: async (target) => describeDifference(await read(target), expected),
    async end() {
      await portal.stop()
      await rm(folder, { recursive: true, force: true })
      for (const one of databases) await one.drop()
    },
  }
}
