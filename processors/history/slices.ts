import type { Logger } from 'pino'
import type { History } from './history.ts'
import { type BlockSink, RangeReader, type ReadOptions } from './range-reader.ts'

/** Slices requested at a time: one is read while the answer to the next arrives. */
const inFlight = 2
/** A slice ends before a multiple of this many blocks, where the archives' own chunks are likely to end too. */
const alignment = 10_000
const firstSliceBlocks = 2 * alignment
const largestSliceBlocks = 64 * alignment
/** Decompressed bytes below which the next slices get longer and (`largeSliceBytes`) above which they get shorter. */
const smallSliceBytes = 4 * 1024 * 1024
const largeSliceBytes = 64 * 1024 * 1024

/** Reads a long range slice by slice, the next one ahead. */
export class Slices {
  #readers: RangeReader[] = []
  #blocks = firstSliceBlocks
  /** First block that has not been asked for. */
  #unasked: number
  #lastHash: string | undefined
  /** Hashes of the first block that was read and of its parent, once it is. */
  first: RangeReader['first']

  /** `lastHash`: hash of the block before `next` in lowercase hex; null: not known. */
  constructor(
    private readonly history: History,
    public next: number,
    private readonly toBlock: number,
    lastHash: string | null,
    private readonly log: Pick<Logger, 'warn'>,
    private readonly options: ReadOptions = {},
  ) {
    this.#unasked = next
    this.#lastHash = lastHash ?? undefined
  }

  get isDone(): boolean {
    return this.next > this.toBlock
  }

  /** Hash of the block before `next`, in lowercase hex. */
  get lastHash(): string | undefined {
    return this.#lastHash
  }

  /** Hands over the blocks of the next piece. Rejects as a RangeReader does. */
  async advance(sink: BlockSink): Promise<void> {
    while (this.#readers.length < inFlight && this.#unasked <= this.toBlock) this.#ask()
    const reader = this.#readers[0] as RangeReader
    if (this.#lastHash !== undefined) reader.follow(this.#lastHash)
    await reader.advance(sink)
    this.next = reader.next
    this.#lastHash = reader.lastHash
    this.first ??= reader.first
    if (!reader.isDone) return
    this.#readers.shift()
    if (reader.bytes < smallSliceBytes) this.#blocks = Math.min(2 * this.#blocks, largestSliceBlocks)
    if (reader.bytes > largeSliceBytes) this.#blocks = Math.max(this.#blocks / 2, alignment)
  }

  close(): void {
    for (const reader of this.#readers.splice(0)) reader.close()
  }

  #ask() {
    const aligned = Math.floor((this.#unasked + this.#blocks) / alignment) * alignment - 1
    const last = Math.min(Math.max(aligned, this.#unasked), this.toBlock)
    this.#readers.push(new RangeReader(this.history, this.#unasked, last, this.log, this.options))
    this.#unasked = last + 1
  }
}
