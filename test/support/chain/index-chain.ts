import { setTimeout as delay } from 'node:timers/promises'
import type { DevChain } from '../../../devnet/chain/chain.ts'
import { createTestDatabase, type TestDatabase } from '../database.ts'
import { type ChainTables, describeDifference, holdsTables, readChainTables } from './oracle.ts'
import { spawnProcessor, type TestProcessor } from './processor.ts'
import { chainSettings, type SettingsOptions } from './settings.ts'

/** A database of a test's own and a real processor that fills it from a local chain. */
export interface ChainIndex {
  readonly database: TestDatabase
  readonly processor: TestProcessor
  /** Resolves once every block that the chain has now is indexed. */
  untilHead(): Promise<void>
  tables(): Promise<ChainTables>
  close(): Promise<void>
}

const sameSeconds = 90
const pollMs = 100

/** Starts a processor of the chain on a new, empty database. */
export async function indexChain(chain: DevChain, options: SettingsOptions = {}): Promise<ChainIndex> {
  const database = await createTestDatabase()
  const processor = await startProcessor(chain, database, options)
  return {
    database,
    processor,
    untilHead: () => untilHead(chain, processor),
    tables: () => readChainTables(database.pool, chain.name),
    async close() {
      await processor.stop()
      await database.drop()
    },
  }
}

/** A processor of the chain on a database that exists already. */
export function startProcessor(chain: DevChain, { url }: TestDatabase, options: SettingsOptions = {}) {
  return spawnProcessor({ chain: chain.name, databaseUrl: url, chainSettings: chainSettings(chain, options) })
}

/** Tables of a clean index: the chain as it is now, indexed from nothing by a new processor. */
export async function cleanTables(chain: DevChain, options: SettingsOptions = {}): Promise<ChainTables> {
  const index = await indexChain(chain, options)
  try {
    await index.untilHead()
    return await index.tables()
  } finally {
    await index.close()
  }
}

/**
 * Resolves once the tables equal the expected ones. The indexed height does not suffice after a reorg, because the
 * block of that height may be the old one. Throws with the difference when they are not equal in time.
 */
export async function untilSame(
  { database, processor }: Pick<ChainIndex, 'database' | 'processor'>,
  chain: DevChain,
  expected: ChainTables,
  withinSeconds = sameSeconds,
) {
  for (const deadline = Date.now() + withinSeconds * 1000; Date.now() < deadline; await delay(pollMs)) {
    if (await holdsTables(database.pool, chain.name, expected)) return
  }
  const difference = describeDifference(await readChainTables(database.pool, chain.name), expected)
  if (difference === '') return
  throw new Error(`the tables differ from a clean index:\n${difference}\n\nthe processor said:\n${processor.output()}`)
}

async function untilHead(chain: DevChain, processor: TestProcessor) {
  await processor.untilIndexed(Number(await chain.client.getBlockNumber()))
}
