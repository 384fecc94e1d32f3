import { events } from '../../abi/generated/dollar-token.ts'
import type { ChainName } from '../../chains.config.ts'
import type { BlockScanner } from '../history/block-scanner.ts'
import { scannedBlock, scannedTransaction } from '../history/scanned-block.ts'
import type { ChainBlock } from '../mapping/block.ts'
import { paymentSelectors } from '../mapping/selector.ts'
import { settleBlocks, type UnpaidCount } from '../mapping/settle-blocks.ts'
import { type FindCalls, type SettlementRow, settle } from '../mapping/settlements.ts'
import { writeRow } from '../store/settlement-copy.ts'
import { decode, fitsRow, same, wordDigits } from './hex-text.ts'
import { RowPages } from './row-pages.ts'
import { type RowTemplate, rowTemplate } from './row-template.ts'

/**
 * Turns blocks into encoded rows.
 *
 * The rule is `settle`. The commonest transaction, one that calls the token itself and in which the token logs one
 * authorization and right behind it the transfer that the calldata confirms, has one possible outcome under that rule,
 * and is copied from the text into the row without `settle`; all others go through it.
 */
export class BlockEncoder {
  readonly pages: RowPages
  /** Authorizations that moved no money, since the list was last taken. */
  unpaid: UnpaidCount[] = []

  readonly #template: RowTemplate
  readonly #tokens: readonly Buffer[]
  /** Of the block in hand: the logs of direct payments and the transactions they are in, as positions in the scan. */
  #directs: number[] = []
  #directTransactions: number[] = []
  /** Transactions for `settle`, as positions in the scan. */
  #others: number[] = []

