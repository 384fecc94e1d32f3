import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listFiles, root } from '../support/source-files.ts'

/** Phrases that no native reader would write, with what to write. */
const phrases: readonly { readonly phrase: RegExp; readonly instead: string }[] = [
  { phrase: /\banew\b/i, instead: 'again, or start over' },
  { phrase: /\baside\b/i, instead: 'the staging table, or except for' },
  { phrase: /\blegs?\b/i, instead: 'the forwarded payment, or the transfer' },
  { phrase: /patience/i, instead: 'the deadline, the timeout or the retry policy' },
  { phrase: /\bseats?\b/i, instead: 'the lease' },
  {
    phrase: /(?<!\bthere )\b(?:is|was) none\b(?! of (?:its|their) business)/i,
    instead: 'is not one, or there is none',
  },
  { phrase: /\bwhat is (?!left |known )[a-z]{1,20} (?:up )?of (?:them|it)\b/i, instead: 'the noun that it is' },
  { phrase: /\bis no [a-z]+ any more\b/i, instead: 'is no longer one' },
  { phrase: /\bof (?:whom|which it)\b/i, instead: 'that or whose, with the subject first' },
  { phrase: /\bare no [a-z]+ any more\b/i, instead: 'are no longer ones' },
  { phrase: /\bof which each\b/i, instead: 'each of which' },
  { phrase: /\b(?:go|goes|going|gone) on with\b/i, instead: 'continues with, or resumes' },
  { phrase: /\botherwise than\b/i, instead: 'differs from, or another way than' },
  // But for what clients and operators are given: it is changed with a release.
  { phrase: /\bbeside\b(?! (?:them, |the filters are|the counts of|prices\b))/i, instead: 'next to, or besides' },
  { phrase: /\bto be called (?:in|under|with|before|after|while|once|inside|by|when)\b/i, instead: 'call it' },
]

test('comments, titles and documents are in English that a native reader would write', async () => {
  const wrong: string[] = []
  for (const path of listFiles().filter(isWritten)) {
    // A sentence goes on behind the margin of the next line.
    const text = (await readFile(join(root, path), 'utf8')).replaceAll(/\n[ \t]*(?:\*|\/\/|--|#)? ?/g, ' ')
    for (const { phrase, instead } of phrases) {
      const found = phrase.exec(text)
      if (found) wrong.push(`${path}: "${text.slice(found.index - 30, found.index + 50)}": ${instead}`)
    }
  }
  expect(wrong).toEqual([])
})

function isWritten(path: string): boolean {
  return (
    /\.(ts|mjs|sql|md|ya?ml)$/.test(path) &&
    !/^(db\/migrations|test\/fixtures|client\/generated)\/|^CHANGELOG|^test\/house\/phrases/.test(path)
  )
}
