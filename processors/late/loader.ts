import type pg from 'pg'
import type { Logger } from 'pino'
import type { ChainSettings } from '../../config/chains.file.ts'
import { createPool, inTransaction, type Queryable } from '../../db/pool.ts'
import { deleteUnpaidOf, holdReservations, insertUnpaid } from '../../db/queries/chain/backfill.ts'
import { readChainState } from '../../db/queries/chain/chain-state.ts'
import { insertAttached } from '../../db/queries/chain/payments/attached.ts'
import {
  holdUnloaded,
  type LateContract,
  lateContracts,
  moveLate,
  replacePaymentsOf,
} from '../../db/queries/chain/payments/late.ts'
import { lockPayments } from '../../db/queries/rollup/cursor.ts'
import { boundedFailures } from '../../hosts/retries.ts'
import { clock } from '../backfill/display.ts'
import type { History, Wanted } from '../history/history.ts'
import { RangeReader } from '../history/range-reader.ts'
import { scannedBlock } from '../history/scanned-block.ts'
import { findCallsIn } from '../history/sources.ts'
import type { Witness } from '../history/witness.ts'
import { bytesOf, type ChainBlock } from '../mapping/block.ts'
import { paymentContractsOf, paymentLogs } from '../mapping/payment-kinds.ts'
import { tokensOf } from '../mapping/scale.ts'
import { type SettledBlocks, settleBlocks } from '../mapping/settle-blocks.ts'
import { Rounds } from '../rounds.ts'
import { ofReadRecipients } from '../scope/recipients.ts'
import type { Scope } from '../scope/scope.ts'
import { jsonRows } from '../store/json-rows.ts'
import { attachedPages, toPayment } from '../store/settlement-record.ts'

/** A step is committed when it has so many blocks with payments, or this age. */
const maxStepBlocks = 2_000
const maxStepMs = 10_000
/** Milliseconds between looks for something to load. */
const lookMs = 5_000
/** Milliseconds before a retry after a failure. */
const failurePauseMs = 15_000

interface LateOptions {
  readonly databaseUrl: string
  readonly chain: ChainSettings
  readonly scope: Scope
  readonly openHistory: (wanted: Wanted) => History
  /** Opens a witness of what such a history leaves out; it may return undefined. */
  readonly openWitness: (wanted: Wanted) => Witness | undefined
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Blocks that late contracts have still to be read in. */
interface Part {
  readonly contracts: readonly string[]
  /** Where the cursors of the contracts are. */
  readonly cursor: number
  readonly fromBlock: number
  /** Before `fromBlock`: nothing can be read now. */
  readonly toBlock: number
}

/**
 * Background loader in the processor's process: loads what payment contracts paid in blocks that were indexed before they
 * were in the chain table. Contracts that are equally far are read together, in final blocks, each step a transaction with
 * its checkpoint. Blocks that a backfill has still to load are left to it, which loads them with every contract; while one
 * is at work, with whatever contracts it began, nothing is. A failure is logged and retried later.
 */
export class LateLoader {
  /** Blocks that late contracts have still to be read in, as of the last look; contracts that are read together count once. */
  blocksToGo = 0
  /** What was read since this process began to load, and in how many milliseconds; zeros: nothing is being loaded. */
  #pace = { blocks: 0, ms: 0 }
  readonly #pool: pg.Pool
  readonly #rounds = new Rounds({ round: () => this.#round(), failed: (error) => this.#failed(error) })

  constructor(private readonly options: LateOptions) {
    const { databaseUrl, chain } = options
    this.#pool = createPool({ databaseUrl, name: `processor ${chain.name} late`, max: 1 })
  }

  /** Seconds until all is loaded, at the pace so far; undefined: there is none yet. */
  get secondsToGo(): number | undefined {
    const { blocks, ms } = this.#pace
    if (this.blocksToGo === 0) return 0
    return blocks === 0 ? undefined : (this.blocksToGo * ms) / blocks / 1_000
  }

  start(): void {
    this.#rounds.start()
  }

  /** Begins no further step; waits for the one in flight, `graceMs` at most. */
  close(graceMs: number): Promise<void> {
    return this.#rounds.close(graceMs)
  }

  #failed({ message }: Error): number {
    if (!this.#rounds.isClosing) this.options.log.warn(`loading late payment contracts: ${message}`)
    return failurePauseMs
  }

