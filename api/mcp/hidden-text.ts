import { plain } from '../pages/parts/text.ts'

/** Matches tag characters, which spell ASCII, and variation selectors, of which there are enough to spell bytes. */
const invisible = /[\u{e0000}-\u{e007f}\p{Variation_Selector}]/gu

/**
 * Removes what models read and people do not see in strangers' texts: direction controls, and characters that spell
 * words invisibly. An emoji may lose its colours. JSON stays valid, because these can only stand within strings.
 */
export function withoutHiddenText(body: string): string {
  return plain(body).replace(invisible, '')
}
