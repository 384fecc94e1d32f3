import { events } from '../../abi/generated/id-registry.ts'
import type { ChainName } from '../../config/chains.ts'
import { FidCustody } from '../../db/model/fidCustody.model.ts'
import { bytesOf, type ChainBlock, type ChainLog, transactionsOf } from './block.ts'

/**
 * Changes of custody in a block, in log order. A recovery is a Transfer that stands next to a Recover of the same
 * transaction, FID and addresses.
 *
 * FIDs above 2^63 are left out: none was ever assigned, and the directory can hold none.
 *
 * Source: farcasterxyz/contracts, IdRegistry.
 */
export function custodyChanges(chain: ChainName, block: ChainBlock, idRegistry: string): FidCustody[] {
  const transactionOf = transactionsOf(block)
  const logs = block.logs.filter((log) => log.address === idRegistry)
  const recovered = new Set(logs.filter((log) => events.Recover.is(log)).map(placeOf))
  return logs
    .filter((log) => events.Transfer.is(log))
    .flatMap((log) => {
      const { from, to, id } = events.Transfer.decode(log)
      if (id > mostFid) return []
      return new FidCustody({
        id: `${chain}-${block.header.height}-${log.logIndex}`,
        chain,
        fid: id,
        from: bytesOf(from),
        to: bytesOf(to),
        kind: recovered.has(placeOf(log)) ? 'r' : 't',
        blockNumber: block.header.height,
        logIndex: log.logIndex,
        blockTimestamp: new Date(block.header.timestamp),
        txHash: bytesOf(transactionOf(log.transactionIndex).hash),
      })
    })
}

const mostFid = 2n ** 63n - 1n

/** Key by which a Transfer and its Recover match: transaction, addresses and FID. */
function placeOf({ transactionIndex, topics }: ChainLog): string {
  return [transactionIndex, ...topics.slice(1)].join(' ')
}
