import type pg from 'pg'
import type { Logger } from 'pino'
import type { ChainSettings } from '../../config/chains.file.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { ensurePartitions } from '../../db/queries/chain/partitions/settlement-partitions.ts'
import { recipientsDigest, scopeBacklog, waitingRecipients } from '../../db/queries/chain/scope.ts'
import type { History } from '../history/history.ts'
import type { Witness } from '../history/witness.ts'
import type { FindCalls } from '../mapping/settlements.ts'
import { Rounds } from '../rounds.ts'
import { HistoryLoad } from './history-load.ts'
import { LoadReport } from './load-report.ts'
import { addressHexOf, readPosition, updateRecipients } from './recipients.ts'

/**
 * Most recipients of one load. Sources do not say how many addresses a query may have, so a failure halves the number,
 * and every load that completes raises it by `growth`.
 */
const maxRecipients = 500
const growth = 1.25
/** Milliseconds between looks for new recipients and for something to load. */
const lookMs = 2_000
/** Shortest rest after a look for new recipients, as a multiple of the time it took. */
const restShare = 10
/** Milliseconds before a retry after a failure. */
const failurePauseMs = 15_000

interface LoaderOptions {
  readonly databaseUrl: string
  readonly chain: ChainSettings
  /** Newest final block of the source. */
  readonly finalHeight: () => Promise<number>
  /** Opens the history of transfers to some recipients. */
  readonly openHistory: (recipients: readonly string[]) => History
  /** Opens a witness of what such a history leaves out; it may return undefined. */
  readonly openWitness: (recipients: readonly string[]) => Witness | undefined
  /** Looks calls up as the processor does, in a history that ends at a block. */
  readonly findCallsIn: (history: History, finalHeight: number) => FindCalls
  readonly log: Logger
}

/**
 * Background loader in the processor's process: loads the settlements of recipients that become known, up to the block
 * from which the processor keeps them itself. One range of blocks at a time, for many recipients at once. A failure is
 * logged and retried later; it does not stop the indexing.
 */
export class ScopeLoader {
  /** Recipients with history left to load, and blocks left to read for the one that is furthest behind. */
  backlog = { recipients: 0, blocks: 0 }
  /** When a step last ended, successfully or not; milliseconds since 1970. */
  turnedAt = Date.now()
  readonly #pool: pg.Pool
  readonly #rounds = new Rounds({ round: () => this.#round(), failed: (error) => this.#give(error) })
  #load: HistoryLoad | undefined
  #report: LoadReport | undefined
  /** Digest of the verified addresses that the known recipients were last updated from. */
  #digest = ''
  /** When to look for new recipients again; milliseconds since 1970. */
  #lookAgainAt = 0
  #recipients = maxRecipients

  constructor(private readonly options: LoaderOptions) {
    const { databaseUrl, chain } = options
    this.#pool = createPool({
      databaseUrl,
      name: `processor ${chain.name} scope`,
      max: 1,
    })
  }

  start(): void {
    this.#rounds.start()
  }

  /** Begins no further step; waits for what is being committed, `graceMs` at most. */
  close(graceMs: number): Promise<void> {
    const closed = this.#rounds.close(graceMs)
    this.#load?.close()
    return closed
  }

  /** Updates the known recipients when that is due, then continues the load. Returns the milliseconds to rest. */
  async #round(): Promise<number> {
    await this.#step()
    this.turnedAt = Date.now()
    return this.#load ? 0 : lookMs
  }

  async #step() {
    const began = Date.now()
    if (began >= this.#lookAgainAt) {
      await this.#look()
      this.#lookAgainAt = Date.now() + Math.max(lookMs, restShare * (Date.now() - began))
    }
    this.#load ??= await this.#begin()
    const load = this.#load
    if (!load || this.#rounds.isClosing) return
    await load.step()
    this.#report?.progress(load)
    if (!load.isDone) return
    load.close()
    this.#load = undefined
    this.#recipients = Math.min(Math.ceil(this.#recipients * growth), maxRecipients)
    this.#report?.end(load)
  }

  async #look() {
    const { chain, log } = this.options
    const digest = await recipientsDigest(this.#pool)
    if (digest !== this.#digest) {
      const { added, ended } = await updateRecipients(this.#pool, chain)
      if (added + ended > 0) log.info(`recipients whose settlements are kept: ${added} more, ${ended} fewer`)
      this.#digest = digest
    }
    this.backlog = await scopeBacklog(this.#pool, chain.name)
  }

  /** Begins the next load; undefined: there is nothing to load now. */
  async #begin(): Promise<HistoryLoad | undefined> {
    const { chain, log } = this.options
    const { finalBlock, isBegun } = await readPosition(this.#pool, chain.name)
    // Rows of a chain without a state would be nobody's: the next start takes the chain for an empty one.
    if (!isBegun) return undefined
    const waitingUpTo = (finalBlock: number) => {
      const limits = { finalBlock, tail: chain.finalityConfirmation, limit: this.#recipients }
      return waitingRecipients(this.#pool, chain.name, limits)
    }
    if ((await waitingUpTo(finalBlock)).length === 0) return undefined
    const finalHeight = await this.options.finalHeight()
    // The source may be behind the processor. Whom it cannot serve yet must not keep the others waiting.
    const lastBlock = Math.min(finalBlock, finalHeight)
    const waiting = await waitingUpTo(lastBlock)
    const [first] = waiting
    if (!first) return undefined
    const recipients = waiting.map(({ address }) => address)
    const history = this.options.openHistory(recipients.map(addressHexOf))
    const fromBlock = first.nextBlock
    const toBlock = Math.min(Math.max(...waiting.map((one) => one.toBlock)), lastBlock)
    // Its blocks may be far above the processor's, which makes the partitions of its own blocks.
    await inTransaction(this.#pool, (db) => ensurePartitions(db, chain.name, toBlock))
    this.#report = new LoadReport(log, recipients.length, fromBlock, toBlock)
    return new HistoryLoad({
      pool: this.#pool,
      chain,
      history,
      witness: this.options.openWitness(recipients.map(addressHexOf)),
      findCalls: this.options.findCallsIn(history, finalHeight),
      recipients,
      fromBlock,
      toBlock,
      log,
    })
  }

  /** Gives up the load after a failure. Returns the milliseconds to rest before the next turn. */
  #give(error: Error): number {
    this.turnedAt = Date.now()
    if (this.#load) this.#recipients = Math.ceil(this.#recipients / 2)
    this.#load?.close()
    this.#load = undefined
    if (this.#rounds.isClosing) return 0
    const pause = `${failurePauseMs / 1000} s`
    this.options.log.warn(`the history of known recipients: ${error.message}; the next attempt in ${pause}`)
    return failurePauseMs
  }
}
