import type { ChainName } from '../../config/chains.ts'
import { addressLength, type BlockScanner } from '../history/block-scanner.ts'
import { scannedBlock } from '../history/scanned-block.ts'
import type { ChainBlock } from '../mapping/block.ts'
import { Matching } from '../mapping/matching.ts'
import type { PaymentContracts } from '../mapping/payment-kinds.ts'
import type { PaymentRow } from '../mapping/payments.ts'
import { isScaled, type Tokens } from '../mapping/scale.ts'
import { wordDigits } from '../mapping/selector.ts'
import { settleBlocks, type UnpaidCount } from '../mapping/settle-blocks.ts'
import type { FindCalls, SettlementRow } from '../mapping/settlements.ts'
import { writeRow } from '../store/settlement-copy.ts'
import { type AttachedRow, hasAttached } from '../store/settlement-record.ts'
import { decode, fitsRow, same } from './hex-text.ts'
import { PlaceFields } from './place-fields.ts'
import { forwardedRows } from './place-forwarded-payments.ts'
import { RowPages } from './row-pages.ts'
import { type RowTemplate, rowTemplate } from './row-template.ts'

/** The settling transactions of a block, divided by whether their calldata alone decides them. */
interface Sorted {
  /** Settlements that the calldata confirms, in log order: each as the places of its values in the text. */
  readonly confirmed: readonly ConfirmedPlaces[]
  /** Whether `settleBlocks` must decide the block, from traces or logs. */
  readonly isOpen: boolean
  readonly unpaid: readonly string[]
  /** Forwarded payments of the confirmed settlements. */
  readonly forwarded: readonly PaymentRow[]
  /** Those of the confirmed settlements and forwarded payments that have builder codes. */
  readonly codes: readonly AttachedRow[]
}

interface ConfirmedPlaces {
  readonly logIndex: number
  readonly transaction: number
  readonly selector: number
  readonly token: number
  readonly payer: number
  readonly recipient: number
  readonly amount: number
  readonly nonce: number
}

interface Sorting {
  readonly confirmed: ConfirmedPlaces[]
  isOpen: boolean
  readonly unpaid: string[]
  readonly forwarded: PaymentRow[]
  readonly codes: AttachedRow[]
}

/** Blocks that wait for traces at a time. */
const maxOpenBlocks = 1_000
const none: Sorted = { confirmed: [], isOpen: false, unpaid: [], forwarded: [], codes: [] }

/**
 * Turns blocks into rows encoded for COPY. It applies `Matching` to places in a block's JSON text: values that the
 * calldata confirms are copied from there into the row. Blocks in which something stays open wait for `settle`, which
 * looks up the traces of all of them together.
 */
export class BlockEncoder {
  readonly pages: RowPages
  /** Counts of authorizations that moved no money, since the caller last emptied the list. */
  unpaid: UnpaidCount[] = []
  /** Payments besides the settlements, since the caller last emptied the list; few. */
  payments: PaymentRow[] = []
  /** Settlements and payments with builder codes, since the caller last emptied the list. */
  codes: AttachedRow[] = []

  readonly #open: ChainBlock[] = []
  readonly #template: RowTemplate
  readonly #fields: PlaceFields
  readonly #contracts: readonly Buffer[]
  /** Tokens whose base units are not what rows are kept in: `settleBlocks` converts them. */
  readonly #scaled: ReadonlySet<string>

