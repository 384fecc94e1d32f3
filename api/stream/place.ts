const form = /^(?:([0-9a-f]{8})-)?([0-9]{1,15})$/

/** A place in a log: a number, and which log's it is by the first digits of its epoch; undefined: of whichever is there. */
interface LogPlace {
  readonly epoch: string | undefined
  readonly seq: number
}

/** `9f3a61c2-812`, or the number alone. Null: it is no place. */
export function readPlace(text: string): LogPlace | null {
  const [, epoch, seq] = form.exec(text) ?? []
  return seq === undefined ? null : { epoch, seq: Number(seq) }
}

export const writePlace = (epoch: string, seq: number) => `${shortEpoch(epoch)}-${seq}`

/** Whether it is of the log with this epoch, and not above its newest number. */
export const isPlaceOf = (place: LogPlace, { epoch, head }: { readonly epoch: string; readonly head: number }) =>
  (place.epoch ?? shortEpoch(epoch)) === shortEpoch(epoch) && place.seq <= head

const shortEpoch = (epoch: string) => epoch.slice(0, 8)