  constructor(
    private readonly chain: ChainName,
    private readonly tokens: ReadonlySet<string>,
    private readonly findCalls: FindCalls,
  ) {
    this.#template = rowTemplate(chain)
    this.#tokens = [...tokens].map((token) => Buffer.from(token))
    this.pages = new RowPages(this.#template.bytes.length)
  }

  /** Adds a block as scanned. With a promise: the scan is needed until it resolves. */
  add(text: Buffer, scan: BlockScanner): Promise<void> | undefined {
    if (scan.logs === 0) return undefined
    if (!this.#sort(text, scan)) return this.addBlock(scannedBlock(text, scan))
    if (this.#others.length > 0) return this.#addMixed(text, scan, this.#others)
    const rows = this.#directs.length
    if (rows === 0) return undefined
    const { page, at } = this.pages.open(rows)
    this.#openBlock(scan)
    for (let row = 0; row < rows; row++)
      this.#writeDirect(text, scan, row, page, at + row * this.#template.bytes.length)
    this.pages.close(rows, this.#template.amount)
    return undefined
  }

  /** Adds a block the ordinary way. */
  async addBlock(block: ChainBlock): Promise<void> {
    const { settlements, unpaid } = await settleBlocks(this.chain, this.tokens, [block], this.findCalls)
    this.unpaid.push(...unpaid)
    this.#writeSettled(settlements)
  }

  async #addMixed(text: Buffer, scan: BlockScanner, others: readonly number[]): Promise<void> {
    const block = { height: scan.number, hash: '', timestamp: scan.timestamp * 1000 }
    const settled = await Promise.all(
      others.map((position) => {
        const { transaction, logs } = scannedTransaction(text, scan, position)
        return settle(this.chain, this.tokens, { block, transaction, logs }, this.findCalls)
      }),
    )
    const counts = new Map<string, number>()
    for (const { token } of settled.flatMap(({ unpaid }) => unpaid)) counts.set(token, (counts.get(token) ?? 0) + 1)
    for (const [token, count] of counts) this.unpaid.push({ blockNumber: scan.number, token, count })

    this.#sort(text, scan) // another block may have been in hand meanwhile
    const rows = settled.flatMap(({ settlements }) => settlements)
    if (rows.length + this.#directs.length === 0) return
    const { page, at: start } = this.pages.open(rows.length + this.#directs.length)
    this.#openBlock(scan)
    let at = start
    let next = 0
    for (const [direct, log] of this.#directs.entries()) {
      while (next < rows.length && (rows[next] as SettlementRow).logIndex < (scan.logIndex[log] as number)) {
        at = writeRow(page, at, rows[next++] as SettlementRow)
      }
      this.#writeDirect(text, scan, direct, page, at)
      at += this.#template.bytes.length
    }
    while (next < rows.length) at = writeRow(page, at, rows[next++] as SettlementRow)
    this.pages.close(rows.length + this.#directs.length, this.#template.amount)
  }

  #writeSettled(rows: SettlementRow[]) {
    if (rows.length === 0) return
    rows.sort((a, b) => a.logIndex - b.logIndex)
    let { page, at } = this.pages.open(rows.length)
    for (const row of rows) at = writeRow(page, at, row)
    this.pages.close(rows.length, this.#template.amount)
  }

  /**
   * Sorts the transactions in which a token executed an authorization into direct payments and others. False: the
   * items do not stand in the order of the chain.
   */
  #sort(text: Buffer, scan: BlockScanner): boolean {
    const { logs, logIndex, logTransaction, transactions, transactionIndex } = scan
    this.#directs = []
    this.#directTransactions = []
    this.#others = []
    let at = 0 // in the transactions
    let settling = -1 // the transaction that was sorted last
    for (let log = 0; log < logs; log++) {
      const index = logTransaction[log] as number
      if (log > 0) {
        if (index < (logTransaction[log - 1] as number)) return false
        if ((logIndex[log] as number) <= (logIndex[log - 1] as number)) return false
      }
      if (index === settling || !this.#isUsed(text, scan, log)) continue
      settling = index
      for (; at < transactions && (transactionIndex[at] as number) < index; at++) {
        if (at > 0 && (transactionIndex[at] as number) <= (transactionIndex[at - 1] as number)) return false
      }
      if (at === transactions || transactionIndex[at] !== index) return false
      if (this.#isDirect(text, scan, log, at)) {
        this.#directs.push(log)
        this.#directTransactions.push(at)
      } else this.#others.push(at)
    }
    return true
  }

  #isUsed(text: Buffer, scan: BlockScanner, log: number): boolean {
    return (
      scan.topics[log] === usedTopics &&
      same(text, scan.topicAt[4 * log] as number, usedTopic, 0, usedTopic.length) &&
      this.#tokenOf(text, scan.addressAt[log] as number) !== undefined
    )
  }

  #tokenOf(text: Buffer, at: number): Buffer | undefined {
    for (const token of this.#tokens) if (same(text, at, token, 0, token.length)) return token
    return undefined
  }

  /** `log`: the transaction's first AuthorizationUsed. */
  #isDirect(text: Buffer, scan: BlockScanner, log: number, transaction: number): boolean {
    const moved = log + 1
    const index = scan.logTransaction[log] as number
    const token = scan.addressAt[log] as number
    if (moved >= scan.logs || scan.logTransaction[moved] !== index || scan.topics[moved] !== transferTopics)
      return false
    if (!same(text, scan.topicAt[4 * moved] as number, transferTopic, 0, transferTopic.length)) return false
    if (!same(text, scan.addressAt[moved] as number, text, token, addressDigits + 2)) return false
    for (let later = moved + 1; later < scan.logs && scan.logTransaction[later] === index; later++) {
      if (this.#isUsed(text, scan, later)) return false
    }
    const to = scan.toAt[transaction] as number
    if (to === 0 || !same(text, to, text, token, addressDigits + 2)) return false

    const input = (scan.inputAt[transaction] as number) + 2
    if ((scan.inputEnd[transaction] as number) - input < selectorDigits + argumentWords * wordDigits) return false
    if (!selectors.some((selector) => same(text, input, selector, 0, selectorDigits))) return false
    const data = (scan.dataAt[moved] as number) + 2
    if ((scan.dataEnd[moved] as number) - data !== wordDigits || !fitsRow(text, data)) return false
    const payer = lastAddress(scan.topicAt[4 * log + 1] as number)
    const word = (position: number) => input + selectorDigits + position * wordDigits
    return (
      same(text, lastAddress(scan.topicAt[4 * moved + 1] as number), text, payer, addressDigits) &&
      same(text, word(0) + addressPadding, text, payer, addressDigits) &&
      same(text, word(1) + addressPadding, text, lastAddress(scan.topicAt[4 * moved + 2] as number), addressDigits) &&
      same(text, word(2), text, data, wordDigits) &&
      same(text, word(5), text, (scan.topicAt[4 * log + 2] as number) + 2, wordDigits)
    )
  }

  #openBlock({ number, timestamp }: BlockScanner) {
    const { bytes, block, timestamp: at } = this.#template
    bytes.writeInt32BE(number, block)
    bytes.writeBigInt64BE((BigInt(timestamp) - epochOffsetSeconds) * 1_000_000n, at)
  }

  #writeDirect(text: Buffer, scan: BlockScanner, direct: number, page: Buffer, at: number) {
    const template = this.#template
    const log = this.#directs[direct] as number
    const transaction = this.#directTransactions[direct] as number
    const moved = log + 1
    page.set(template.bytes, at)
    decode(text, (scan.dataAt[moved] as number) + 2 + wordDigits - 16, page, at + template.amount, 8)
    page.writeInt32BE(scan.logIndex[log] as number, at + template.logIndex)
    decode(text, (scan.inputAt[transaction] as number) + 2, page, at + template.selector, 4)
    decode(text, (scan.addressAt[log] as number) + 2, page, at + template.token, 20)
    decode(text, lastAddress(scan.topicAt[4 * log + 1] as number), page, at + template.payer, 20)
    decode(text, lastAddress(scan.topicAt[4 * moved + 2] as number), page, at + template.recipient, 20)
    decode(text, (scan.fromAt[transaction] as number) + 2, page, at + template.facilitator, 20)
    decode(text, (scan.topicAt[4 * log + 2] as number) + 2, page, at + template.nonce, 32)
    decode(text, (scan.txHashAt[transaction] as number) + 2, page, at + template.txHash, 32)
  }
}

const usedTopic = Buffer.from(events.AuthorizationUsed.topic)
const transferTopic = Buffer.from(events.Transfer.topic)
/** The event's own topic and its two indexed values. */
const usedTopics = 3
const transferTopics = 3
const selectors = [...paymentSelectors].map((selector) => Buffer.from(selector.slice(2)))

/** Hex digits of a selector, an address, and of what stands before an address in a word. */
const selectorDigits = 8
const addressDigits = 40
const addressPadding = 24
/** From, to, value, validAfter, validBefore, nonce. */
const argumentWords = 6
/** Postgres counts from 2000-01-01. */
const epochOffsetSeconds = 946_684_800n

/** Where the address of a topic begins. */
function lastAddress(topic: number): number {
  return topic + 2 + addressPadding
}
