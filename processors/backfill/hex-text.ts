import { wordDigits } from '../mapping/selector.ts'

/** Whether two stretches of text are the same. */
export function same(a: Buffer, at: number, b: Buffer, bAt: number, length: number): boolean {
  for (let step = 0; step < length; step++) if (a[at + step] !== b[bAt + step]) return false
  return true
}

/** Whether a word of hex is below 2^63. */
export function fitsRow(text: Buffer, at: number): boolean {
  for (let step = 0; step < wordDigits - 16; step++) if (text[at + step] !== 0x30) return false
  return (text[at + wordDigits - 16] as number) < 0x38
}

/** Value of each hex digit; 0xff: none. */
const valueOfDigit = Uint8Array.from({ length: 256 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16)
  return Number.isNaN(value) ? 0xff : value
})

/** Copies bytes, written as hex digits in a text, into a row. Throws at anything that is not a hex digit. */
export function decode(text: Buffer, from: number, page: Buffer, to: number, bytes: number): void {
  let seen = 0
  for (let step = 0; step < bytes; step++) {
    const high = valueOfDigit[text[from + 2 * step] as number] as number
    const low = valueOfDigit[text[from + 2 * step + 1] as number] as number
    seen |= high | low
    page[to + step] = (high << 4) | low
  }
  if (seen > 0x0f) throw new Error(`not hex: ${text.toString('latin1', from, from + 2 * bytes)}`)
}
