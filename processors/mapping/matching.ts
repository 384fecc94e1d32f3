import type { Authorization, TransactionFields, Transfer } from './fields.ts'
import { findCall } from './selector.ts'

/** An authorization with the transfer it made. */
interface Match<V> {
  readonly authorization: Authorization<V>
  readonly transfer: Transfer<V>
  /** Place in the calldata of the call that executed the authorization. */
  readonly place: number
}

/**
 * The part of the settlement rule that logs and calldata decide. It gives each authorization the transfer it made: the
 * first later one of the same token, from the same authorizer, that is not taken. Tokens log the authorization first
 * and then the transfer.
 */
export class Matching<V> {
  /** Authorizations whose call the calldata confirms, in log order. */
  readonly confirmed: Match<V>[] = []
  /** Authorizations that moved money but that the calldata does not confirm: traces or the logs must decide. */
  readonly open: Authorization<V>[] = []
  readonly #taken = new Set<Transfer<V>>()

  constructor(private readonly fields: TransactionFields<V>) {
    // What the calldata confirms goes first: an authorization that has only the order of the logs on its side must not
    // take the transfer of one that is proven.
    for (const authorization of fields.authorizations) {
      const transfer = this.next(authorization)
      if (!transfer) continue
      const place = findCall(fields, authorization, transfer)
      if (place === undefined) {
        this.open.push(authorization)
        continue
      }
      this.take(transfer)
      this.confirmed.push({ authorization, transfer, place })
    }
    if (this.open.length > 0) this.open = this.open.filter((authorization) => this.next(authorization))
  }

  /** The transfer that an authorization would take, without taking it; undefined: it moved no money. */
  next({ logIndex, token, authorizer }: Authorization<V>): Transfer<V> | undefined {
    const { fields } = this
    for (const transfer of fields.transfers) {
      if (
        transfer.logIndex > logIndex &&
        !this.#taken.has(transfer) &&
        fields.isSameAddress(transfer.token, token) &&
        fields.isSameAddress(transfer.from, authorizer)
      ) {
        return transfer
      }
    }
    return undefined
  }

  take(transfer: Transfer<V>): void {
    this.#taken.add(transfer)
  }
}
