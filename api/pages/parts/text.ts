import { storableText } from '../../../db/text.ts'
import { escapeHtml } from './html.ts'

/**
 * Text of others, fit for a feed: without what XML 1.0 has no place for (it is cleaned on its way in; a feed that one
 * bio can break is worth a second look), and without the controls that turn the direction of the text around it.
 */
export function plain(text: string): string {
  return storableText(text).replace(directionControls, '')
}

const directionControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** A stranger's text without control characters, on one line: for names. */
export function oneLine(text: string): string {
  return plain(text).replace(/\s+/g, ' ').trim()
}

/** Text as HTML that shows it: no markup, no attribute and no CDATA end comes through. */
export function escaped(text: string): string {
  return escapeHtml(plain(text))
}

/** A text with a capital first letter and a full stop. */
export const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`

/** The first code points of a text; never cuts a surrogate pair in half. */
export function firstCodePoints(text: string, count: number): string {
  return text.length <= count ? text : [...text].slice(0, count).join('')
}

/** A stranger's text without direction controls, cut after `count` code points with `…`; line breaks stay. */
export function excerpt(text: string, count: number): string {
  const shown = plain(text)
  return shown.length <= count ? shown : `${firstCodePoints(shown, count)}…`
}

/** Most code points of a name. */
const nameCharacters = 80

/** A stranger's name on one line, cut after `nameCharacters`. */
export function shortName(text: string): string {
  return excerpt(oneLine(text), nameCharacters)
}
