import type { ArchiveClient } from '../archive-client.ts'
import type { FlatTrace, TraceArchive } from '../mapping/trace-query.ts'
import type { ArchiveQuery } from '../portal/query.ts'
import { type Answer, type ArchiveBlock, type History, historyQuery, type Wanted } from './history.ts'

/** The settlement history in a v2 archive. */
export class ArchiveHistory implements History {
  readonly name: string
  readonly traces: TraceArchive

  constructor(
    private readonly client: ArchiveClient,
    private readonly wanted: Wanted,
  ) {
    this.name = client.name
    this.traces = {
      query: (query) => client.query<ArchiveBlock & { traces?: FlatTrace[] }>(query as ArchiveQuery),
    }
  }

  finalHeight(): Promise<number> {
    return this.client.height()
  }

  async open(fromBlock: number, toBlock: number): Promise<Answer> {
    const body = await this.client.fetch(historyQuery(this.wanted, fromBlock, toBlock))
    async function* pieces() {
      yield body
    }
    return { pieces: pieces(), isContiguous: false, close() {} }
  }

  /** Parses everything that is left of the answer. */
  parse(text: Buffer, at: number): { blocks: readonly ArchiveBlock[]; end: number } {
    return { blocks: this.client.parse(`[${text.toString('utf8', at)}`), end: text.length }
  }
}
