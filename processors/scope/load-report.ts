import type { Logger } from 'pino'
import type { HistoryLoad } from './history-load.ts'

const reportMs = 30_000

/** Logs the progress of a load. */
export class LoadReport {
  readonly #what: string
  readonly #begun = Date.now()
  #reportedAt = Date.now()

  constructor(
    private readonly log: Pick<Logger, 'info'>,
    recipients: number,
    private readonly fromBlock: number,
    private readonly toBlock: number,
  ) {
    this.#what = `settlements of ${recipients} ${recipients === 1 ? 'recipient' : 'recipients'}`
    log.info(`loading the ${this.#what}, blocks ${fromBlock} to ${toBlock}`)
  }

  /** Logs a line from time to time. */
  progress({ nextBlock, isDone, added }: HistoryLoad): void {
    const now = Date.now()
    if (isDone || now - this.#reportedAt < reportMs) return
    this.#reportedAt = now
    const blocks = nextBlock - this.fromBlock
    const left = this.toBlock + 1 - nextBlock
    const percent = ((100 * blocks) / (blocks + left)).toFixed(1)
    const minutes = Math.ceil(((now - this.#begun) * left) / Math.max(blocks, 1) / 60_000)
    this.log.info(
      `loading the ${this.#what}: block ${nextBlock} of ${this.toBlock}, ${percent} %, ${added} so far, about ${minutes} minutes left`,
    )
  }

  end({ added }: HistoryLoad): void {
    const seconds = ((Date.now() - this.#begun) / 1000).toFixed(1)
    this.log.info(`the ${this.#what} are there up to block ${this.toBlock}: ${added} more (${seconds} s)`)
  }
}
