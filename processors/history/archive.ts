import { readRetryAfter } from '../../hosts/retry-after.ts'
import type { FlatTrace, TraceArchive } from '../mapping/trace-query.ts'
import type { ArchiveQuery } from '../portal/query.ts'
import { Refusal } from '../refusal.ts'
import { isPassing, SourceFailure } from '../source-failures.ts'
import { ask, bytesOf, type SourceAnswer, textOf } from '../source-request.ts'
import { type Answer, type ArchiveBlock, type History, historyQuery, type Wanted } from './history.ts'

/** Longest answer of a worker, in bytes. */
const maxAnswerBytes = 256 * 1024 * 1024
/** Most characters that are read of an error, a worker's address or a height. */
const maxShortText = 1_000

/** The settlement history in a v2 archive: a router that names workers, whose answers are one array of blocks. */
export class ArchiveHistory implements History {
  readonly name: string
  readonly traces: TraceArchive
  readonly #url: string

  constructor(
    url: string,
    private readonly wanted: Wanted,
  ) {
    this.#url = url.replace(/\/+$/, '')
    this.name = `the archive ${new URL(url).host}`
    this.traces = {
      query: async (query) =>
        JSON.parse(String(await this.#fetch(query as ArchiveQuery))) as (ArchiveBlock & { traces?: FlatTrace[] })[],
    }
  }

  async finalHeight(): Promise<number> {
    const height = Number(await this.#text(`${this.#url}/height`))
    if (!Number.isSafeInteger(height)) throw new SourceFailure(`${this.name} tells no height`)
    return height
  }

  async open(fromBlock: number, toBlock: number): Promise<Answer> {
    const body = await this.#fetch(historyQuery(this.wanted, fromBlock, toBlock))
    async function* pieces() {
      yield body
    }
    return { pieces: pieces(), isContiguous: false, close() {} }
  }

  /** Parses everything that is left of the answer. */
  parse(text: Buffer, at: number): { blocks: readonly ArchiveBlock[]; end: number } {
    try {
      return { blocks: JSON.parse(`[${text.toString('utf8', at)}`), end: text.length }
    } catch {
      throw new SourceFailure(`${this.name} answers no array of blocks`)
    }
  }

  async #fetch(query: ArchiveQuery): Promise<Buffer> {
    const worker = await this.#text(`${this.#url}/${query.fromBlock}/worker`)
    const answer = await ask({ url: new URL(worker), method: 'POST', body: JSON.stringify(query) })
    if (answer.status !== 200) throw await this.#problem(answer)
    const body = await bytesOf(answer, maxAnswerBytes)
    if (!body) throw new Refusal(`an answer of ${this.name} is longer than ${maxAnswerBytes} bytes`)
    return body
  }

  async #text(address: string): Promise<string> {
    const answer = await ask({ url: new URL(address), method: 'GET' })
    if (answer.status !== 200) throw await this.#problem(answer)
    return textOf(answer, maxShortText)
  }

  async #problem(answer: SourceAnswer): Promise<Error> {
    const text = await textOf(answer, maxShortText)
    const problem = `${this.name} answers ${answer.status}${text ? `: ${text}` : ''}`
    const retryAfterMs = readRetryAfter(answer.headers['retry-after'])
    if (isPassing(answer.status) || retryAfterMs !== undefined) {
      return new SourceFailure(problem, retryAfterMs)
    }
    return new Refusal(`${problem}; check the address`)
  }
}
