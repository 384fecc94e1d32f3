import { storableText } from '../db/text.ts'

/** Text of a source, made storable and cut to so many code points; null: there is none. */
export function cleanText(text: string | null | undefined, codePoints: number): string | null {
  return text == null ? null : storableText(text.trim(), codePoints) || null
}

/** An http(s) address of a source; null: it is none. */
export function cleanUrl(text: string | null | undefined): string | null {
  const clean = cleanText(text, longestUrl + 1)
  if (clean === null || clean.length > longestUrl || !/^https?:\/\//i.test(clean)) return null
  return URL.canParse(clean) ? clean : null
}

/** An amount of something; null: not known, or no such amount. */
export function cleanCount(count: number | null | undefined): number | null {
  return count != null && Number.isSafeInteger(count) && count >= 0 ? count : null
}

const longestUrl = 2_048
