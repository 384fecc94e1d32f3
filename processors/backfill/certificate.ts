import type { Shard } from '../../db/queries/chain/backfill.ts'
import { Refusal } from '../../ops/cli.ts'
import { addPaymentTally, emptyPaymentTally, type PaymentTally } from '../store/payment-tally.ts'
import { addTally, emptyTally, type Tally } from './row-pages.ts'

/** Totals of a range of blocks, for comparison with another index or source. */
export interface Certificate extends Tally, PaymentTally {
  readonly firstBlock: number
  readonly lastBlock: number
  /** Lowercase hex. */
  readonly firstHash: string
  readonly lastHash: string
}

/** The certificate of one shard. Throws when it is not loaded to its end. */
export function certificateOf(shard: Shard): Certificate {
  const { firstBlock, lastBlock, nextBlock, firstHash, lastHash, settlements, amount, checksum } = shard
  const { payments, paymentChecksum } = shard
  if (nextBlock <= lastBlock || !firstHash || !lastHash) {
    throw new Refusal(`blocks ${nextBlock} to ${lastBlock} are not loaded yet; finish the backfill first`)
  }
  return { firstBlock, lastBlock, firstHash, lastHash, settlements, amount, checksum, payments, paymentChecksum }
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
          'the source changed its chain; verify against another source',
      )
    }
  }
  const certificates = shards.map(certificateOf)
  const tally = certificates.reduce(addTally as (sum: Tally, more: Certificate) => Tally, emptyTally())
  const paid = certificates.reduce<PaymentTally>(addPaymentTally, emptyPaymentTally())
  return {
    firstBlock: first.firstBlock,
    lastBlock: last.lastBlock,
    firstHash: first.firstHash as string,
    lastHash: last.lastHash as string,
    ...tally,
    ...paid,
  }
}

/** A certificate as one line: two ranges hold the same rows when their lines are equal. */
export function printCertificate(chain: string, certificate: Certificate): string {
  const { firstBlock, lastBlock, settlements, amount, checksum, firstHash, lastHash } = certificate
  const { payments, paymentChecksum } = certificate
  const digits = (sum: bigint) => sum.toString(16).padStart(16, '0')
  return (
    `${chain} ${firstBlock} to ${lastBlock}: ${settlements} settlements, amount ${amount}, checksum ${digits(checksum)}, ` +
    `${payments} payments beside them, checksum ${digits(paymentChecksum)}, first block ${firstHash}, last block ${lastHash}`
  )
}
