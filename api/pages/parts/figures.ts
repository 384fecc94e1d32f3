const grouped = new Intl.NumberFormat('en-US')

/** 12345 as 12,345. */
export function figure(value: number): string {
  return grouped.format(value)
}

/** A count with its word: 1 settlement, 2 settlements. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${figure(value)} ${value === 1 ? one : many}`
}

/** Exact dollars, as many decimals as there are and at least two: "1.500000" as $1.50. */
export function dollars(amount: string): string {
  const [whole = '0', decimals = ''] = amount.split('.')
  return `$${grouped.format(BigInt(whole))}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`
}

/** 0x1234…cdef: enough of an address or a hash to tell it from its neighbours. */
export function shortened(hex: string): string {
  return hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex
}
