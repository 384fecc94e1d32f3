import { plain } from '../pages/parts/text.ts'

/**
 * Matches what nobody sees, and as $1 the joiners inside an emoji, which stay: characters drawn as nothing (Unicode:
 * default ignorable), among them those that spell ASCII or bytes; the marks of annotations (U+FFF9 to U+FFFB); the
 * blank of Braille.
 */
const hidden =
  /((?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)\u200d(?=\p{Extended_Pictographic}))|[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800]/gu

/**
 * Removes what models read and people do not see in strangers' texts: direction controls, and characters that spell
 * words invisibly. An emoji may lose its colours. JSON stays valid, because these can only stand within strings.
 */
export function withoutHiddenText(body: string): string {
  return plain(body).replace(hidden, '$1')
}
