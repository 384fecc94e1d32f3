import type { BlockSource } from '../../doubles/portal/blocks.ts'
import type { Faults } from '../../doubles/portal/faults.ts'
import { generatedSource } from '../../doubles/portal/generated-source.ts'
import { type Portal, startPortal } from '../../doubles/portal/server.ts'
import { type ChainTables, readChainTables } from '../../support/chain/oracle.ts'
import { spawnProcessor, type TestProcessor } from '../../support/chain/processor.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

export const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

/** First block of the generated chain, and of what the processor asks for. */
export const firstBlock = 1_000
export const lastBlock = 1_299
const chunkBlocks = 10

/** Three hundred blocks, each with two payments, in thirty chunks. */
function paymentChain(): BlockSource {
  const blocks = lastBlock - firstBlock + 1
  return generatedSource({ firstBlock, blocks, settlementsPerBlock: 2, token, chunkBlocks })
}

export interface PortalRun {
  readonly portal: Portal
  readonly database: TestDatabase
  readonly processor: TestProcessor
  tables(): Promise<ChainTables>
  /** Another processor on the same database, after the first has ended. */
  restart(): Promise<TestProcessor>
  /** Stops everything; a second time it does nothing. */
  end(): Promise<void>
}

interface RunOptions {
  readonly source?: BlockSource
  /** Chunks one answer covers. Default: 5, so that the chain takes six answers. */
  readonly chunksPerAnswer?: number
  /** Adds faults to the Portal, before the processor's first request. */
  readonly faults?: (faults: Faults) => void
  readonly env?: Record<string, string>
}

/** Starts the real processor of Base on a generated chain, read from a Portal with these faults. */
export async function runThroughPortal(options: RunOptions = {}): Promise<PortalRun> {
  const { source = paymentChain(), chunksPerAnswer = 5, faults, env } = options
  const portal = await startPortal({ datasets: { 'base-mainnet': source }, chunksPerAnswer })
  faults?.(portal.faults)
  const database = await createTestDatabase()
  const contract = (address: string) => ({ address, fromBlock: firstBlock })
  const settings = {
    rpc: null,
    portal: portal.url,
    registry: contract('0x8004a169fb4a3325136eb29fa0ceb6d2e539a432'),
    reputation: contract('0x8004baa17c55a88189ae136b182e5fda19de9b63'),
    tokens: [{ ...contract(token), decimals: 6 }],
  }
  const spawn = () =>
    spawnProcessor({ chain: 'base', databaseUrl: database.url, chainSettings: { base: settings }, env })
  const processor = await spawn()
  const processors = [processor]
  return {
    portal,
    database,
    processor,
    tables: () => readChainTables(database.pool, 'base'),
    async restart() {
      const next = await spawn()
      processors.push(next)
      return next
    },
    async end() {
      if (processors.length === 0) return
      for (const processor of processors.splice(0)) await processor.stop()
      await portal.stop()
      await database.drop()
    },
  }
}
