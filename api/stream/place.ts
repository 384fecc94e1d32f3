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
