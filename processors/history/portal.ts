import { pino } from 'pino'
import { SourceFailure } from '../../hosts/retries.ts'
import { Refusal } from '../../ops/cli.ts'
import type { TraceArchive } from '../mapping/trace-query.ts'
import type { PortalClient } from '../portal/client.ts'
import { wholeLines } from '../portal/lines.ts'
import { Portal } from '../portal/portal.ts'
import { toPortalQuery } from '../portal/query.ts'
import { type Answer, type ArchiveBlock, type History, historyQuery, type Wanted } from './history.ts'

const newline = 0x0a
/** Most characters of a line that a message shows. */
const maxShown = 80

/** The settlement history in the SQD Network's Portal: a block a line. */
export class PortalHistory implements History {
  readonly name: string
  readonly traces: TraceArchive

  constructor(
    private readonly client: PortalClient,
    private readonly wanted: Wanted,
  ) {
    this.name = client.name
    const foreignChain = () => new Refusal(`${client.name} changed its chain`)
    this.traces = new Portal({
      client,
      log: pino({ level: 'silent' }),
      final: () => undefined,
      foreignChain,
      attempts: 1, // who asks for traces repeats the question
    }) as TraceArchive
  }

  finalHeight(): Promise<number> {
    return this.client.finalizedHead()
  }

  async open(fromBlock: number, toBlock: number): Promise<Answer> {
    const answer = await this.client.finalizedStream(
      toPortalQuery(historyQuery(this.wanted, fromBlock, toBlock), fromBlock),
    )
    if (answer === 'frontier') throw new SourceFailure(`${this.name} does not have block ${fromBlock} yet`)
    if ('previousBlocks' in answer) {
      throw new SourceFailure(`${this.name} answers 409 to a query without a parent hash`)
    }
    const { body } = answer
    return {
      pieces: wholeLines(body),
      isContiguous: true,
      close() {
        body.on('error', () => {}) // of a stream that is no longer read
        body.destroy()
      },
    }
  }

  parse(text: Buffer, at: number): { blocks: readonly ArchiveBlock[]; end: number } {
    const lineEnd = text.indexOf(newline, at)
    const end = lineEnd < 0 ? text.length : lineEnd
    const line = text.toString('utf8', at, end)
    try {
      return { blocks: [JSON.parse(line)], end }
    } catch {
      throw new SourceFailure(`a line is no block: ${line.slice(0, maxShown)}`)
    }
  }
}
