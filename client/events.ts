/** One server-sent event (HTML standard, 9.2); with empty `data` it only carries an id or a retry time. */
export interface ServerEvent {
  /** Cursor with which to resume after this event; undefined: that of the event before still holds. */
  readonly id: string | undefined
  readonly event: string
  readonly data: string
  /** Pause before reconnecting, milliseconds; undefined: the event does not set one. */
  readonly retryMs: number | undefined
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
