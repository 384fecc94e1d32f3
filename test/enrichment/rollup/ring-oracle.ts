/** Total that one address paid another, in base units. */
interface Edge {
  readonly payer: string
  readonly recipient: string
  readonly amount: bigint
}

/** Payers of an address whose payments are part of a ring, found by walking every ring of at most six payments. */
export function ringPayers(address: string, edges: readonly Edge[]): string[] {
  const real = edges.filter(({ payer, recipient, amount }) => payer !== recipient && amount > 0n)
  const ring = new Set<string>()
  const walk = (path: readonly string[]) => {
    for (const { payer, recipient } of real) {
      if (payer !== path.at(-1)) continue
      if (recipient === address) for (const one of path) ring.add(one)
      else if (path.length < 6) walk([...path, recipient])
    }
  }
  walk([address])
  const sum = (of: readonly Edge[]) => of.reduce((total, { amount }) => total + amount, 0n)
  const isBalanced = (one: string) => {
    const got = Number(sum(real.filter(({ payer, recipient }) => recipient === one && ring.has(payer))))
    const gave = Number(sum(real.filter(({ payer, recipient }) => payer === one && ring.has(recipient))))
    return 5 * Math.min(got, gave) >= 4 * Math.max(got, gave)
  }
  if (ring.size < 3 || !isBalanced(address)) return []
  return real
    .filter(({ payer, recipient }) => recipient === address && ring.has(payer) && isBalanced(payer))
    .map(({ payer }) => payer)
}
