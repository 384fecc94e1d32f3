/** JSON keys of a block's text, with quotes and colon; the scanner destructures each list in this order. */
export const blockKeys = [keyOf('header'), keyOf('transactions'), keyOf('logs')] as const
export const headerKeys = [keyOf('number'), keyOf('timestamp'), keyOf('hash'), keyOf('parentHash')] as const
export const transactionKeys = [keyOf('transactionIndex'), keyOf('from'), keyOf('to'), keyOf('input')] as const
export const logKeys = [keyOf('logIndex'), keyOf('address'), keyOf('topics'), keyOf('data')] as const
export const nullValue = Buffer.from('null')

/** First letters of the keys. */
export const letter = { a: 0x61, d: 0x64, f: 0x66, h: 0x68, i: 0x69, l: 0x6c, n: 0x6e, p: 0x70, t: 0x74 } as const

function keyOf(name: string): Buffer {
  return Buffer.from(`"${name}":`)
}
