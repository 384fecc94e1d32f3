import type { ChainName } from '../../config/chains.ts'
import type { BlockScanner } from '../history/block-scanner.ts'
import type { BuilderCodes } from '../mapping/builder-codes.ts'
import { followLegs } from '../mapping/forwarded-legs.ts'
import type { Matching } from '../mapping/matching.ts'
import { type PaymentRow, toLegRow } from '../mapping/payments.ts'
import type { PlaceFields } from './place-fields.ts'

/** Characters of `0x` in front of the digits of a hash. */
const prefix = 2
const hashDigits = 64

/** Forwarded legs of the settlements that a transaction's calldata confirms: the rows that `paymentsOf` would make. */
export function legRows(
  chain: ChainName,
  fields: PlaceFields,
  confirmed: Matching<number>['confirmed'],
  { number, timestamp, fromAt, txHashAt }: BlockScanner,
  transaction: number,
  codes: BuilderCodes | undefined,
): PaymentRow[] {
  const settled = confirmed.map(({ authorization, transfer }) => ({
    logIndex: authorization.logIndex,
    payer: authorization.authorizer,
    transfer,
  }))
  return followLegs(fields, fields.transfers, settled).map(({ paid, transfer: leg, depth }) =>
    toLegRow(
      {
        chain,
        blockNumber: number,
        blockTimestamp: timestamp * 1000,
        facilitator: fields.addressAt((fromAt[transaction] as number) + prefix),
        txHash: fields.hexAt((txHashAt[transaction] as number) + prefix, hashDigits),
        codes,
      },
      {
        depth,
        originLogIndex: paid.logIndex,
        payer: fields.addressAt(paid.payer),
        logIndex: leg.logIndex,
        token: fields.addressAt(leg.token),
        from: fields.addressAt(leg.from),
        to: fields.addressAt(leg.to),
        amount: fields.amountOf(leg.amount),
      },
    ),
  )
}
