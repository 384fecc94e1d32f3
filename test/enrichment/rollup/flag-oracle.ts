/** A payment between an agent and another address. */
interface Moved {
  readonly other: number
  /** Ms since 1970. */
  readonly at: number
  /** Base units of a dollar. */
  readonly amount: bigint
}

const withinMs = 30 * 86_400_000

/**
 * Flags on an agent's payers, by the rule. `paid`: all payments to the agent; `given`: payments in dollars by its
 * addresses; `isOwn`: whether a payer is an address of the agent.
 */
export function payerFlags(paid: readonly Moved[], given: readonly Moved[], isOwn: (payer: number) => boolean) {
  const payers = [...new Set(paid.map(({ other }) => other))].map((payer) => ({
    payer,
    there: paid.filter(({ other }) => other === payer),
    back: given.filter(({ other }) => other === payer),
  }))
  const paidBack = payers.filter(
    ({ payer, there, back }) =>
      !isOwn(payer) &&
      sum(there) > 0n &&
      back.length > 0 &&
      2n * sum(back) >= sum(there) &&
      msBetween(there, back) <= withinMs,
  )
  const reciprocal = paidBack.flatMap(({ there }) => there)
  const isMost = (one: readonly Moved[]) => 20n * sum(one) >= 19n * sum(paid)
  return {
    reciprocal: {
      payers: paidBack.length,
      payments: reciprocal.length,
      amount_usdc: Number(sum(reciprocal)) / 1e6,
    },
    single_payer: paid.length >= 20 && sum(paid) > 0n && payers.some(({ there }) => isMost(there)),
  }
}

const sum = (moved: readonly Moved[]) => moved.reduce((total, { amount }) => total + amount, 0n)

/** Milliseconds from the end of one group of payments to the start of the other; negative when they overlap. */
function msBetween(one: readonly Moved[], other: readonly Moved[]): number {
  const first = one.map(({ at }) => at)
  const second = other.map(({ at }) => at)
  return Math.max(Math.min(...second) - Math.max(...first), Math.min(...first) - Math.max(...second))
}
