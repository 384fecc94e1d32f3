import type pg from 'pg'
import {
  accountsOf,
  type Rating,
  ratedBy,
  ratedRaters,
  ratersOf,
  ratingsOf,
  ratingsWith,
  storeCircles,
} from '../db/queries/feedback/circles.ts'
import { deriveGroupsOf } from '../db/queries/feedback/rater-groups.ts'
import { deriveRatersOf } from '../db/queries/feedback/raters.ts'
import type { FoundRings } from '../db/queries/income/rings.ts'
import { holdRollup } from '../db/queries/rollup/cursor.ts'
import { allowLargeSums } from '../db/queries/server/transaction-settings.ts'
import { matesOf } from './circle-mates.ts'
import { findRings, type RingBounds } from './rings.ts'

/** Bounds of the search for circles: of addresses that rate each other two are enough. */
const circleBounds: RingBounds = { payments: 6, sums: 2_000, fewestAddresses: 2 }
/** Where more are on circles together, honest agents that use each other would be too: a circle of six, and two who touch it. */
const mostAccounts = 8
/** Of as many accounts, and 50 of each. */
const mostAddresses = 50 * mostAccounts

/** Derives what is known of clients who gave feedback, lowercase hex. The roll-up waits meanwhile. */
export async function deriveRaters(db: pg.PoolClient, clients: readonly string[]): Promise<undefined> {
  await holdRollup(db)
  await deriveRatersOf(db, clients)
}

/** Of what addresses rated, the registrations with an address on the rater's ring: others bring nobody into a circle. */
function onTheirRings(rings: readonly FoundRings[], rated: readonly Rating[]): Rating[] {
  const ringOf = new Map(rings.map(({ address, ring }) => [address, new Set(ring)]))
  const keyOf = ({ client, registration }: Rating) => `${client} ${registration}`
  const inside = new Set(rated.filter((one) => ringOf.get(one.client)?.has(one.address)).map(keyOf))
  return rated.filter((one) => inside.has(keyOf(one)))
}

/** What those who may be on one's circle rate, and which accounts they are of, tells of it as what one reached. */
function withRing(found: FoundRings): FoundRings {
  const { reached, ring } = found
  return ring.length > mostAddresses ? found : { ...found, reached: [...new Set([...reached, ...ring])] }
}

/** Searches the circles of addresses, lowercase hex. Nothing else derives clients meanwhile, as that holds the roll-up too. */
export async function deriveCircles(db: pg.PoolClient, addresses: readonly string[]): Promise<undefined> {
  await holdRollup(db)
  const both = await ratedRaters(db, addresses)
  const reads = {
    paid: (clients: readonly string[]) => ratedBy(db, clients),
    got: (rated: readonly string[]) => ratersOf(db, rated),
  }
  const found = (await findRings([...both], reads, circleBounds)).map(withRing)
  const few = found.filter(({ ring }) => ring.length <= mostAddresses)
  const accounts = await accountsOf(db, [...new Set(few.flatMap(({ ring }) => ring))])
  const accountOf = (address: string) => accounts.get(address) ?? address
  const isCircle = ({ ring }: FoundRings) =>
    ring.length <= mostAddresses && new Set(ring.map(accountOf)).size <= mostAccounts
  const circles = found.map((one) => (isCircle(one) ? one : { ...one, ring: [] }))
  const rings = circles.filter(({ ring }) => ring.length > 0)
  const rated = onTheirRings(
    rings,
    await ratingsOf(
      db,
      rings.map(({ address }) => address),
    ),
  )
  const pairs = await ratedBy(db, [...new Set(rings.flatMap(({ ring }) => ring))])
  const raters = await ratingsWith(db, [...new Set(rated.map(({ address }) => address))])
  const others = addresses.filter((address) => !both.has(address))
  await storeCircles(
    db,
    [...circles, ...others.map((address) => ({ address, payers: [], ring: [], reached: [], reachedBack: [] }))],
    matesOf({ rings, pairs, rated, raters, accountOf }),
  )
}

/** Counts groups of clients that may act as one. */
export async function deriveRaterGroups(db: pg.PoolClient, keys: readonly string[]): Promise<undefined> {
  await allowLargeSums(db)
  await deriveGroupsOf(db, keys)
}
