import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { LogFork } from './follow.ts'

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
