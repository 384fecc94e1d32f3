/**
 * Makes outside text storable: Postgres refuses NUL, XML other control characters too, and encoders lone surrogates.
 *
 * Control characters (tab, newline and carriage return excepted) and lone surrogates become U+FFFD; U+FFFE and U+FFFF,
 * which XML does not allow, are removed. Longer text is cut to `maxCodePoints`, never inside a code point; of one that is
 * longer by far only the beginning is looked at.
 */
export function storableText(text: string, maxCodePoints?: number): string {
  const clean = beginningOf(text, maxCodePoints)
    .replace(controls, '\ufffd')
    .replace(loneSurrogates, '\ufffd')
    .replace(/[\ufffe\uffff]/g, '')
  // A text has at least as many UTF-16 units as code points.
  if (maxCodePoints === undefined || clean.length <= maxCodePoints) return clean
  return firstCodePoints(clean, maxCodePoints)
}

/** Text without blanks around it, storable and cut; null: nothing is left. */
export function trimmedText(text: string, maxCodePoints: number): string | null {
  return storableText(beginningOf(text, maxCodePoints).trim(), maxCodePoints) || null
}

/**
 * As much of a text as can count towards so many code points, with room for what is removed: whoever may send megabytes
 * where a name is wanted would have them cleaned again wherever the text is read.
 */
function beginningOf(text: string, maxCodePoints = Number.POSITIVE_INFINITY): string {
  const units = 4 * maxCodePoints
  if (text.length <= units) return text
  // Half a pair would be taken for a lone surrogate.
  const isPair = (text.codePointAt(units - 1) ?? 0) > 0xffff
  return text.slice(0, isPair ? units - 1 : units)
}

const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g
/** A surrogate without its pair: with the u flag one of a pair is part of its code point and does not match. */
const loneSurrogates = /\p{Surrogate}/gu

function firstCodePoints(text: string, count: number): string {
  let end = 0
  for (let taken = 0; taken < count && end < text.length; taken++) {
    end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1
  }
  return text.slice(0, end)
}
