import type pg from 'pg'
import { type FoundRings, incomeAddressesOf, type PayerSum, paidBy, storeRings } from '../db/queries/income/rings.ts'
import { holdRollup } from '../db/queries/rollup/cursor.ts'

/** Searches the rings of addresses, lowercase hex; one that is no agent's any more has none. The roll-up waits meanwhile. */
export async function deriveRings(db: pg.PoolClient, addresses: readonly string[]): Promise<undefined> {
  await holdRollup(db)
  const own = await incomeAddressesOf(db, addresses)
  const found = await findRings([...own], (payers) => paidBy(db, payers, mostPayerSums), ringBounds)
  const gone = addresses.filter((address) => !own.has(address))
  await storeRings(db, [...found, ...gone.map((address) => ({ address, payers: [], ring: [], reached: [] }))])
}

/** Bounds of the search for rings. */
export interface RingBounds {
  /** Most payments of a round, from an address back to itself. */
  readonly payments: number
  /** Most sums by payer and recipient that are followed for one address. */
  readonly sums: number
  /** Fewest addresses of a ring. */
  readonly fewestAddresses: number
}

/** Bounds of rings of money: two that pay each other back are `reciprocal` instead. */
export const ringBounds: RingBounds = { payments: 6, sums: 2_000, fewestAddresses: 3 }
/** Most sums of one payer. One with more is taken for an exchange or a payout service, and not followed. */
const mostPayerSums = 500
/** Two amounts are nearly equal when the lesser is at least this share of the greater. */
const balance = { of: 4n, in: 5n }

type ReadPaid = (payers: readonly string[]) => Promise<readonly PayerSum[]>

/**
 * Finds the payers that pay some addresses in a ring. The ring of an address is the set of all addresses, itself
 * included, on cycles of at most `payments` payments through it, if they are `fewestAddresses` or more. A payer of the address is
 * found when it is in the ring, and both receive from the ring nearly as much as they pay into it. The search follows
 * payments hop by hop; a hop that exceeds `sums` is left out, with everything behind it.
 *
 * `read` returns the sums of payers; it is called once per payer, and returns none of a payer that is not followed.
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
  return searches.map((search) => search.found(bounds))
}

class Search {
  frontier: string[]
  /** Distance of each address found, in payments from the searched one. */
  private readonly from: Map<string, number>
  private readonly sums: PayerSum[] = []
  private readonly reached: string[] = []

  constructor(private readonly address: string) {
    this.frontier = [address]
    this.from = new Map([[address, 0]])
  }

  /** Follows the payments of the addresses found last. */
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

  found({ payments, fewestAddresses }: RingBounds): FoundRings {
    const { address, reached } = this
    const ring = this.ring(payments)
    if (ring.size < fewestAddresses) return { address, payers: [], ring: [], reached }
    const inside = this.sums.filter(({ payer, recipient }) => ring.has(payer) && ring.has(recipient))
    const got = totals(inside, 'recipient')
    const gave = totals(inside, 'payer')
    const isBalanced = (one: string) => areNearlyEqual(got.get(one) ?? 0n, gave.get(one) ?? 0n)
    const paying = inside.filter(({ recipient }) => recipient === address).map(({ payer }) => payer)
    const payers = isBalanced(address) ? paying.filter(isBalanced) : []
    return { address, payers, ring: [...ring], reached }
  }

  /** Addresses on cycles of at most this many payments through the address. */
  private ring(payments: number): Set<string> {
    const payersOf = new Map<string, string[]>()
    for (const { payer, recipient } of this.sums) {
      const payers = payersOf.get(recipient)
      if (payers) payers.push(payer)
      else payersOf.set(recipient, [payer])
    }
    const back = new Map([[this.address, 0]])
    // Iterating a Map includes entries that are added meanwhile: a breadth-first search.
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
