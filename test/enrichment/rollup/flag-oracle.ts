/** Money between an agent and somebody else. */
interface Moved {
  readonly other: number
  /** Ms since 1970. */
  readonly at: number
  /** Base units of a dollar. */
  readonly amount: bigint
}

const withinMs = 30 * 86_400_000

/** What is flagged of an agent's payers: of all that it was paid, and of what its addresses paid others in dollars. */
export function payerFlags(paid: readonly Moved[], given: readonly Moved[], isOwn: (payer: number) => boolean) {
  const payers = [...new Set(paid.map(({ other }) => other))].map((payer) => ({
    payer,
    there: paid.filter(({ other }) => other === payer),
    back: given.filter(({ other }) => other === payer),
  }))
  const paidBack = payers.filter(
    ({ payer, there, back }) =>
      !isOwn(payer) && back.length > 0 && 2n * sum(back) >= sum(there) && msBetween(there, back) <= withinMs,
  )
  const reciprocal = paidBack.flatMap(({ there }) => there)
  const isMost = (one: readonly Moved[]) => 20n * sum(one) >= 19n * sum(paid)
  return {
    reciprocal: {
      payers: paidBack.length,
      payments: reciprocal.length,
      amount_usdc: Number(sum(reciprocal)) / 1e6,
    },
    single_payer: paid.length >= 20 && payers.some(({ there }) => isMost(there)),
  }
}

const sum = (moved: readonly Moved[]) => moved.reduce((total, { amount }) => total + amount, 0n)

/** From the end of the one time to the beginning of the other; below zero where they overlap. */
function msBetween(one: readonly Moved[], other: readonly Moved[]): number {
  const first = one.map(({ at }) => at)
  const second = other.map(({ at }) => at)
  return Math.max(Math.min(...second) - Math.max(...first), Math.min(...first) - Math.max(...second))
}
