import type pg from 'pg'
import type { Logger } from 'pino'
import type { ChainSettings } from '../../config/chains.file.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { insertAttached } from '../../db/queries/chain/payments/attached.ts'
import { insertPayments } from '../../db/queries/chain/payments/payments.ts'
import { addSettlements, moveRecipients } from '../../db/queries/chain/scope.ts'
import { addMovedToRollup, lockPayments } from '../../db/queries/rollup/cursor.ts'
import { boundedFailures } from '../../hosts/retries.ts'
import { withoutBackfilled } from '../backfilled.ts'
import type { BlockScanner } from '../history/block-scanner.ts'
import type { History } from '../history/history.ts'
import { type BlockSink, RangeReader } from '../history/range-reader.ts'
import { scannedBlock } from '../history/scanned-block.ts'
import type { Witness } from '../history/witness.ts'
import type { ChainBlock } from '../mapping/block.ts'
import { type PaymentContracts, paymentContractsOf } from '../mapping/payment-kinds.ts'
import type { PaymentRow } from '../mapping/payments.ts'
import { type Tokens, tokensOf } from '../mapping/scale.ts'
import { settleBlocks } from '../mapping/settle-blocks.ts'
import type { FindCalls, SettlementRow } from '../mapping/settlements.ts'
import { jsonPages } from '../store/json-rows.ts'
import { attachedPages, toPayment, toRecord } from '../store/settlement-record.ts'
import { addressHexOf, ofRecipients } from './recipients.ts'

/** A step is committed when it reaches this many settlements or (`maxStepMs`) this age. */
const maxStepSettlements = 20_000
const maxStepMs = 10_000
/** Blocks that wait for their traces at a time. */
const maxOpenBlocks = 1_000
/** Settlements of one statement. */
const settlementsPerInsert = 2_000

interface LoadOptions {
  readonly pool: pg.Pool
  readonly chain: ChainSettings
  /** The history of transfers to these recipients. */
  readonly history: History
  /** The history is not believed alone where it has nothing; undefined: there is nobody else to ask. */
  readonly witness: Witness | undefined
  readonly findCalls: FindCalls
  readonly recipients: readonly Buffer[]
  readonly fromBlock: number
  /** Last block, inclusive; it must be final. */
  readonly toBlock: number
  readonly log: Pick<Logger, 'warn'>
}

/**
 * Loads the settlements of some recipients in a range of final blocks. Every step is one transaction with its
 * checkpoint, the block up to which the recipients are loaded; rows that exist are kept, so a step is idempotent.
 */
export class HistoryLoad implements BlockSink {
  /** Settlements added so far, without those that were there before. */
  added = 0
  readonly #reader: RangeReader
  readonly #tokens: Tokens
  readonly #wanted: ReadonlySet<string>
  #blocks: ChainBlock[] = []
  #settlements: SettlementRow[] = []
  #payments: PaymentRow[] = []
  readonly #contracts: PaymentContracts
  #isClosed = false

  constructor(private readonly options: LoadOptions) {
    const { history, witness, fromBlock, toBlock, log, chain, recipients } = options
    this.#reader = new RangeReader(history, fromBlock, toBlock, log, { witness, attempts: boundedFailures })
    this.#tokens = tokensOf(chain)
    this.#contracts = paymentContractsOf(chain.paymentContracts)
    this.#wanted = new Set(recipients.map(addressHexOf))
  }

  /** The next block to read. */
  get nextBlock(): number {
    return this.#reader.next
  }

  get isDone(): boolean {
    return this.#reader.isDone
  }

  /** Reads on for a while and commits what was found. Rejects when the source or the database fails, for good. */
  async step(): Promise<void> {
    const from = this.nextBlock
    const deadline = Date.now() + maxStepMs
    do {
      await this.#reader.advance(this)
      if (this.#blocks.length >= maxOpenBlocks) await this.#settle()
    } while (!this.isDone && !this.#isClosed && this.#settlements.length < maxStepSettlements && Date.now() < deadline)
    if (this.nextBlock <= from || this.#isClosed) return
    await this.#settle()
    await this.#commit(from)
  }

  /** Ends the load, even in the middle of a step: what that step has read is lost. */
  close(): void {
    this.#isClosed = true
    this.#reader.close()
  }

  add(text: Buffer, scan: BlockScanner): void {
    if (scan.transactions > 0) this.addBlock(scannedBlock(text, scan))
  }

  addBlock(block: ChainBlock): void {
    this.#blocks.push(block)
  }

  /** Finds what was paid in the blocks that were read, whose traces are looked up together. */
  async #settle(): Promise<void> {
    const { chain, findCalls } = this.options
    const blocks = this.#blocks.splice(0)
    const found = await settleBlocks(chain.name, this.#tokens, blocks, findCalls, this.#contracts)
    const { settlements, payments } = ofRecipients(found, (recipient) => this.#wanted.has(recipient))
    this.#settlements.push(...settlements)
    this.#payments.push(...payments)
  }

  async #commit(fromBlock: number) {
    const { pool, chain, recipients } = this.options
    const found = { settlements: this.#settlements.splice(0), payments: this.#payments.splice(0), unpaid: [] }
    this.added += await inTransaction(pool, async (db) => {
      // Also waits for a backfill that is reserving blocks: theirs are not written here.
      const ours = await withoutBackfilled(db, chain, found)
      // The roll-up counts these rows when it comes to their blocks, or they are added to the sums here.
      await lockPayments(db, chain.name)
      const moved = await moveRecipients(db, chain.name, {
        addresses: recipients,
        fromBlock,
        nextBlock: this.nextBlock,
      })
      const waiting = new Set(moved.map(addressHexOf))
      const { settlements: theirs, payments } = ofRecipients(ours, (recipient) => waiting.has(recipient))
      for (const rows of jsonPages(payments.map(toPayment))) await insertPayments(db, rows)
      for (const rows of attachedPages([...theirs, ...payments])) await insertAttached(db, rows)
      return await addAll(db, chain, theirs)
    })
  }
}

/** Inserts settlements and adds those that were not there before to the sums. Returns how many these were. */
async function addAll(db: Queryable, { name }: ChainSettings, settlements: readonly SettlementRow[]) {
  let count = 0
  for (const page of pages(settlements, settlementsPerInsert)) {
    const added = await addSettlements(db, name, page.map(toRecord))
    await addMovedToRollup(db, name, added)
    count += added.length
  }
  return count
}

function pages<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, page) =>
    items.slice(page * size, (page + 1) * size),
  )
}
