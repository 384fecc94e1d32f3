import { type Checkpoint, epochOf, parseCheckpoint } from './checkpoint.ts'
import { textOf } from './note.ts'

/** Most trees of earlier logs that the first entry of a log names; older ones are left out. */
export const mostEarlier = 100

/** The last tree of a log that ended, as the first entry of a later one names it. */
type EndedLog = {
  readonly origin: string
  readonly size: number
  /** Base64. */
  readonly root: string
}

/** A tree as a first entry names it. */
export const endedLog = ({ origin, size, root }: Checkpoint): EndedLog => ({
  origin,
  size,
  root: Buffer.from(root).toString('base64'),
})

/** What a first entry says of the logs before its own: the last one first. Empty: it is no first entry. */
export function endedLogsIn(entry: unknown): EndedLog[] {
  const { type, before, earlier } = (entry ?? {}) as { type?: unknown; before?: unknown; earlier?: unknown }
  if (type !== 'log') return []
  return [before, ...(Array.isArray(earlier) ? earlier : [])].filter(isEndedLog)
}

/**
 * The logs that ended before the last one did, the last of them first: as an earlier first entry names them, and as they
 * signed them. Of two trees of one log the longer counts. `last` is the origin of the last one.
 */
export function earlierLogs(entry: unknown, notes: readonly string[], last: string): EndedLog[] {
  const signed = notes.map((note) => endedLog(parseCheckpoint(textOf(note))))
  const longest = new Map<string, EndedLog>()
  for (const one of [...endedLogsIn(entry), ...signed]) {
    const known = longest.get(one.origin)
    if (one.origin !== last && (!known || one.size > known.size)) longest.set(one.origin, one)
  }
  return [...longest.values()].sort((one, other) => epochOf(other.origin) - epochOf(one.origin)).slice(0, mostEarlier)
}

function isEndedLog(said: unknown): said is EndedLog {
  const { origin, size, root } = (said ?? {}) as Partial<Record<keyof EndedLog, unknown>>
  return typeof origin === 'string' && Number.isSafeInteger(size) && typeof root === 'string'
}
