/**
 * Makes outside text storable: Postgres refuses NUL, XML other control characters too, and encoders lone surrogates.
 *
 * Control characters (tab, newline and carriage return excepted) and lone surrogates become U+FFFD; U+FFFE and U+FFFF,
 * which XML does not allow, are removed. Longer text is cut to `maxCodePoints`, never inside a code point.
 */
export function storableText(text: string, maxCodePoints?: number): string {
  const clean = text
    .replace(controls, '\ufffd')
    .replace(loneSurrogates, '\ufffd')
    .replace(/[\ufffe\uffff]/g, '')
  // A text has at least as many UTF-16 units as code points.
  if (maxCodePoints === undefined || clean.length <= maxCodePoints) return clean
  return firstCodePoints(clean, maxCodePoints)
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
