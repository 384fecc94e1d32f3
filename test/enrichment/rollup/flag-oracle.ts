/** A payment between an agent and another address. */
interface Moved {
  readonly other: number
  /** Ms since 1970. */
  readonly at: number
  /** Base units of a dollar; below zero: it went back to the payer, which counts in sums only. */
  readonly amount: bigint
  /** Whether the payer is an address of the agent. */
  readonly isOwn?: boolean
  /** Whether it goes round. */
  readonly isRing?: boolean
}

const withinMs = 30 * 86_400_000

/**
 * Flags on an agent's payers, by the rule. `paid`: all payments to the agent; `given`: payments in dollars by its
 * addresses, and what they got back.
 */
export function payerFlags(paid: readonly Moved[], given: readonly Moved[]) {
  const payments = paid.filter(isPayment)
  const payers = [...new Set(payments.map(({ other }) => other))].map((payer) => ({
    payer,
    there: paid.filter(({ other }) => other === payer),
    back: given.filter(({ other }) => other === payer),
  }))
  const others = payers.map(({ there, back }) => ({ there: there.filter(({ isOwn }) => !isOwn), back }))
  const paidBack = others.filter(
    ({ there, back }) =>
      there.some(isPayment) &&
      sum(there) > 0n &&
      back.some(isPayment) &&
      2n * sum(back) >= sum(there) &&
      msBetween(there.filter(isPayment), back.filter(isPayment)) <= withinMs,
  )
  const isKept = (rows: readonly Moved[]) => rows.every(isPayment) || sum(rows) > 0n
  const real = payers.filter(({ there }) => isKept(there))
  const filtered = real.filter(({ there }) => {
    const asOthers = there.filter(({ isOwn }) => !isOwn)
    return isKept(asOthers) && asOthers.some((one) => isPayment(one) && !one.isRing)
  })
  const reciprocal = paidBack.flatMap(({ there }) => there)
  const isMost = (one: readonly Moved[]) => 20n * sum(one) >= 19n * sum(paid)
  return {
    payers: { raw: real.length, filtered: filtered.length },
    reciprocal: {
      payers: paidBack.length,
      payments: reciprocal.filter(isPayment).length,
      amount_usdc: Number(sum(reciprocal)) / 1e6,
    },
    single_payer: payments.length >= 20 && sum(paid) > 0n && payers.some(({ there }) => isMost(there)),
  }
}

const isPayment = ({ amount }: Moved) => amount >= 0n
const sum = (moved: readonly Moved[]) => moved.reduce((total, { amount }) => total + amount, 0n)

/** Milliseconds from the end of one group of payments to the start of the other; negative when they overlap. */
function msBetween(one: readonly Moved[], other: readonly Moved[]): number {
  const first = one.map(({ at }) => at)
  const second = other.map(({ at }) => at)
  return Math.max(Math.min(...second) - Math.max(...first), Math.min(...first) - Math.max(...second))
}

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
