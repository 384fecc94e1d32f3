import type pg from 'pg'
import { type FoundRings, incomeAddressesOf, type PayerSum, paidBy, storeRings } from '../db/queries/income/rings.ts'
import { holdRollup } from '../db/queries/rollup/cursor.ts'
import { groupsOf } from '../ops/groups.ts'

/** Searches the rings of addresses, lowercase hex; one that is no agent's any more has none. The roll-up waits meanwhile. */
export async function deriveRings(db: pg.PoolClient, addresses: readonly string[]): Promise<undefined> {
  await holdRollup(db)
  const own = await incomeAddressesOf(db, addresses)
  const found = await findRings([...own], { paid: (payers) => paidBy(db, payers, mostPayerSums) }, ringBounds)
  const gone = addresses.filter((address) => !own.has(address))
  await storeRings(db, [
    ...found,
    ...gone.map((address) => ({ address, payers: [], ring: [], reached: [], reachedBack: [] })),
  ])
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

type ReadSums = (addresses: readonly string[]) => Promise<readonly PayerSum[]>

/** How sums are read: those of payers and, where a search goes back as well, those of recipients. */
interface Reads {
  readonly paid: ReadSums
  readonly got?: ReadSums
}

/**
 * Finds the payers that pay some addresses in a ring. The ring of an address is the set of all addresses, itself
 * included, on cycles of at most `payments` payments through it, if they are `fewestAddresses` or more. A payer of the address is
 * found when it is in the ring, and both receive from the ring nearly as much as they pay into it. The search follows
 * payments hop by hop; a hop that exceeds `sums` is left out, with everything behind it. With `got` it goes half of the way from
 * each side, which reads the root of what one way reads: all of the ring, but not all that its addresses paid each other, so
 * that such a search tells no payers.
 *
 * A read returns the sums of addresses; it is called once per address, and returns none of one that is not followed.
 */
export async function findRings(
  addresses: readonly string[],
  { paid, got }: Reads,
  bounds: RingBounds,
): Promise<FoundRings[]> {
  const { payments } = bounds
  const there = addresses.map((address) => new Side(address, 'recipient'))
  const back = addresses.map((address) => new Side(address, 'payer'))
  await followAll(there, paid, got ? Math.ceil(payments / 2) : payments, bounds)
  if (got) await followAll(back, got, Math.floor(payments / 2), bounds)
  return addresses.map((address, n) => {
    const sides = [there[n]!, back[n]!] as const
    return got ? { ...foundOf(address, sides, bounds), payers: [] } : foundOf(address, sides, bounds)
  })
}

/** Follows the sums of each side for so many hops; what several of them meet is read once. */
async function followAll(sides: readonly Side[], read: ReadSums, hops: number, { sums: most }: RingBounds) {
  const known = new Map<string, PayerSum[]>()
  for (let hop = 0; hop < hops; hop += 1) {
    const wanted = new Set(sides.flatMap(({ frontier }) => frontier))
    if (wanted.size === 0) return
    const unknown = [...wanted].filter((address) => !known.has(address))
    for (const address of unknown) known.set(address, [])
    if (unknown.length > 0) for (const sum of await read(unknown)) known.get(sides[0]!.nearEnd(sum))?.push(sum)
    for (const side of sides) side.hop(known, most)
  }
}

/** What a search found on one side of an address: where its payments lead to, or where those to it come from. */
class Side {
  frontier: string[]
  readonly sums: PayerSum[] = []
  /** Addresses whose sums were read. */
  readonly reached: string[] = []
  readonly #seen: Set<string>
  readonly #far: 'payer' | 'recipient'

  constructor(address: string, far: 'payer' | 'recipient') {
    this.frontier = [address]
    this.#seen = new Set([address])
    this.#far = far
  }

  nearEnd(sum: PayerSum): string {
    return this.#far === 'recipient' ? sum.payer : sum.recipient
  }

  /** Follows the payments of the addresses found last. */
  hop(known: ReadonlyMap<string, readonly PayerSum[]>, most: number): void {
    const { frontier } = this
    this.frontier = []
    this.reached.push(...frontier)
    const sums = frontier.flatMap((address) => known.get(address) ?? [])
    if (this.sums.length + sums.length > most) return
    this.sums.push(...sums)
    for (const { [this.#far]: far } of sums) {
      if (this.#seen.has(far)) continue
      this.#seen.add(far)
      this.frontier.push(far)
    }
  }
}

function foundOf(
  address: string,
  [there, back]: readonly [Side, Side],
  { payments, fewestAddresses }: RingBounds,
): FoundRings {
  const sums = [...new Map([...there.sums, ...back.sums].map((sum) => [`${sum.payer} ${sum.recipient}`, sum])).values()]
  const ring = ringOf(address, sums, payments)
  const reached = { reached: there.reached, reachedBack: back.reached }
  if (ring.size < fewestAddresses) return { address, payers: [], ring: [], ...reached }
  const inside = sums.filter(({ payer, recipient }) => ring.has(payer) && ring.has(recipient))
  const got = totals(inside, 'recipient')
  const gave = totals(inside, 'payer')
  const isBalanced = (one: string) => areNearlyEqual(got.get(one) ?? 0n, gave.get(one) ?? 0n)
  const paying = inside.filter(({ recipient }) => recipient === address).map(({ payer }) => payer)
  const payers = isBalanced(address) ? paying.filter(isBalanced) : []
  return { address, payers, ring: [...ring], ...reached }
}

/** Addresses on cycles of at most this many payments through the address. */
function ringOf(address: string, sums: readonly PayerSum[], payments: number): Set<string> {
  const there = distances(address, sums, 'payer', 'recipient')
  const back = distances(address, sums, 'recipient', 'payer')
  const isOnRound = (one: string) => (there.get(one) ?? Infinity) + (back.get(one) ?? Infinity) <= payments
  return new Set([...back.keys()].filter(isOnRound))
}

/** Distance of each address from one, in payments that are followed from `near` to `far`. */
function distances(
  address: string,
  sums: readonly PayerSum[],
  near: 'payer' | 'recipient',
  far: 'payer' | 'recipient',
): Map<string, number> {
  const next = groupsOf(sums, (sum) => sum[near])
  const found = new Map([[address, 0]])
  // Iterating a Map includes entries that are added meanwhile: a breadth-first search.
  for (const [one, distance] of found) {
    for (const { [far]: other } of next.get(one) ?? []) if (!found.has(other)) found.set(other, distance + 1)
  }
  return found
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
