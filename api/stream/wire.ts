import { writePlace } from './place.ts'

/** An event of a stream (HTML standard, 9.2 Server-sent events). No part may hold a line break. */
export interface StreamEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

export const writeEvent = ({ id, event, data }: StreamEvent) => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`

/** First bytes, so that proxies pass the answer on: `retry`, in milliseconds before reconnecting, and a comment. */
export const writeOpening = (retryMs: number, now: Date) => `retry: ${retryMs}\n: ${now.toISOString()}\n\n`

/** Heartbeat: keeps a silent connection open, and moves the place from which the client would resume. */
export const writeHeartbeat = (id: string, now: Date) => `: ${now.toISOString()}\nid: ${id}\n\n`

/** Event `reset`: the place is not in this log, so the client reads it whole, then follows from the head named here. */
export const writeReset = ({ epoch, head }: { readonly epoch: string; readonly head: number }) =>
  writeEvent({ id: writePlace(epoch, head), event: 'reset', data: JSON.stringify({ epoch, head }) })
