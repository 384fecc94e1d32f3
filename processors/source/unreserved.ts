import { events } from '../../abi/generated/dollar-token.ts'
import type { ArchiveQuery } from '../portal/query.ts'
import type { Backfilled } from '../reserved.ts'
import type { SdkArchive } from './sdk.ts'

/**
 * An archive that is not asked for settlements of blocks which a backfill has reserved, also while the processor runs. A
 * question ends where a reservation begins or ends.
 */
export function unreserved(
  archive: SdkArchive,
  reservedFrom: ((block: number) => Promise<Backfilled>) | undefined,
): SdkArchive {
  if (!reservedFrom) return archive
  return {
    getHeight: () => archive.getHeight(),
    async query(query: ArchiveQuery) {
      if (query.fromBlock === query.toBlock || !query.logs?.some(asksForSettlements)) return archive.query(query)
      const [next] = await reservedFrom(query.fromBlock)
      return archive.query(next ? outside(query, next) : query)
    },
  }
}

function outside(query: ArchiveQuery, { fromBlock, toBlock }: Backfilled[number]): ArchiveQuery {
  const end = (block: number) => Math.min(query.toBlock ?? block, block)
  if (query.fromBlock < fromBlock) return { ...query, toBlock: end(fromBlock - 1) }
  return { ...query, toBlock: end(toBlock), logs: query.logs?.filter((logs) => !asksForSettlements(logs)) }
}

function asksForSettlements(logs: { readonly topic0?: readonly string[] }): boolean {
  return logs.topic0?.includes(events.AuthorizationUsed.topic) === true
}
