import { events } from '../../abi/generated/dollar-token.ts'
import { addressOf, type ChainLog } from './block.ts'

/** A token's note that it executed an authorization. */
export interface Authorization {
  readonly logIndex: number
  readonly token: string
  readonly authorizer: string
  readonly nonce: string
}

/** Money that moved in the same transaction. */
export interface Transfer {
  readonly logIndex: number
  readonly token: string
  readonly from: string
  readonly to: string
  /** Base units. */
  readonly amount: bigint
}

/** What the tokens logged in one transaction, in log order. */
export interface TokenLogs {
  readonly authorizations: readonly Authorization[]
  readonly transfers: readonly Transfer[]
}

/** Logs of other contracts are passed over. */
export function readTokenLogs(logs: readonly ChainLog[], tokens: ReadonlySet<string>): TokenLogs {
  const authorizations: Authorization[] = []
  const transfers: Transfer[] = []
  for (const log of logs) {
    if (!tokens.has(log.address)) continue
    const { logIndex, address: token } = log
    const [, first = '', second = ''] = log.topics
    if (events.AuthorizationUsed.is(log)) {
      authorizations.push({ logIndex, token, authorizer: addressOf(first), nonce: second })
    } else if (events.Transfer.is(log)) {
      transfers.push({ logIndex, token, from: addressOf(first), to: addressOf(second), amount: BigInt(log.data) })
    }
  }
  return { authorizations, transfers }
}

/**
 * Gives each authorization the transfer it made: the first later one of the same token from the same authorizer that
 * none has taken. Tokens log the authorization first and the transfer behind it.
 */
export class Pairing {
  readonly #taken = new Set<Transfer>()

  constructor(private readonly transfers: readonly Transfer[]) {}

  /** Undefined: the authorization moved no money. Nothing is taken yet. */
  next({ logIndex, token, authorizer }: Authorization): Transfer | undefined {
    return this.transfers.find(
      (transfer) =>
        transfer.logIndex > logIndex &&
        transfer.token === token &&
        transfer.from === authorizer &&
        !this.#taken.has(transfer),
    )
  }

  take(transfer: Transfer): void {
    this.#taken.add(transfer)
  }
}
