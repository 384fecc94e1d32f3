import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { ChainSettings } from '../../chains.file.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { countUnaudited, readUnpaid, unauditedRange, writeAudit } from '../../db/queries/chain/audit.ts'
import type { BlockRange } from '../../db/queries/rollup/hourly.ts'
import { certifySource, differences, tallyTable } from '../backfill/verify.ts'
import type { History } from '../history/history.ts'
import { findCallsIn } from '../history/sources.ts'
import type { UnpaidCount } from '../mapping/settle-blocks.ts'
import { differingUnpaid, type Mended, mendRange, readSettled } from './mend.ts'

/** Blocks of one certificate. */
const maxBlocks = 10_000
/** And of one piece that is mended. */
const pieceBlocks = 64
/** Between audits, and at least so many times as long as the last one took: the tip goes first. */
const pauseMs = 60_000
const restShare = 4
const failurePauseMs = 300_000

interface AuditOptions {
  readonly databaseUrl: string
  readonly chain: ChainSettings
  /** The chain's archive or Portal. */
  readonly history: History
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/**
 * Reads once more, from the history source, what a processor wrote from a node at the head, once it is final there too:
 * what the node left out, or could not tell, is mended. Beside the processor and in its process; a failure is logged and
 * tried again later.
 */
export class Auditor {
  /** Rows that were mended since the start. */
  readonly mended = { missing: 0, surplus: 0, changed: 0, unpaid: 0 }
  /** Blocks that wait, the newest not final yet. */
  blocksToGo = 0
  readonly #pool: pg.Pool
  readonly #closing = new AbortController()
  #working: Promise<unknown> = Promise.resolve()

  constructor(private readonly options: AuditOptions) {
    const { databaseUrl, chain } = options
    this.#pool = createPool({ databaseUrl, name: `processor ${chain.name} audit`, max: 1 })
  }

  start(): void {
    this.#run()
  }

  /** Begins no audit any more; the piece that is being mended may take `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#closing.abort()
    const late = new AbortController()
    const patience = delay(graceMs, undefined, { signal: late.signal }).catch(() => {})
    await Promise.race([this.#working.catch(() => {}), patience])
    late.abort()
  }

  async #run() {
    let rest = pauseMs
    for (;;) {
      await delay(rest, undefined, { signal: this.#closing.signal }).catch(() => {})
      if (this.#closing.signal.aborted) return
      const began = Date.now()
      try {
        this.#working = this.audit()
        await this.#working
        rest = Math.max(pauseMs, restShare * (Date.now() - began))
      } catch (error) {
        rest = failurePauseMs
        this.options.log.warn(`the audit: ${(error as Error).message}; the next attempt in ${failurePauseMs / 1000} s`)
      }
    }
  }

  /** Audits the next blocks. False: there are none now. */
  async audit(): Promise<boolean> {
    const { chain, history, log } = this.options
    const warn = (text: string) => log.warn(text)
    this.blocksToGo = await countUnaudited(this.#pool, chain.name)
    const waiting = await unauditedRange(this.#pool, chain.name)
    if (!waiting) return false
    const { fromBlock } = waiting
    const finalHeight = await history.finalHeight()
    const toBlock = Math.min(waiting.toBlock, finalHeight, fromBlock + maxBlocks - 1)
    if (toBlock < fromBlock) return false
    const range = { fromBlock, toBlock }
    const tokens = chain.tokens.map(({ address }) => address)
    const unpaid: UnpaidCount[] = []
    const shard = { firstBlock: fromBlock, lastBlock: toBlock }
    const config = { chain, tokens, second: undefined }
    const certificate = await certifySource(history, config, shard, warn, (counts) => unpaid.push(...counts))
    const isSame = async () => {
      const table = await inTransaction(this.#pool, (client) => tallyTable(client, chain.name, shard))
      if (!table || differences(certificate, table).length > 0) return false
      return differingUnpaid(unpaid, await readUnpaid(this.#pool, chain.name, range)) === 0
    }
    let mended: Mended = { missing: 0, surplus: 0, changed: 0, unpaid: 0 }
    if (!(await isSame())) {
      mended = await this.#mend(range, finalHeight)
      log.warn(
        `the audit of blocks ${fromBlock} to ${toBlock} of ${chain.name}: ${mended.missing} settlements were missing, ` +
          `${mended.surplus} too many, ${mended.changed} otherwise; unpaid authorizations differed ${mended.unpaid} times`,
      )
      if (!(await isSame())) throw new Error(`blocks ${fromBlock} to ${toBlock} still differ from ${history.name}`)
    }
    await writeAudit(this.#pool, chain.name, { ...certificate, ...range, ...mended })
    this.blocksToGo = await countUnaudited(this.#pool, chain.name)
    return true
  }

  /** Piece by piece, each in a transaction, so that nobody waits for long. */
  async #mend({ fromBlock, toBlock }: BlockRange, finalHeight: number): Promise<Mended> {
    const { chain, history, log } = this.options
    const warn = (text: string) => log.warn(text)
    const tokens = chain.tokens.map(({ address }) => address)
    const findCalls = findCallsIn(history, { ...chain, chain: chain.name, tokens, finalHeight }, warn)
    const sum = { missing: 0, surplus: 0, changed: 0, unpaid: 0 }
    for (let first = fromBlock; first <= toBlock && !this.#closing.signal.aborted; first += pieceBlocks) {
      const piece = { fromBlock: first, toBlock: Math.min(first + pieceBlocks - 1, toBlock) }
      const found = await readSettled(history, chain, piece, findCalls, warn)
      const mended = await mendRange(this.#pool, chain, piece, found)
      for (const kind of ['missing', 'surplus', 'changed', 'unpaid'] as const) {
        sum[kind] += mended[kind]
        this.mended[kind] += mended[kind]
      }
    }
    return sum
  }
}
