const quote = 0x22
/** Characters of a 32-byte word: `0x` and 64 digits. */
const wordLength = 66

/** Whether a text has these bytes at a place. */
export function stands(text: Buffer, at: number, expected: Buffer): boolean {
  for (let step = 0; step < expected.length; step++) if (text[at + step] !== expected[step]) return false
  return true
}

/** The place after the closing quote of a string of known length; -1: it has another length, or is not a string. */
export function endOfString(text: Buffer, start: number, length: number): number {
  return text[start - 1] === quote && text[start + length] === quote ? start + length + 1 : -1
}

/** Where a string of log data ends; most are empty or a single word, which is tried first. */
export function endOfData(text: Buffer, start: number): number {
  if (text[start + 2] === quote) return start + 2
  if (text[start + wordLength] === quote) return start + wordLength
  return text.indexOf(quote, start)
}

/** Copies the items to a list of twice the size. */
export function twice(items: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * items.length)
  larger.set(items)
  return larger
}
