import type { Logger } from 'pino'
import { Retries, SourceFailure } from '../../hosts/retries.ts'
import { Refusal } from '../../ops/cli.ts'
import { Continuity, type LinkedBlock } from '../continuity.ts'
import type { ChainBlock } from '../mapping/block.ts'
import { EmptyRuns } from '../source/empty-runs.ts'
import { BlockScanner, hashLength } from './block-scanner.ts'
import { type Answer, type ArchiveBlock, type History, toChainBlock } from './history.ts'
import type { Witness } from './witness.ts'

/** Receives a range's blocks in order. Text and scan are another block's once `add` has returned. */
export interface BlockSink {
  add(text: Buffer, scan: BlockScanner): void
  addBlock(block: ChainBlock): void
}

export interface ReadOptions {
  /** Asked about the blocks in which the source has nothing; absent: the source is believed. */
  readonly witness?: Witness | undefined
  /** Attempts in a row after which a failure is passed on; absent: it is waited out. */
  readonly attempts?: number | undefined
}

const newline = 0x0a
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const carriageReturn = 0x0d

/**
 * Reads the blocks of a range, over as many requests as it takes; the first one is made at once. After an answer that
 * ended or broke off the next request goes on behind the last whole block.
 */
export class RangeReader {
  /** Bytes read so far, decompressed. */
  bytes = 0
  /** The first block's own hash and its parent's, once it is read. Lowercase hex. */
  first: { readonly hash: string; readonly parentHash: string } | undefined

  readonly #continuity: Continuity
  readonly #retries: Retries
  #opening: Promise<Answer> | undefined
  #answer: Answer | undefined
  #pieces: AsyncIterator<Buffer> | undefined
  #isFresh = false
  /** Whether the answer has had a block. */
  #hasBlock = false
  readonly #scan = new BlockScanner()
  readonly #runs: EmptyRuns

  constructor(
    private readonly history: History,
    readonly fromBlock: number,
    readonly toBlock: number,
    log: Pick<Logger, 'warn'>,
    private readonly options: ReadOptions = {},
  ) {
    this.#runs = new EmptyRuns(fromBlock)
    this.#continuity = new Continuity(history.name, undefined, fromBlock)
    this.#retries = new Retries(log, { source: history.name, attempts: options.attempts })
    this.#open()
  }

  /** The next block to read. */
  get next(): number {
    return this.#continuity.next
  }

  /** Hash of the block before `next`, in lowercase hex; undefined: not known. */
  get lastHash(): string | undefined {
    return this.#continuity.last?.hash
  }

  /** Sets the hash of the block before the range; call it before the first block is read. */
  follow(lastHash: string): void {
    this.#continuity.last ??= { height: this.next - 1, hash: lastHash }
  }

  get isDone(): boolean {
    return this.next > this.toBlock
  }

  /**
   * Hands over the blocks of the next piece. Rejects with a Refusal when a block does not fit the one before it or when
   * the source refuses; with a SourceFailure when it fails too often in a row, and when the witness has something in
   * blocks in which the source has nothing: what was handed over since the call before must not be kept.
   */
  async advance(sink: BlockSink): Promise<void> {
    let piece: Buffer | undefined
    const from = this.next
    let recovered: Promise<void> | undefined
    try {
      piece = await this.#read()
    } catch (error) {
      return this.#recover(error as Error)
    }
    this.bytes += piece.length
    try {
      for (let at = firstBlockAt(piece, 0); at < piece.length; at = firstBlockAt(piece, at)) {
        at = this.#block(piece, at, sink)
      }
    } catch (error) {
      if (!(error instanceof SourceFailure)) throw error
      recovered = this.#recover(error)
      recovered.catch(() => {}) // returned below
    }
    await this.#confirm()
    if (recovered) return recovered
    if (this.next > from) this.#retries.succeeded()
    if (this.isDone) this.close()
  }

  close(): void {
    const answer = this.#answer
    const opening = this.#opening
    this.#answer = undefined
    this.#pieces = undefined
    this.#opening = undefined
    answer?.close()
    if (!answer) opening?.then((late) => late.close()).catch(() => {})
  }

  #open() {
    this.#opening = this.history.open(this.next, this.toBlock)
    this.#opening.catch(() => {}) // `#read` awaits it
  }

  /** The next piece of text; when an answer ends early, the next request is made. */
  async #read(): Promise<Buffer> {
    for (;;) {
      if (!this.#pieces) {
        if (!this.#opening) this.#open()
        this.#answer = await (this.#opening as Promise<Answer>)
        this.#pieces = this.#answer.pieces[Symbol.asyncIterator]()
        this.#isFresh = this.#answer.isContiguous
        this.#hasBlock = false
        this.#opening = undefined
      }
      const { done, value } = await this.#pieces.next()
      if (!done) return value
      const isClosed = !this.#answer
      this.close()
      // Every source sends at least the last block that it has searched, even if nothing is in it.
      if (!this.#hasBlock && !isClosed) throw new SourceFailure(`an answer from block ${this.next} on has no block`)
    }
  }

  async #recover(error: Error): Promise<void> {
    this.close()
    this.#opening?.catch(() => {})
    await this.#retries.afterFailure(error)
  }

  /** Hands over the block that begins at an offset, or all that are left. Returns the offset behind it. */
  #block(piece: Buffer, at: number, sink: BlockSink): number {
    const scan = this.#scan
    const end = scan.scan(piece, at)
    if (end < 0) {
      const { blocks, end } = this.history.parse(piece, at)
      this.#parsed(blocks, sink)
      return end
    }
    const hash = piece.toString('latin1', scan.hashAt, scan.hashAt + hashLength)
    const parentHash = piece.toString('latin1', scan.parentHashAt, scan.parentHashAt + hashLength)
    this.#follow({ height: scan.number, hash, parentHash, timestamp: scan.timestamp * 1_000 })
    if (scan.transactions > 0) this.#runs.end(scan.number)
    sink.add(piece, scan)
    return end
  }

  #parsed(blocks: readonly ArchiveBlock[], sink: BlockSink) {
    for (const block of blocks) {
      const { number, hash, parentHash, timestamp = 0 } = block?.header ?? {}
      if (!Number.isSafeInteger(number) || !hash || !parentHash) {
        throw new Refusal(`${this.history.name} sent something that is not a block; nothing of it was kept`)
      }
      this.#follow({ height: number, hash, parentHash, timestamp: timestamp * 1_000 })
      if (block.transactions?.length) this.#runs.end(number)
    }
    for (const block of blocks) sink.addBlock(toChainBlock(block))
  }

  #follow(block: LinkedBlock) {
    if (this.#isFresh) this.#continuity.begin(block, this.toBlock)
    else this.#continuity.follow(block, this.toBlock)
    this.first ??= block
    this.#isFresh = false
    this.#hasBlock = true
  }

  /** Asks the witness about the longest run of blocks in which the source has nothing, when it is unusually long. */
  async #confirm(): Promise<void> {
    const { witness } = this.options
    const run = this.#runs.unusual(this.next - 1, this.isDone)
    if (!witness || !run) return
    const problem = await witness.contradiction(this.history.name, run)
    if (problem) throw new SourceFailure(problem)
    this.#runs.confirm(run)
  }
}

/** Offset of the first block from `start` on: blocks are one per line or the elements of a JSON array. */
function firstBlockAt(piece: Buffer, start: number): number {
  let at = start
  for (let byte = piece[at]; isSeparator(byte); byte = piece[++at]);
  return at
}

function isSeparator(byte: number | undefined): boolean {
  return byte === newline || byte === comma || byte === openBracket || byte === closeBracket || byte === carriageReturn
}
