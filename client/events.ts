import { DirectoryError } from './error.ts'
import { longestPauseMs, type Transport } from './transport.ts'

/** Pause before reconnecting to a stream that has not set one, milliseconds; doubles with each failure in a row. */
const reconnectMs = 5_000
/** Failures in a row that a stream survives, some minutes; the next one is thrown. */
const reconnects = 10

/** One server-sent event (HTML standard, 9.2); with empty `data` it only carries an id or a retry time. */
interface ServerEvent {
  /** Cursor with which to resume after this event; undefined: that of the event before still holds. */
  readonly id: string | undefined
  readonly event: string
  readonly data: string
  /** Pause before reconnecting, milliseconds; undefined: the event does not set one. */
  readonly retryMs: number | undefined
}

/**
 * Events of a stream after the one with id `since`, without end: it reconnects and resumes when the stream ends or
 * breaks. Throws a refusal of the service, and the last failure when there were too many in a row.
 */
export async function* followEvents(transport: Transport, path: string, since: string): AsyncGenerator<ServerEvent> {
  let id = since
  let pauseMs = reconnectMs
  for (let failures = 0; ; ) {
    try {
      for await (const event of eventsOf(transport.texts(path, { 'Last-Event-ID': id }))) {
        failures = 0
        id = event.id ?? id
        pauseMs = event.retryMs ?? pauseMs
        yield event
      }
    } catch (error) {
      const isRefused = error instanceof DirectoryError && error.status < 500 && error.status !== 429
      if (isRefused || ++failures > reconnects) throw error
    }
    await transport.pause(Math.min(pauseMs * 2 ** Math.max(0, failures - 1), longestPauseMs))
  }
}

/** Parses events from text that comes in pieces. Lines must end with a line feed, as the service ends them. */
export async function* eventsOf(pieces: AsyncIterable<string>): AsyncGenerator<ServerEvent> {
  let rest = ''
  for await (const piece of pieces) {
    const blocks = (rest + piece).split('\n\n')
    rest = blocks.pop() ?? ''
    yield* blocks.map(eventOf)
  }
}

function eventOf(block: string): ServerEvent {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? []
    // Data of several lines comes as several `data` fields.
    fields.set(name, name === 'data' && fields.has('data') ? `${fields.get('data')}\n${value}` : value)
  }
  const retry = fields.get('retry') ?? ''
  return {
    id: fields.get('id'),
    event: fields.get('event') ?? 'message',
    data: fields.get('data') ?? '',
    retryMs: /^[0-9]+$/.test(retry) ? Number(retry) : undefined,
  }
}
