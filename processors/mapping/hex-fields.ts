import { events } from '../../abi/generated/dollar-token.ts'
import { addressOf, type ChainLog, type ChainTransaction } from './block.ts'
import type { Authorization, Calldata, TransactionFields, Transfer } from './fields.ts'
import type { Tokens } from './scale.ts'
import { paymentSelectors, selectorDigits, wordDigits } from './selector.ts'

/** A transaction's fields as lowercase hex strings. */
export class TextFields implements TransactionFields<string> {
  readonly authorizations: Authorization<string>[] = []
  readonly transfers: Transfer<string>[] = []
  readonly calldata: TextCalldata

  /** `logs`: all logs of the transaction; those of contracts other than `tokens` are ignored. */
  constructor(
    private readonly transaction: Pick<ChainTransaction, 'to' | 'input'>,
    logs: readonly ChainLog[],
    tokens: Pick<Tokens, 'has'>,
  ) {
    this.calldata = new TextCalldata(transaction.input)
    for (const [position, log] of logs.entries()) {
      if (!tokens.has(log.address)) continue
      const { logIndex, address: token } = log
      const [, first = '', second = ''] = log.topics
      if (events.AuthorizationUsed.is(log)) {
        this.authorizations.push({ logIndex, position, token, authorizer: addressOf(first), nonce: second })
      } else if (events.Transfer.is(log)) {
        this.transfers.push(toTransfer(log, position))
      }
    }
  }

  calls(contract: string): boolean {
    return this.transaction.to === contract
  }

  isSameAddress(one: string, other: string): boolean {
    return one === other
  }

  addressAt(address: string): string {
    return address
  }

  amountOf(word: string): bigint {
    return BigInt(word)
  }
}

/** A token's Transfer as the rule reads it; `position`: of the log in the source's list. */
export function toTransfer({ logIndex, address, topics, data }: ChainLog, position: number): Transfer<string> {
  const [, from = '', to = ''] = topics
  return { logIndex, position, token: address, from: addressOf(from), to: addressOf(to), amount: wordOf(data) }
}

export class TextCalldata implements Calldata<string> {
  /** `input`: `0x` and hex digits. */
  constructor(private readonly input: string) {}

  *placesOf(word: string): Generator<number> {
    const digits = word.slice(2)
    for (let at = this.input.indexOf(digits, 2); at >= 0; at = this.input.indexOf(digits, at + 1)) yield at - 2
  }

  paymentSelectorAt(place: number): string | undefined {
    const selector = `0x${this.input.slice(2 + place, 2 + place + selectorDigits)}`
    return paymentSelectors.has(selector) ? selector : undefined
  }

  hasAddress(place: number, argument: number, address: string): boolean {
    const word = this.#wordAt(place, argument)
    return word.length === wordDigits && addressOf(word) === address
  }

  hasWord(place: number, argument: number, word: string): boolean {
    return this.#wordAt(place, argument) === word.slice(2)
  }

  #wordAt(place: number, argument: number): string {
    const from = 2 + place + selectorDigits + argument * wordDigits
    return this.input.slice(from, from + wordDigits)
  }
}

function wordOf(hex: string): string {
  return `0x${BigInt(hex).toString(16).padStart(wordDigits, '0')}`
}
