import { events } from '../../abi/generated/dollar-token.ts'
import type { BlockScanner } from '../history/block-scanner.ts'
import { type BuilderCodes, builderCodesOf, maxSuffixDigits, suffixMarker } from '../mapping/builder-codes.ts'
import type { Authorization, Calldata, TransactionFields, Transfer } from '../mapping/fields.ts'
import { paymentSelectors, selectorDigits, wordDigits } from '../mapping/selector.ts'
import { same } from './hex-text.ts'

/**
 * The fields of one transaction at a time, as places in a block's text: a place is where the forty digits of an address
 * or the sixty-four of a word begin. No strings are made.
 */
export class PlaceFields implements TransactionFields<number> {
  authorizations: Authorization<number>[] = []
  transfers: Transfer<number>[] = []
  readonly calldata = new PlaceCalldata()
  #text: Buffer = Buffer.alloc(0)
  /** Place of the address that the transaction calls; 0: it creates a contract. */
  #to = 0
  readonly #tokens: readonly Buffer[]

  /** `tokens`: addresses in lowercase hex. */
  constructor(tokens: Iterable<string>) {
    this.#tokens = [...tokens].map((token) => Buffer.from(token.slice(2)))
  }

  /**
   * Moves to a transaction and its logs, given as positions in the scan, `end` excluded. False: a log of a token lacks
   * fields that it must have.
   */
  read(text: Buffer, scan: BlockScanner, transaction: number, firstLog: number, end: number): boolean {
    const to = scan.toAt[transaction] as number
    this.#text = text
    this.#to = to === 0 ? 0 : to + prefix
    this.calldata.read(text, (scan.inputAt[transaction] as number) + prefix, scan.inputEnd[transaction] as number)
    this.authorizations = []
    this.transfers = []
    for (let position = firstLog; position < end; position++) {
      if (scan.topics[position] !== topics) continue
      const token = (scan.addressAt[position] as number) + prefix
      if (!this.#isToken(token)) continue
      const topic = (number: number) => (scan.topicAt[4 * position + number] as number) + prefix
      const logIndex = scan.logIndex[position] as number
      if (same(text, topic(0), usedTopic, 0, wordDigits)) {
        this.authorizations.push({
          logIndex,
          position,
          token,
          authorizer: topic(1) + addressPadding,
          nonce: topic(2),
        })
      } else if (same(text, topic(0), transferTopic, 0, wordDigits)) {
        const amount = (scan.dataAt[position] as number) + prefix
        if ((scan.dataEnd[position] as number) - amount !== wordDigits) return false
        const from = topic(1) + addressPadding
        const to = topic(2) + addressPadding
        this.transfers.push({ logIndex, position, token, from, to, amount })
      }
    }
    return true
  }

  /** Whether a log is AuthorizationUsed of one of the tokens. */
  isUsed(text: Buffer, scan: BlockScanner, position: number): boolean {
    this.#text = text
    return (
      scan.topics[position] === topics &&
      same(text, (scan.topicAt[4 * position] as number) + prefix, usedTopic, 0, wordDigits) &&
      this.#isToken((scan.addressAt[position] as number) + prefix)
    )
  }

  calls(contract: number): boolean {
    return this.#to > 0 && this.isSameAddress(this.#to, contract)
  }

  amountOf(word: number): bigint {
    return BigInt(this.hexAt(word, wordDigits))
  }

  addressAt(at: number): string {
    return this.hexAt(at, addressDigits)
  }

  /** Digits of the text with `0x` in front. */
  hexAt(at: number, digits: number): string {
    return `0x${this.#text.toString('latin1', at, at + digits)}`
  }

  isSameAddress(one: number, other: number): boolean {
    return one === other || same(this.#text, one, this.#text, other, addressDigits)
  }

  #isToken(at: number): boolean {
    for (const token of this.#tokens) if (same(this.#text, at, token, 0, addressDigits)) return true
    return false
  }
}

class PlaceCalldata implements Calldata<number> {
  #text: Buffer = Buffer.alloc(0)
  #start = 0
  #end = 0

  /** Moves to the calldata whose digits stand from `start` to `end` in a text. */
  read(text: Buffer, start: number, end: number): void {
    this.#text = text
    this.#start = start
    this.#end = end
  }

  *placesOf(word: number): Generator<number> {
    const digits = this.#text.subarray(word, word + wordDigits)
    const input = this.#text.subarray(this.#start, this.#end)
    for (let at = input.indexOf(digits); at >= 0; at = input.indexOf(digits, at + 1)) yield at
  }

  paymentSelectorAt(place: number): string | undefined {
    const at = this.#start + place
    if (at + selectorDigits > this.#end) return undefined
    for (const [digits, selector] of selectors) if (same(this.#text, at, digits, 0, selectorDigits)) return selector
    return undefined
  }

  /** Where a selector's own digits stand in the text. */
  textAt(place: number): number {
    return this.#start + place
  }

  /** Builder codes at the end of the calldata, as `builderCodesOf` finds them; undefined: there are none. */
  builderCodes(): BuilderCodes | undefined {
    const marked = this.#end - suffixMarker.length
    if (marked < this.#start || !same(this.#text, marked, marker, 0, suffixMarker.length)) return undefined
    const from = Math.max(this.#start, this.#end - maxSuffixDigits)
    return builderCodesOf(`0x${this.#text.toString('latin1', from, this.#end)}`)
  }

  hasAddress(place: number, argument: number, address: number): boolean {
    const at = this.#wordAt(place, argument)
    return at + wordDigits <= this.#end && same(this.#text, at + addressPadding, this.#text, address, addressDigits)
  }

  hasWord(place: number, argument: number, word: number): boolean {
    const at = this.#wordAt(place, argument)
    return at + wordDigits <= this.#end && same(this.#text, at, this.#text, word, wordDigits)
  }

  #wordAt(place: number, argument: number): number {
    return this.#start + place + selectorDigits + argument * wordDigits
  }
}

/** Lengths in characters: `0x`, the hex digits of an address, and the zeros before an address in a word. */
const prefix = 2
const addressDigits = 40
const addressPadding = wordDigits - addressDigits
/** Number of topics of AuthorizationUsed and of Transfer: the event's own and two indexed values. */
const topics = 3
const usedTopic = Buffer.from(events.AuthorizationUsed.topic.slice(2))
const transferTopic = Buffer.from(events.Transfer.topic.slice(2))
const marker = Buffer.from(suffixMarker)
const selectors = [...paymentSelectors].map((selector) => [Buffer.from(selector.slice(2)), selector] as const)
