import { chains } from '../../../config/chains.ts'
import { startPortal } from '../../doubles/portal/server.ts'
import { readChainTables } from '../../support/chain/oracle.ts'
import { spawnProcessor } from '../../support/chain/processor.ts'
import { createTestDatabase } from '../../support/database.ts'
import type { RecordedChain } from '../../support/recorded/file.ts'
import { recordedSource } from '../../support/recorded/recordings.ts'
import { type ExpectedRows, expectedRows, type Row } from './rows.ts'

export type StoredRows = ExpectedRows & { readonly feedback: Row[]; readonly unpaid_authorization: Row[] }

/**
 * Runs the real processor of a chain over the recordings to their end, from the Portal or from a v2 archive. Returns
 * the stored rows and the expected ones.
 */
export async function indexRecordings(chain: RecordedChain, from: 'portal' | 'gateway') {
  const source = recordedSource(chain)
  const dataset = `${chain}-mainnet`
  const portal = await startPortal({ datasets: { [dataset]: source } })
  const database = await createTestDatabase()
  const sources = from === 'portal' ? { portal: portal.url } : { portal: null, gateway: portal.gatewayUrl(dataset) }
  // The registry is asked from the first token's block: blocks before it would be left to a backfill.
  const { registry, tokens } = chains[chain]
  const fromBlock = Math.min(registry.fromBlock, ...tokens.map((token) => token.fromBlock))
  const processor = await spawnProcessor({
    chain,
    databaseUrl: database.url,
    chainSettings: { [chain]: { rpc: null, ...sources, registry: { address: registry.address, fromBlock } } },
  })
  try {
    await processor.untilIndexed(source.head()!.number)
    const tables = await readChainTables(database.pool, chain)
    const read = (table: keyof StoredRows) => tables[table].map((text) => normalized(JSON.parse(text)))
    const stored: StoredRows = {
      registration: read('registration'),
      registration_transfer: read('registration_transfer'),
      registration_metadata: read('registration_metadata'),
      registration_wallet: read('registration_wallet'),
      settlement: read('settlement'),
      builder_code: read('builder_code'),
      feedback: read('feedback'),
      unpaid_authorization: read('unpaid_authorization'),
    }
    const expected = expectedRows(chain, [...source.blocks(0, source.head()!.number)])
    return { stored, expected, requests: [...portal.requests] }
  } finally {
    await processor.stop()
    await portal.stop()
    await database.drop()
  }
}

/** Times in ISO 8601, whatever the zone of the connection. */
function normalized(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) =>
      /(_at|_timestamp)$/.test(column) ? [column, new Date(value as string).toISOString()] : [column, value],
    ),
  )
}
