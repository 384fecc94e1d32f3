import type { Logger } from 'pino'
import type { ChainSettings } from '../chains.file.ts'
import { createPool } from '../db/pool.ts'
import { freezePartition, sealedPartition } from '../db/queries/chain/sealed-partitions.ts'
import { Rounds } from './rounds.ts'

/** Between looks for a partition, and between two of them. */
const pauseMs = 600_000

interface FreezerOptions {
  readonly databaseUrl: string
  readonly chain: ChainSettings
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/**
 * Vacuums partitions of settlements that nobody writes any more, each once: all of their rows are final, audited and loaded.
 * Later vacuums have nothing to do there. Beside the processor, slowly, one at a time; a failure is tried again.
 */
export class Freezer {
  readonly #rounds = new Rounds({
    turn: () => this.freeze().then(() => pauseMs),
    failed: ({ message }) => {
      this.options.log.warn(`freezing a partition: ${message}`)
      return pauseMs
    },
  })

  constructor(private readonly options: FreezerOptions) {}

  start(): void {
    this.#rounds.start(pauseMs)
  }

  close(graceMs: number): Promise<void> {
    return this.#rounds.close(graceMs)
  }

  /** Returns the name of the partition; undefined: there is none now. */
  async freeze(): Promise<string | undefined> {
    const { databaseUrl, chain, log } = this.options
    const name = `processor ${chain.name} freezer`
    const pool = createPool({ databaseUrl, name, max: 1, statementTimeoutMs: 0 })
    try {
      const partition = await sealedPartition(pool, chain.name)
      if (!partition) return undefined
      await freezePartition(pool, partition)
      log.info(`${partition} is frozen`)
      return partition
    } finally {
      await pool.end()
    }
  }
}
