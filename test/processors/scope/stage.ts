import type { BlockSource } from '../../doubles/portal/blocks.ts'
import { generatedSource } from '../../doubles/portal/generated-source.ts'
import { type Portal, startPortal } from '../../doubles/portal/server.ts'
import { readChainTables } from '../../support/chain/oracle.ts'
import { spawnProcessor, type TestProcessor } from '../../support/chain/processor.ts'
import { verifiedScope } from '../../support/chain/scope.ts'
import { createTestDatabase, type OwnDatabase, type TestDatabase } from '../../support/database.ts'

export const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
export const firstBlock = 1_000

/** Blocks of payments to a few recipients. */
export function paidBlocks(blocks: number, settlementsPerBlock: number, recipients: number): BlockSource {
  return generatedSource({ firstBlock, blocks, settlementsPerBlock, token, recipients, chunkBlocks: 10 })
}

/** A Portal that serves a generated chain, with databases and processors for it. */
export interface ScopeStage {
  readonly portal: Portal
  readonly settings: { readonly base: Record<string, unknown> }
  database(): Promise<TestDatabase>
  /** Starts a processor, by default with the verified scope; `end` stops it. */
  start(database: TestDatabase, env?: Record<string, string>): Promise<TestProcessor>
  /** All settlements of the chain up to a block, from a processor that stores every one. */
  cleanSettlements(lastBlock: number): Promise<string[]>
  end(): Promise<void>
}

/** `more`: settings of the chain that replace the defaults. */
export async function startStage(
  source: BlockSource,
  more: (portal: Portal) => object = () => ({}),
): Promise<ScopeStage> {
  const portal = await startPortal({ datasets: { 'base-mainnet': source }, chunksPerAnswer: 3 })
  const contract = (address: string) => ({ address, fromBlock: firstBlock })
  const settings = {
    base: {
      rpc: null,
      portal: portal.url,
      registry: contract('0x8004a169fb4a3325136eb29fa0ceb6d2e539a432'),
      reputation: contract('0x8004baa17c55a88189ae136b182e5fda19de9b63'),
      tokens: [{ ...contract(token), decimals: 6 }],
      ...more(portal),
    },
  }
  const databases: OwnDatabase[] = []
  const processors: TestProcessor[] = []
  const database = async () => {
    const made = await createTestDatabase()
    databases.push(made)
    return made
  }
  const start = async ({ url }: TestDatabase, env: Record<string, string> = verifiedScope) => {
    const processor = await spawnProcessor({ chain: 'base', databaseUrl: url, chainSettings: settings, env })
    let stopped: Promise<void> | undefined
    const stop = () => {
      stopped ??= processor.stop()
      return stopped
    }
    processors.push({ ...processor, stop })
    return { ...processor, stop }
  }
  return {
    portal,
    settings,
    database,
    start,
    async cleanSettlements(lastBlock) {
      const clean = await database()
      const processor = await start(clean, {})
      await processor.untilIndexed(lastBlock)
      await processor.stop()
      return (await readChainTables(clean.pool, 'base')).settlement
    },
    async end() {
      for (const processor of processors) await processor.stop()
      await portal.stop()
      for (const one of databases) await one.drop()
    },
  }
}

/** Addresses that are paid, most paid first. */
export function recipientsOf(settlements: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const row of settlements) {
    const recipient = `0x${JSON.parse(row).recipient.slice(2)}`
    counts.set(recipient, (counts.get(recipient) ?? 0) + 1)
  }
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([recipient]) => recipient)
}
