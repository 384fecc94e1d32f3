import { writePlace } from './place.ts'

/** An event of a stream (HTML standard, 9.2 Server-sent events). No part may hold a line break. */
export interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

export const writeEvent = ({ id, event, data }: StreamEvent) => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`

/** What proxies wait for before they pass anything on: how long to wait before connecting again, and a comment. */
export const writeOpening = (retryMs: number, now: Date) => `retry: ${retryMs}\n: ${now.toISOString()}\n\n`

/** Nothing happened up to here: keeps the connection, and moves the place from which the client would go on. */
export const writeHeartbeat = (id: string, now: Date) => `: ${now.toISOString()}\nid: ${id}\n\n`

/** Another log is here, or the place is not in it: read it whole, and follow from where it stands now. */
export const writeReset = ({ epoch, head }: { readonly epoch: string; readonly head: number }) =>
  writeEvent({ id: writePlace(epoch, head), event: 'reset', data: JSON.stringify({ epoch, head }) })
