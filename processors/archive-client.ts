import { SourceFailure } from '../hosts/retries.ts'
import { Refusal } from '../ops/cli.ts'
import type { ArchiveQuery } from './portal/query.ts'
import { ask, bytesOf, problemOf, textOf } from './source-request.ts'

/** Longest answer of a worker, in bytes. */
const maxAnswerBytes = 256 * 1024 * 1024
/** Most characters that are read of a worker's address or a height. */
const maxShortText = 1_000

/** Client for a v2 archive: a router that names workers, whose answers are one array of blocks. */
export class ArchiveClient {
  /** Name of the archive, for messages. */
  readonly name: string
  readonly #url: string

  constructor(url: string) {
    this.#url = url.replace(/\/+$/, '')
    this.name = `the archive ${new URL(url).host}`
  }

  /** Number of the newest final block. */
  async height(): Promise<number> {
    const height = Number(await this.#text(`${this.#url}/height`))
    if (!Number.isSafeInteger(height)) throw new SourceFailure(`${this.name} tells no height`)
    return height
  }

  /** The blocks that a query asks for, as the text of one array. */
  async fetch(query: ArchiveQuery): Promise<Buffer> {
    const worker = await this.#text(`${this.#url}/${query.fromBlock}/worker`)
    const answer = await ask({ url: new URL(worker), method: 'POST', body: JSON.stringify(query) })
    if (answer.status !== 200) throw new Refusal(`${await problemOf(this.name, answer)}; check the address`)
    const body = await bytesOf(answer, maxAnswerBytes)
    if (!body) throw new Refusal(`an answer of ${this.name} is longer than ${maxAnswerBytes} bytes`)
    return body
  }

  async query<T>(query: ArchiveQuery): Promise<T[]> {
    return this.parse(String(await this.fetch(query)))
  }

  /** Parses an array of blocks. */
  parse<T>(text: string): T[] {
    try {
      return JSON.parse(text)
    } catch {
      throw new SourceFailure(`${this.name} answers no array of blocks`)
    }
  }

  async #text(address: string): Promise<string> {
    const answer = await ask({ url: new URL(address), method: 'GET' })
    if (answer.status !== 200) throw new Refusal(`${await problemOf(this.name, answer)}; check the address`)
    return textOf(answer, maxShortText)
  }
}
