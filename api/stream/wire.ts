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

const form = /^(?:([0-9a-f]{8})-)?([0-9]{1,15})$/

/** A place in a log: a line's number, and the first 8 hex digits of the log's epoch; undefined: of any epoch. */
interface LogPlace {
  readonly epoch: string | undefined
  readonly seq: number
}

/** Parses a place: `9f3a61c2-812`, or the number alone. Null: it is not one. */
export function readPlace(text: string): LogPlace | null {
  const [, epoch, seq] = form.exec(text) ?? []
  return seq === undefined ? null : { epoch, seq: Number(seq) }
}

export const writePlace = (epoch: string, seq: number) => `${shortEpoch(epoch)}-${seq}`

/** Whether it is of the log with this epoch, and not above its newest number. */
export const isPlaceOf = (place: LogPlace, { epoch, head }: { readonly epoch: string; readonly head: number }) =>
  (place.epoch ?? shortEpoch(epoch)) === shortEpoch(epoch) && place.seq <= head

const shortEpoch = (epoch: string) => epoch.slice(0, 8)
