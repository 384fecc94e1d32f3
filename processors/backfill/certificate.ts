import type { Shard } from '../../db/queries/chain/backfill.ts'
import { Refusal } from '../refusal.ts'
import { addTally, emptyTally, type Tally } from './row-pages.ts'

/** What a range of blocks came to, for whoever wants to compare it with another index or source. */
export interface Certificate extends Tally {
  readonly firstBlock: number
  readonly lastBlock: number
  /** Lowercase hex. */
  readonly firstHash: string
  readonly lastHash: string
}

/** The certificate of one shard. Throws when it is not loaded to its end. */
export function certificateOf(shard: Shard): Certificate {
  const { firstBlock, lastBlock, nextBlock, firstHash, lastHash, settlements, amount, checksum } = shard
  if (nextBlock <= lastBlock || !firstHash || !lastHash) {
    throw new Refusal(`blocks ${nextBlock} to ${lastBlock} are not loaded yet; run the backfill to its end first`)
  }
  return { firstBlock, lastBlock, firstHash, lastHash, settlements, amount, checksum }
}

/** The certificate of the whole range. Throws when two shards are not of one chain. */
export function joinCertificates(shards: readonly Shard[]): Certificate {
  const first = shards[0] as Shard
  const last = shards.at(-1) as Shard
  for (const [at, shard] of shards.entries()) {
    const before = shards[at - 1]
    if (before && before.lastHash !== shard.parentHash) {
      throw new Refusal(
        `block ${shard.firstBlock} has parent ${shard.parentHash}, but block ${before.lastBlock} was loaded as ${before.lastHash}: ` +
          'the source changed its chain; verify against another one',
      )
    }
  }
  const tally = shards.map(certificateOf).reduce(addTally as (sum: Tally, more: Certificate) => Tally, emptyTally())
  return {
    firstBlock: first.firstBlock,
    lastBlock: last.lastBlock,
    firstHash: first.firstHash as string,
    lastHash: last.lastHash as string,
    ...tally,
  }
}

/** One line: two ranges hold the same when their lines are equal. */
export function printCertificate(chain: string, certificate: Certificate): string {
  const { firstBlock, lastBlock, settlements, amount, checksum, firstHash, lastHash } = certificate
  const sum = checksum.toString(16).padStart(16, '0')
  return `${chain} ${firstBlock} to ${lastBlock}: ${settlements} settlements, amount ${amount}, checksum ${sum}, first block ${firstHash}, last block ${lastHash}`
}