  constructor(
    private readonly chain: ChainName,
    private readonly tokens: Tokens,
    private readonly findCalls: FindCalls,
    private readonly contracts: PaymentContracts,
  ) {
    this.#template = rowTemplate(chain)
    this.#fields = new PlaceFields(tokens.keys())
    this.#contracts = [...contracts.keys()].map((address) => Buffer.from(address))
    this.#scaled = new Set([...tokens].flatMap(([address, decimals]) => (isScaled(decimals) ? address : [])))
    this.pages = new RowPages(this.#template.bytes.length)
  }

  /** Adds a scanned block. */
  add(text: Buffer, scan: BlockScanner): void {
    if (scan.logs === 0) return
    const sorted = this.#sort(text, scan)
    if (!sorted || sorted.isOpen) {
      this.addBlock(scannedBlock(text, scan))
      return
    }
    if (sorted.forwarded.length > 0) this.payments.push(...sorted.forwarded)
    if (sorted.codes.length > 0) this.codes.push(...sorted.codes)
    this.#countUnpaid(scan.number, sorted.unpaid)
    this.#write(text, scan, sorted.confirmed)
  }

  /** Adds a parsed block, for the slower `settleBlocks`. */
  addBlock(block: ChainBlock): void {
    this.#open.push(block)
  }

  /** Whether as many blocks wait for `settle` as should be held in memory. */
  get isFull(): boolean {
    return this.#open.length >= maxOpenBlocks
  }

  /** Decides the blocks that wait. Its caller takes nothing from here before that, where whole blocks count. */
  async settle(): Promise<void> {
    const { chain, tokens, findCalls, contracts } = this
    const { settlements, payments, unpaid } = await settleBlocks(
      chain,
      tokens,
      this.#open.splice(0),
      findCalls,
      contracts,
    )
    this.unpaid.push(...unpaid)
    this.payments.push(...payments)
    this.codes.push(...[...settlements, ...payments].filter(hasAttached))
    const rows = new Map<number, SettlementRow[]>()
    for (const row of settlements) rows.set(row.blockNumber, [...(rows.get(row.blockNumber) ?? []), row])
    for (const ofBlock of rows.values()) this.#writeSettled(ofBlock)
  }

  #countUnpaid(blockNumber: number, tokens: readonly string[]) {
    if (tokens.length === 0) return
    const counts = new Map<string, number>()
    for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1)
    for (const [token, count] of counts) this.unpaid.push({ blockNumber, token, count })
  }

  #writeSettled(settlements: readonly SettlementRow[]) {
    const rows = settlements.toSorted((a, b) => a.logIndex - b.logIndex)
    let { page, at } = this.pages.open(rows.length)
    for (const row of rows) at = writeRow(page, at, row)
    this.pages.close(rows.length, this.#template.amount)
  }

  /** Writes the rows of a block. */
  #write(text: Buffer, scan: BlockScanner, confirmed: readonly ConfirmedPlaces[]) {
    if (confirmed.length === 0) return
    let { page, at } = this.pages.open(confirmed.length)
    this.#openBlock(scan)
    for (const places of confirmed) {
      this.#writeConfirmed(text, scan, places, page, at)
      at += this.#template.bytes.length
    }
    this.pages.close(confirmed.length, this.#template.amount)
  }

  /** Divides the settling transactions of a block; undefined: its logs or transactions are not in chain order. */
  #sort(text: Buffer, scan: BlockScanner): Sorted | undefined {
    const { logs, logIndex, logTransaction, transactions, transactionIndex } = scan
    for (let log = 1; log < logs; log++) {
      if ((logTransaction[log] as number) < (logTransaction[log - 1] as number)) return undefined
      if ((logIndex[log] as number) <= (logIndex[log - 1] as number)) return undefined
    }
    let sorted: Sorting | undefined
    for (let log = 0, end = 0, at = 0; log < logs; log = end) {
      const index = logTransaction[log] as number
      let isSettling = false
      let isPaying = false
      for (end = log; end < logs && logTransaction[end] === index; end++) {
        isSettling ||= this.#fields.isUsed(text, scan, end)
        isPaying ||= this.#isOfContract(text, scan, end)
      }
      if (!isSettling && !isPaying) continue
      for (; at < transactions && (transactionIndex[at] as number) < index; at++) {
        if (at > 0 && (transactionIndex[at] as number) <= (transactionIndex[at - 1] as number)) return undefined
      }
      if (at === transactions || transactionIndex[at] !== index) return undefined
      sorted ??= { confirmed: [], isOpen: false, unpaid: [], forwarded: [], codes: [] }
      if (isPaying || !this.#match(text, scan, at, log, end, sorted)) {
        sorted.isOpen = true
        return sorted
      }
    }
    return sorted ?? none
  }

  /** Adds a transaction that its calldata decides to `sorted`; false: it does not, or an amount is not as rows have it. */
  #match(
    text: Buffer,
    scan: BlockScanner,
    transaction: number,
    firstLog: number,
    end: number,
    sorted: Sorting,
  ): boolean {
    const fields = this.#fields
    if (!fields.read(text, scan, transaction, firstLog, end)) return false
    if (this.#scaled.size > 0 && fields.transfers.some(({ token }) => this.#scaled.has(fields.addressAt(token))))
      return false
    const { confirmed, open } = new Matching(fields)
    if (open.length > 0) return false
    for (const { transfer } of confirmed) if (!fitsRow(text, transfer.amount)) return false
    for (const { authorization, transfer, place } of confirmed) {
      sorted.confirmed.push({
        logIndex: authorization.logIndex,
        transaction,
        selector: fields.calldata.textAt(place),
        token: authorization.token,
        payer: authorization.authorizer,
        recipient: transfer.to,
        amount: transfer.amount,
        nonce: authorization.nonce,
      })
    }
    const codes = fields.calldata.builderCodes()
    const place = { chain: this.chain, blockNumber: scan.number, codes }
    if (codes) sorted.codes.push(...confirmed.map(({ authorization: { logIndex } }) => ({ ...place, logIndex })))
    if (fields.transfers.length > confirmed.length) {
      const forwarded = forwardedRows(this.chain, fields, confirmed, scan, transaction, codes)
      sorted.forwarded.push(...forwarded)
      sorted.codes.push(...forwarded.filter(hasAttached))
    }
    if (confirmed.length < fields.authorizations.length) {
      const paid = new Set(confirmed.map(({ authorization }) => authorization))
      for (const authorization of fields.authorizations) {
        const { token } = authorization
        if (!paid.has(authorization)) sorted.unpaid.push(`0x${text.toString('latin1', token, token + addressDigits)}`)
      }
    }
    return true
  }

  /** Whether a payment contract emitted the log; whether it proves a payment is checked later. */
  #isOfContract(text: Buffer, scan: BlockScanner, position: number): boolean {
    const at = scan.addressAt[position] as number
    for (const contract of this.#contracts) if (same(text, at, contract, 0, addressLength)) return true
    return false
  }

  #openBlock({ number, timestamp }: BlockScanner) {
    const { bytes, block, timestamp: at } = this.#template
    bytes.writeInt32BE(number, block)
    bytes.writeBigInt64BE((BigInt(timestamp) - epochOffsetSeconds) * 1_000_000n, at)
  }

  #writeConfirmed(text: Buffer, scan: BlockScanner, places: ConfirmedPlaces, page: Buffer, at: number) {
    const template = this.#template
    page.set(template.bytes, at)
    decode(text, places.amount + wordDigits - 16, page, at + template.amount, 8)
    page.writeInt32BE(places.logIndex, at + template.logIndex)
    decode(text, places.selector, page, at + template.selector, 4)
    decode(text, places.token, page, at + template.token, 20)
    decode(text, places.payer, page, at + template.payer, 20)
    decode(text, places.recipient, page, at + template.recipient, 20)
    decode(text, (scan.fromAt[places.transaction] as number) + 2, page, at + template.facilitator, 20)
    decode(text, places.nonce, page, at + template.nonce, 32)
    decode(text, (scan.txHashAt[places.transaction] as number) + 2, page, at + template.txHash, 32)
  }
}

const addressDigits = 40
/** Seconds from 1970-01-01 to 2000-01-01, from which Postgres counts. */
const epochOffsetSeconds = 946_684_800n
