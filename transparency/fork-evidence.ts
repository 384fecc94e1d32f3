import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { Followed, LogFork } from './follow.ts'
import { logMemory } from './log-memory.ts'

/**
 * Keeps what a log signed before and what it shows now in a file, `<path>.fork-…`, whose name the error has that is
 * returned. The same twice is one file.
 */
export function keepFork({ message, known, shown }: LogFork, path: string): Error {
  const sides = [known, shown].map((side) => (side ? `${side.key}\n\n${side.note}` : 'nothing\n'))
  const text = `${message}\n\nKnown before, with its key:\n\n${sides[0]}\nShown now, with its key:\n\n${sides[1]}`
  const file = `${path}.fork-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`
  writeFileSync(file, text, { flush: true })
  return new Error(`${message}; both sides are kept in ${file}`)
}

/**
 * Keeps the newest checkpoint of a log in its memory at a path. That of a log that ended stays next to it: who says that
 * entries were lost can take out others, and only what was signed before shows that. Returns what a reader has to be told,
 * in words.
 */
export function keepFollowed({ signed, changes }: Followed, path: string): string[] {
  const ended = logMemory(path).write(signed)
  return [...changes, ...(ended ? [`what that one signed last, as it was seen here, is kept in ${ended}`] : [])]
}
