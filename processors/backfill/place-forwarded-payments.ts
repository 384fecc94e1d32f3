import type { ChainName } from '../../config/chains.ts'
import type { BlockScanner } from '../history/block-scanner.ts'
import type { BuilderCodes } from '../mapping/builder-codes.ts'
import { followForwarded } from '../mapping/forwarded-payments.ts'
import type { Matching } from '../mapping/matching.ts'
import { type PaymentRow, toForwardedRow } from '../mapping/payments.ts'
import type { PlaceFields } from './place-fields.ts'

/** Characters of `0x` in front of the digits of a hash. */
const prefix = 2
const hashDigits = 64

/** Forwarded payments of the settlements that a transaction's calldata confirms: the rows that `paymentsOf` would make. */
export function forwardedRows(
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
  return followForwarded(fields, fields.transfers, settled).map(({ paid, transfer, depth }) =>
    toForwardedRow(
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
        logIndex: transfer.logIndex,
        token: fields.addressAt(transfer.token),
        from: fields.addressAt(transfer.from),
        to: fields.addressAt(transfer.to),
        amount: fields.amountOf(transfer.amount),
      },
    ),
  )
}
