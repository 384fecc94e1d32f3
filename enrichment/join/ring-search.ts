import type { FoundRings, PayerSum } from '../../db/queries/income/rings.ts'

/** Bounds of the search for rings. */
export interface RingBounds {
  /** Payments of a round, from an address back to it. */
  readonly payments: number
  /** Sums by payer and recipient that are followed for one address. */
  readonly sums: number
  /** Sums of one payer. One with more is taken for an exchange or a payout service, and not followed. */
  readonly payerSums: number
}

export const ringBounds: RingBounds = { payments: 6, sums: 2_000, payerSums: 500 }
/** Addresses of a ring, at least: two that pay each other back are `reciprocal`. */
const fewestAddresses = 3
/** What comes in from a ring and what goes out to it are nearly equal when the lesser is this share of the greater. */
const balance = { of: 4n, in: 5n }

type ReadPaid = (payers: readonly string[]) => Promise<readonly PayerSum[]>

/**
 * Who pays some addresses in a ring. The ring of an address is all addresses on a round of `payments` payments at most
 * that leads from it back to it, itself included; it is one when there are three or more. A payer of the address in it is
 * found when what the payer gets from the ring nearly equals what it gives, and the same holds of the address. What goes
 * out is followed hop by hop: a hop that comes to more than `sums` is left out, and what lies behind it.
 *
 * `read` gives the sums of the payers it is asked for, each asked for once, none of a payer that is not followed.
 */
export async function findRings(
  addresses: readonly string[],
  read: ReadPaid,
  bounds: RingBounds,
): Promise<FoundRings[]> {
  const known = new Map<string, PayerSum[]>()
  const searches = addresses.map((address) => new Search(address))
  for (let hop = 0; hop < bounds.payments; hop += 1) {
    const wanted = new Set(searches.flatMap(({ frontier }) => frontier))
    const unknown = [...wanted].filter((payer) => !known.has(payer))
    if (wanted.size === 0) break
    for (const payer of unknown) known.set(payer, [])
    if (unknown.length > 0) for (const sum of await read(unknown)) known.get(sum.payer)?.push(sum)
    for (const search of searches) search.hop(known, bounds.sums)
  }
  return searches.map((search) => search.found(bounds.payments))
}

class Search {
  frontier: string[]
  /** Payments from the address to each. */
  private readonly from: Map<string, number>
  private readonly sums: PayerSum[] = []
  private readonly reached: string[] = []

  constructor(private readonly address: string) {
    this.frontier = [address]
    this.from = new Map([[address, 0]])
  }

  /** Follows what the addresses found last paid. */
  hop(known: ReadonlyMap<string, readonly PayerSum[]>, most: number): void {
    const { frontier } = this
    this.frontier = []
    this.reached.push(...frontier)
    const paid = frontier.flatMap((payer) => known.get(payer) ?? [])
    if (this.sums.length + paid.length > most) return
    this.sums.push(...paid)
    for (const { payer, recipient } of paid) {
      if (this.from.has(recipient)) continue
      this.from.set(recipient, (this.from.get(payer) as number) + 1)
      this.frontier.push(recipient)
    }
  }

  found(payments: number): FoundRings {
    const { address, reached } = this
    const ring = this.ring(payments)
    if (ring.size < fewestAddresses) return { address, payers: [], reached }
    const inside = this.sums.filter(({ payer, recipient }) => ring.has(payer) && ring.has(recipient))
    const got = totals(inside, 'recipient')
    const gave = totals(inside, 'payer')
    const isBalanced = (one: string) => areNearlyEqual(got.get(one) ?? 0n, gave.get(one) ?? 0n)
    const paying = inside.filter(({ recipient }) => recipient === address).map(({ payer }) => payer)
    return { address, payers: isBalanced(address) ? paying.filter(isBalanced) : [], reached }
  }

  /** Addresses on a round of so many payments at most. */
  private ring(payments: number): Set<string> {
    const payersOf = new Map<string, string[]>()
    for (const { payer, recipient } of this.sums) {
      const payers = payersOf.get(recipient)
      if (payers) payers.push(payer)
      else payersOf.set(recipient, [payer])
    }
    const back = new Map([[this.address, 0]])
    // A Map goes on to what is set while it is gone through: nearest first.
    for (const [one, distance] of back) {
      for (const payer of payersOf.get(one) ?? []) if (!back.has(payer)) back.set(payer, distance + 1)
    }
    const isOnRound = (one: string) => (this.from.get(one) ?? Infinity) + (back.get(one) ?? Infinity) <= payments
    return new Set([...back.keys()].filter(isOnRound))
  }
}

function totals(sums: readonly PayerSum[], by: 'payer' | 'recipient'): Map<string, bigint> {
  const total = new Map<string, bigint>()
  for (const sum of sums) total.set(sum[by], (total.get(sum[by]) ?? 0n) + sum.amount)
  return total
}

function areNearlyEqual(one: bigint, other: bigint): boolean {
  const [lesser, greater] = one < other ? [one, other] : [other, one]
  return lesser * balance.in >= greater * balance.of
}