  async #round(): Promise<number> {
    const { chain, openHistory } = this.options
    const waiting = await lateContracts(this.#pool, chain.name)
    const ranges = new Map(waiting.map((one) => [`${one.nextBlock} ${one.toBlock}`, one.toBlock - one.nextBlock + 1]))
    this.blocksToGo = [...ranges.values()].reduce((sum, blocks) => sum + blocks, 0)
    const [first] = waiting
    if (!first) {
      this.#pace = { blocks: 0, ms: 0 }
      return lookMs
    }
    const contracts = waiting.filter(
      ({ nextBlock, toBlock }) => nextBlock === first.nextBlock && toBlock === first.toBlock,
    )
    const known = chain.paymentContracts.filter(({ address }) => contracts.some((one) => one.address === address))
    const wanted: Wanted = { tokens: [], payments: paymentLogs(known) }
    const history = openHistory(wanted)
    const finalHeight = await history.finalHeight()
    const part = await inTransaction(this.#pool, (db) => partOf(db, chain, contracts, finalHeight))
    if (part.toBlock < part.fromBlock) return lookMs
    await this.#load(part, history, wanted, finalHeight)
    return 0
  }

  /** Reads a part for a while, and commits what was found. */
  async #load(part: Part, history: History, wanted: Wanted, finalHeight: number): Promise<void> {
    const { chain, openWitness, log } = this.options
    const { fromBlock, toBlock, cursor, contracts } = part
    const begunAt = Date.now()
    const blocks: ChainBlock[] = []
    const options = { witness: openWitness(wanted), attempts: boundedFailures }
    const reader = new RangeReader(history, fromBlock, toBlock, log, options)
    const deadline = begunAt + maxStepMs
    const sink = {
      addBlock: (block: ChainBlock) => void blocks.push(block),
      add(text: Buffer, scan: Parameters<typeof scannedBlock>[1]) {
        if (scan.transactions > 0) blocks.push(scannedBlock(text, scan))
      },
    }
    try {
      do await reader.advance(sink)
      while (!reader.isDone && !this.#rounds.isClosing && blocks.length < maxStepBlocks && Date.now() < deadline)
      if (reader.next === fromBlock) return
      const calls = findCallsIn(history, chain, { finalHeight, attempts: boundedFailures }, (text) => log.warn(text))
      const all = paymentContractsOf(chain.paymentContracts)
      const found = await settleBlocks(chain.name, tokensOf(chain), blocks, calls, all)
      const came = await this.#commit(part, reader.next, found)
      const what = `payments of ${contracts.join(', ')} in blocks ${cursor} to ${reader.next - 1}`
      const read = reader.next - cursor
      this.blocksToGo -= read
      this.#pace = { blocks: this.#pace.blocks + read, ms: this.#pace.ms + Date.now() - begunAt }
      const left = `${this.blocksToGo} blocks to go, ${clock(Math.round(this.secondsToGo ?? 0))} left`
      log.info(`${what}, which were indexed without: ${came} loaded; ${left}`)
    } finally {
      reader.close()
    }
  }

  async #commit({ contracts, cursor, fromBlock }: Part, nextBlock: number, found: SettledBlocks): Promise<number> {
    const { chain, scope } = this.options
    return inTransaction(this.#pool, async (db) => {
      // No backfill can reserve blocks, or begin to load what it has reserved, before this ends.
      await holdReservations(db, chain.id)
      const unloaded = await holdUnloaded(db, chain.name)
      if (unloaded.some((one) => one.isBusy || (one.fromBlock < nextBlock && one.toBlock >= fromBlock))) {
        throw new Error('a backfill is at work')
      }
      await lockPayments(db, chain.name)
      const isTheirs = await moveLate(db, chain.name, { addresses: contracts, fromBlock: cursor, nextBlock })
      if (!isTheirs) throw new Error('the contracts were changed meanwhile')
      const kept = scope === 'all' ? found : await ofReadRecipients(db, chain, found)
      const { payments } = found
      const came = await replacePaymentsOf(db, chain.name, {
        found: jsonRows(payments.map(toPayment)),
        kept: jsonRows(kept.payments.map(toPayment)),
        blocks: [...new Set(payments.map(({ blockNumber }) => blockNumber))],
        txHashes: [...new Set(payments.map(({ txHash }) => txHash))].map(bytesOf),
      })
      for (const page of attachedPages(kept.payments)) await insertAttached(db, page)
      const unpaid = found.unpaid.filter(({ token }) => contracts.includes(token))
      await deleteUnpaidOf(db, chain.name, unpaid)
      await insertUnpaid(db, chain.name, unpaid)
      return came
    })
  }
}

/** The next blocks of late contracts that can be read: final, and loaded by whoever was to load them. */
async function partOf(
  db: Queryable,
  { name }: ChainSettings,
  late: readonly LateContract[],
  finalHeight: number,
): Promise<Part> {
  const [{ nextBlock: cursor, toBlock: last }] = late as [LateContract]
  const contracts = late.map(({ address }) => address)
  const { finalizedBlock = -1 } = (await readChainState(db, name)) ?? {}
  const unloaded = await holdUnloaded(db, name)
  if (unloaded.some(({ isBusy }) => isBusy)) return { contracts, cursor, fromBlock: cursor, toBlock: cursor - 1 }
  let fromBlock = cursor
  for (const one of unloaded) {
    if (one.fromBlock <= fromBlock && fromBlock <= one.toBlock) fromBlock = one.toBlock + 1
  }
  const next = unloaded.find((one) => one.fromBlock > fromBlock)
  const toBlock = Math.min(last, finalizedBlock, finalHeight, next ? next.fromBlock - 1 : last)
  return { contracts, cursor, fromBlock, toBlock }
}
