import { accessSync, closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Checkpoint, epochOf, parseCheckpoint } from './checkpoint.ts'
import { mostEarlier } from './earlier-logs.ts'
import { openNote, textOf } from './note.ts'

/** A checkpoint as it was signed. */
interface Remembered extends Checkpoint {
  readonly note: string
  readonly key: string
}

/** The last checkpoint of a service's log in a file, and next to it, in `<path>-<number>`, that of each log that ended. */
export interface LogMemory {
  /**
   * What was kept last. Undefined: nothing yet. Throws when the file has another content: what it said is not to be
   * overlooked.
   */
  read(): Remembered | undefined
  /** What was kept of the logs before that one, the last of them first; at most as many as a first entry names. */
  ended(): Remembered[]
  /**
   * Keeps a checkpoint in place of the one before. Returns the file that keeps the one before, if that is of another log.
   * Throws when it cannot be kept.
   */
  write(signed: { readonly note: string; readonly key: string }): string | undefined
  /** Whether anything can be kept: secrets may be mounted for reading only. */
  isWritable(): boolean
}

export function logMemory(path: string): LogMemory {
  const isWritable = () => {
    try {
      accessSync(dirname(path), constants.W_OK)
      return true
    } catch {
      return false
    }
  }
  const read = () => readKept(path)
  return {
    read,
    ended() {
      const last = read()
      const before = last ? epochOf(last.origin) - 1 : 0
      const numbers = Array.from({ length: Math.min(before, mostEarlier) }, (_, nth) => before - nth)
      return numbers.flatMap((number) => readKept(`${path}-${number}`) ?? [])
    },
    write(signed) {
      const last = read()
      const isAnother = last && epochOf(last.origin) !== epochOf(parseCheckpoint(textOf(signed.note)).origin)
      const ended = isAnother ? `${path}-${epochOf(last.origin)}` : undefined
      if (last && ended) keep(last, ended)
      keep(signed, path)
      return ended
    },
    isWritable,
  }
}

/** What a file keeps. Undefined: there is none. */
function readKept(path: string): Remembered | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const [key = '', ...lines] = text.split('\n')
  const note = lines.join('\n')
  try {
    return { note, key, ...parseCheckpoint(openNote(note, key)) }
  } catch (cause) {
    throw new Error(`${path} is not what the job kept there: ${(cause as Error).message}`, { cause })
  }
}

/** Writes a file in place of the one before, so that a loss of power leaves one of the two: the name is flushed as well. */
function keep({ note, key }: { readonly note: string; readonly key: string }, path: string): void {
  writeFileSync(`${path}.new`, `${key}\n${note}`, { flush: true })
  renameSync(`${path}.new`, path)
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** The note in a text: a checkpoint as it was served, or as a memory keeps it, behind a line with the key. */
export function noteIn(text: string): string {
  const end = text.indexOf('\n')
  return text.slice(0, end).includes('+') ? text.slice(end + 1) : text
}
