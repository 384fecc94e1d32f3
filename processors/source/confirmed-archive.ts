import type { BlockRange } from '../../db/block-range.ts'
import { Retries, SourceFailure, type SourceWatch } from '../../hosts/retries.ts'
import type { ChainLog } from '../mapping/block.ts'
import type { ArchiveQuery } from '../portal/query.ts'
import { EmptyRuns } from './empty-runs.ts'
import type { SdkArchive } from './sdk.ts'

/** Addresses and topics of logs, as eth_getLogs takes them. */
interface LogFilter {
  readonly address: readonly string[]
  readonly topics: readonly (readonly string[] | null)[]
}

/** Who else knows the chain. Each answers what it knows otherwise, as a sentence, or undefined. */
interface ArchiveWitness {
  contradiction(source: string, run: BlockRange): Promise<string | undefined>
  difference(
    source: string,
    blocks: readonly { number: number; hash: string; logs: readonly ChainLog[] }[],
    toBlock: number,
  ): Promise<string | undefined>
}

export interface ConfirmedArchiveOptions {
  /** Name of the archive, for messages. */
  readonly name: string
  /** Opens a witness of the logs that match one of the filters; it may return undefined. */
  readonly openWitness: (filters: readonly LogFilter[]) => ArchiveWitness | undefined
  readonly log: { warn(text: string): void }
  readonly watch: SourceWatch
}

/** The part of an archive's block that is compared. */
interface ToldBlock {
  readonly header: { readonly number: number; readonly hash: string }
  readonly logs?: readonly ChainLog[]
}

/**
 * An archive whose blocks are compared with the chain's node before they are handed over: in each answer the longest run
 * of blocks without logs, when it is unusually long, and some of the blocks with logs. While the two contradict each
 * other, the archive is asked again.
 */
export class ConfirmedArchive implements SdkArchive {
  /** For the logs of the last query; they are the same for millions of blocks. */
  #witness: { readonly key: string; readonly witness: ArchiveWitness | undefined } | undefined
  #usual: number | undefined

  constructor(
    private readonly archive: SdkArchive,
    private readonly options: ConfirmedArchiveOptions,
  ) {}

  getHeight(): Promise<number> {
    return this.archive.getHeight()
  }

  async query(query: ArchiveQuery) {
    const witness = this.#witnessOf(query)
    if (!witness) return this.archive.query(query)
    const { log, name, watch } = this.options
    const retries = new Retries(log, { source: name, watch })
    for (;;) {
      const blocks = await this.archive.query(query)
      const problem = await this.#contradiction(query.fromBlock, blocks, witness)
      if (!problem) return blocks
      await retries.afterFailure(new SourceFailure(problem))
    }
  }

  async #contradiction(
    fromBlock: number,
    blocks: readonly ToldBlock[],
    witness: ArchiveWitness,
  ): Promise<string | undefined> {
    const { name } = this.options
    const lastBlock = blocks.at(-1)?.header.number ?? fromBlock
    const runs = new EmptyRuns(fromBlock, this.#usual)
    const full = blocks.filter(({ logs }) => logs && logs.length > 0)
    for (const { header } of full) runs.end(header.number)
    const run = runs.unusual(lastBlock, true)
    const hole = run && (await witness.contradiction(name, run))
    if (hole) return hole
    const told = full.map(({ header, logs = [] }) => ({ ...header, logs }))
    const difference = await witness.difference(name, told, lastBlock)
    if (difference) return difference
    if (run) runs.confirm(run)
    // Activity grows with the years: what was usual once is doubted again before long.
    this.#usual = Math.floor(runs.usual / 2)
    return undefined
  }

  /** Undefined: no logs are asked for, or there is nobody to ask. */
  #witnessOf({ logs = [] }: ArchiveQuery): ArchiveWitness | undefined {
    const filters = (logs as readonly LogRequest[]).map(({ address, topic0 }) => ({
      address: address ?? [],
      topics: [topic0 ?? null],
    }))
    if (filters.length === 0) return undefined
    const key = JSON.stringify(filters)
    if (this.#witness?.key !== key) this.#witness = { key, witness: this.options.openWitness(filters) }
    return this.#witness.witness
  }
}

interface LogRequest {
  readonly address?: readonly string[]
  readonly topic0?: readonly string[]
}
