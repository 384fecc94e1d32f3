import type { Mate, Rating } from '../db/queries/feedback/circles.ts'
import type { FoundRings, PayerSum } from '../db/queries/income/rings.ts'
import { groupsOf } from '../ops/groups.ts'

/** Circles, and what is known of those on them. */
interface Circles {
  readonly rings: readonly FoundRings[]
  /** Who of them rated whom. */
  readonly pairs: readonly PayerSum[]
  /** What the addresses rated whose rings these are. */
  readonly rated: readonly Rating[]
  /** Who rated the addresses of these registrations; nobody, of one with too many. */
  readonly raters: readonly Rating[]
  readonly accountOf: (address: string) => string | number
}

type Account = string | number
/** Of two accounts: who rated, and who was rated. */
type Pair = readonly [Account, Account]

/**
 * Registrations that somebody rated on its circle, with how many rated the address of them that depends on the circle least, and
 * how many of these it rates itself from, leads to by who rates whom, or is led to from, without that registration. Whoever rates
 * its critics back lies on all ways from one to another: so who is rated by others than one critic brings none into a circle.
 *
 * An address that is on no circle, such as the holder of a registration with a wallet, counts by who rated that registration.
 */
export function matesOf({ rings, pairs, rated, raters, accountOf }: Circles): Mate[] {
  const ratedOf = groupsOf(rated, ({ client, registration }) => `${client} ${registration}`)
  const registrationsOf = groupsOf(rated, ({ client }) => client)
  const ratersOf = groupsOf(raters, ({ address }) => address)
  const pairsOf = groupsOf(pairs, ({ payer }) => payer)
  return rings.flatMap(({ address: client, ring }) => {
    const isOn = new Set(ring)
    const rates = ring
      .flatMap((one) => pairsOf.get(one) ?? [])
      .filter(({ recipient }) => isOn.has(recipient))
      .map(({ payer, recipient }): Pair => [accountOf(payer), accountOf(recipient)])
    const registrations = new Set(registrationsOf.get(client)?.map(({ registration }) => registration))
    return [...registrations].flatMap((registration) => {
      const named = (ratedOf.get(`${client} ${registration}`) ?? []).map(({ address }) => address)
      const its = new Set(named.filter((one) => isOn.has(one)).map(accountOf))
      if (its.size === 0) return []
      const others = around(
        accountOf(client),
        rates.filter((pair) => !pair.some((one) => its.has(one))),
      )
      const counted = named.map((address) => {
        const all = (ratersOf.get(address) ?? []).filter(
          (one) => isOn.has(address) || one.registration === registration,
        )
        const clients = [...new Set(all.map((one) => one.client))]
        const inside = clients.filter((one) => isOn.has(one) && others.has(accountOf(one))).length
        // Of one that is on the circle with too many raters to be told, none is inside.
        return { raters: clients.length || Number(isOn.has(address)), inside }
      })
      const told = counted.filter(({ raters }) => raters > 0)
      const [least] = told.sort((one, other) => one.inside * other.raters - other.inside * one.raters)
      return least ? [{ client, registration, ...least }] : []
    })
  })
}

/** Whom one leads to by some pairs, and who leads to it; itself included. */
function around(from: Account, pairs: readonly Pair[]): ReadonlySet<Account> {
  const back = pairs.map(([one, other]): Pair => [other, one])
  return new Set([pairs, back].flatMap((one) => [...reached(from, one)]))
}

function reached(from: Account, pairs: readonly Pair[]): ReadonlySet<Account> {
  const next = groupsOf(pairs, ([one]) => one)
  const found = new Set([from])
  // Iterating a Set includes entries that are added meanwhile: a breadth-first search.
  for (const one of found) for (const [, other] of next.get(one) ?? []) found.add(other)
  return found
}
