import { events } from '../../abi/generated/dollar-token.ts'
import type { PaymentContract } from '../../config/chains.row.ts'
import type { Backfilled } from '../backfilled.ts'
import { paymentLogs } from '../mapping/payment-kinds.ts'
import type { ArchiveQuery } from '../portal/query.ts'
import type { SdkArchive } from './sdk.ts'

/**
 * Wraps an archive so that settlements and payments of blocks that a backfill has reserved, even while the processor
 * runs, are not asked for. A query ends where a reservation begins or ends.
 */
export function archiveWithoutBackfilled(
  archive: SdkArchive,
  contracts: readonly PaymentContract[],
  reservedFrom: ((block: number) => Promise<Backfilled>) | undefined,
): SdkArchive {
  if (!reservedFrom) return archive
  const topics = [events.AuthorizationUsed.topic, ...(paymentLogs(contracts)?.topic0 ?? [])]
  const isPaid = ({ topic0 }: LogRequest) => topic0?.some((topic) => topics.includes(topic)) === true
  return {
    getHeight: () => archive.getHeight(),
    async query(query: ArchiveQuery) {
      if (query.fromBlock === query.toBlock || !query.logs?.some(isPaid)) return archive.query(query)
      const [next] = await reservedFrom(query.fromBlock)
      return archive.query(next ? outside(query, next, isPaid) : query)
    },
  }
}

interface LogRequest {
  readonly topic0?: readonly string[]
}

function outside(
  query: ArchiveQuery,
  { fromBlock, toBlock }: Backfilled[number],
  isPaid: (logs: LogRequest) => boolean,
): ArchiveQuery {
  const end = (block: number) => Math.min(query.toBlock ?? block, block)
  if (query.fromBlock < fromBlock) return { ...query, toBlock: end(fromBlock - 1) }
  return { ...query, toBlock: end(toBlock), logs: query.logs?.filter((logs) => !isPaid(logs)) }
}
