import { accessSync, constants, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts'
import { openNote } from './note.ts'

/** A checkpoint as it was signed. */
interface Remembered extends Checkpoint {
  readonly note: string
  readonly key: string
}

/** The last checkpoint of a log, in a file of its own. */
export interface LogMemory {
  /**
   * What was kept last. Undefined: nothing yet. Throws when the file has another content: what it said is not to be
   * overlooked.
   */
  read(): Remembered | undefined
  /** Keeps a checkpoint in place of the one before. Throws when it cannot. */
  write(signed: { readonly note: string; readonly key: string }): void
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
  return {
    read() {
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
    },
    write({ note, key }) {
      writeFileSync(`${path}.new`, `${key}\n${note}`, { flush: true })
      renameSync(`${path}.new`, path)
    },
    isWritable,
  }
}

/** The note in a text: a checkpoint as it was served, or as a memory keeps it, behind a line with the key. */
export function noteIn(text: string): string {
  const end = text.indexOf('\n')
  return text.slice(0, end).includes('+') ? text.slice(end + 1) : text
}
