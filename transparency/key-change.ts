import { openNote } from './note.ts'

// A log's key is followed by another in a note that it signs, which is an entry of the log: docs/log.md.

/** What a key signs when another one follows it. Its second line tells it from the text of a checkpoint. */
export function keyChangeText(origin: string, next: string): string {
  return `${origin}\nkey\n${next}\n`
}

/** The key that follows another, by a note. Undefined: the note is not one that `key` signed for the log. */
export function keyAfter(note: string, { origin, key }: { readonly origin: string; readonly key: string }) {
  try {
    const text = openNote(note, key)
    const [, , next = ''] = text.split('\n')
    return text === keyChangeText(origin, next) ? next : undefined
  } catch {
    return undefined // whoever may append entries to a log can write notes that mean nothing
  }
}
