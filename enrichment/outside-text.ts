import { trimmedText } from '../db/text.ts'

/** A source's text, made storable and cut to `codePoints`; null: there is none. */
export function cleanText(text: string | null | undefined, codePoints: number): string | null {
  return text == null ? null : trimmedText(text, codePoints)
}

/** A source's text as an http(s) address; null: it is not one. */
export function cleanUrl(text: string | null | undefined): string | null {
  const clean = cleanText(text, longestUrl + 1)
  if (clean === null || clean.length > longestUrl || !/^https?:\/\//i.test(clean)) return null
  return URL.canParse(clean) ? clean : null
}

/** A source's number as a count; null: not known, or not a whole number from zero. */
export function cleanCount(count: number | null | undefined): number | null {
  return count != null && Number.isSafeInteger(count) && count >= 0 ? count : null
}

const longestUrl = 2_048
