import { expectNothingNew } from '../derive/again.ts'
import type { TestDatabase } from '../support/database.ts'
import { trafficAddresses } from './traffic.ts'

/** Agents by who moves in the traffic: each holds identities, one is paid by the others. */
const agents = [
  [0, 3],
  [1, 5],
  [2, 4],
] as const

/**
 * Derives agents, edges, income and all else from the rows of a chain that stands still, then expects that deriving all
 * of it again changes nothing.
 */
export async function expectDerived({ pool }: TestDatabase): Promise<void> {
  const verified = agents.flatMap((places, index) =>
    places.map((place) => [index + 1, trafficAddresses[place]] as const),
  )
  await pool.query(
    `insert into verified_address (fid, address, verified_at)
     select fid, decode(substr(address, 3), 'hex'), now() from unnest($1::bigint[], $2::text[]) as one (fid, address)
         on conflict do nothing`,
    [verified.map(([fid]) => fid), verified.map(([, address]) => address)],
  )
  const at = new Date()
  await expectNothingNew({ pool, now: () => at, settlementOverloads: 'spec' })
}
