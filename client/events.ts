/** What a stream of server-sent events tells (HTML standard, 9.2): an event, or with empty `data` its place alone. */
export interface ServerEvent {
  /** Where to go on behind it; undefined: where the one before it said. */
  readonly id: string | undefined
  readonly event: string
  readonly data: string
  /** How long to wait before connecting again, milliseconds; undefined: it does not say. */
  readonly retryMs: number | undefined
}

/** The events of a text that comes in pieces. Lines end as the service ends them, with a line feed. */
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
    const [, name = '', value = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? []
    // A text of several lines comes as several fields.
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
