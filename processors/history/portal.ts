import type { Readable } from 'node:stream'
import { pino } from 'pino'
import type { TraceArchive } from '../mapping/traces.ts'
import { PortalFailure } from '../portal/failures.ts'
import { silenceMs } from '../portal/http.ts'
import { Portal } from '../portal/portal.ts'
import { toPortalQuery } from '../portal/query.ts'
import type { PortalService } from '../portal/service.ts'
import { Refusal } from '../refusal.ts'
import { type Answer, type ArchiveBlock, type History, settlementQuery, type Wanted } from './history.ts'

/** A block's line may be this long, in bytes; a longer one is no line of the Portal. */
const maxLineBytes = 64 * 1024 * 1024
const newline = 0x0a
/** Of a line that is shown in a message, in characters. */
const maxShown = 80

/** The settlement history in the SQD Network's Portal: a block a line. */
export class PortalHistory implements History {
  readonly name: string
  readonly traces: TraceArchive

  constructor(
    private readonly service: PortalService,
    private readonly wanted: Wanted,
  ) {
    this.name = service.name
    const foreignChain = () => new Refusal(`${service.name} changed its chain`)
    this.traces = new Portal({
      service,
      log: pino({ level: 'silent' }),
      final: () => undefined,
      foreignChain,
    }) as TraceArchive
  }

  finalHeight(): Promise<number> {
    return this.service.finalizedHead()
  }

  async open(fromBlock: number, toBlock: number): Promise<Answer> {
    const answer = await this.service.finalizedStream(
      toPortalQuery(settlementQuery(this.wanted, fromBlock, toBlock), fromBlock),
    )
    if (answer === 'frontier') throw new PortalFailure(`${this.name} does not have block ${fromBlock} yet`)
    if ('previousBlocks' in answer) {
      throw new PortalFailure(`${this.name} answers 409 to a query without a parent hash`)
    }
    const { body } = answer
    return {
      pieces: wholeLines(body),
      isContiguous: true,
      close() {
        body.on('error', () => {}) // of a stream nobody reads any more
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
      throw new PortalFailure(`a line is no block: ${line.slice(0, maxShown)}`)
    }
  }
}

/** What stands behind the last line break is passed on too; whoever reads it finds out whether it is a whole line. */
async function* wholeLines(body: Readable): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  let restBytes = 0
  for await (const piece of withoutSilence(body)) {
    let from = 0
    const end = piece.lastIndexOf(newline) + 1
    if (end > 0 && rest.length > 0) {
      from = piece.indexOf(newline) + 1
      yield Buffer.concat([...rest, piece.subarray(0, from)])
      rest = []
      restBytes = 0
    }
    if (end > from) yield piece.subarray(from, end)
    if (end < piece.length) {
      rest.push(piece.subarray(end))
      restBytes += piece.length - end
    }
    if (restBytes > maxLineBytes) throw new Error(`a line is longer than ${maxLineBytes} bytes`)
  }
  if (rest.length > 0) yield Buffer.concat(rest)
}

/** The pieces of a stream; rejects when none comes for too long while one is waited for. */
async function* withoutSilence(body: Readable): AsyncGenerator<Buffer> {
  const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  for (;;) {
    const timer = setTimeout(() => body.destroy(new Error(`no data within ${silenceMs} ms`)), silenceMs)
    const { done, value } = await pieces.next().finally(() => clearTimeout(timer))
    if (done) return
    yield value
  }
}
