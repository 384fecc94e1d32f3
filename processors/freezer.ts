import type { Logger } from 'pino'
import type { ChainSettings } from '../config/chains.file.ts'
import { createPool } from '../db/pool.ts'
import { freezePartition, sealedPartition } from '../db/queries/chain/partitions/sealed-partitions.ts'
import { Rounds } from './rounds.ts'

/** Milliseconds between two looks for a partition to freeze. */
const pauseMs = 600_000

interface FreezerOptions {
  readonly databaseUrl: string
  readonly chain: ChainSettings
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/**
 * Background job in the processor's process: vacuum-freezes partitions of settlements that are no longer written,
 * because all their rows are final, audited and loaded. Each is frozen once, so later vacuums skip it. One partition at
 * a time, slowly; a failure is retried.
 */
export class Freezer {
  readonly #rounds = new Rounds({
    round: () => this.freeze().then(() => pauseMs),
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

  /** Freezes the next sealed partition. Returns its name; undefined: none is sealed. */
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
