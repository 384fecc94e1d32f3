import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inTransaction, type Queryable } from '../../../db/pool.ts'
import { markDue } from '../../../db/queries/due/queue.ts'
import { spreadEdges } from '../../../db/queries/edges/edge-neighbours.ts'
import { deriveEdgesOf, lockEdges } from '../../../db/queries/edges/edges.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, birth, seedAgent, seedHolding, seedRegistration } from '../../support/seed.ts'
import { settleEdges } from '../passes.ts'

const database = testDatabase()
const bytes = (address: string) => Buffer.from(address.slice(2), 'hex')
const hour = 3_600_000

interface Held {
  readonly holders: readonly number[]
  readonly wallet: string
  /** When it last changed, in hours. */
  readonly at: number
}

async function storedEdges() {
  const { rows } = await database.pool.query(
    `select fid::int, peer::int, weight::int, first_seen_at, last_seen_at from agent_edge
      where kind = 'shared_wallet' order by fid, peer`,
  )
  return rows.map(({ first_seen_at, last_seen_at, ...edge }) => ({
    ...edge,
    first: (first_seen_at - birth.getTime()) / hour,
    last: (last_seen_at - birth.getTime()) / hour,
  }))
}

/** Edges of all pairs of different registrations on one wallet, compared one by one. */
function edgesOfPairs(held: readonly Held[], fids: readonly number[]) {
  return fids.flatMap((fid) =>
    fids.flatMap((peer) => {
      const pairs = held.flatMap((mine) =>
        held
          .filter((other) => other !== mine && other.wallet === mine.wallet && other.holders.includes(peer))
          .filter(() => peer > fid && mine.holders.includes(fid))
          .map((other) => ({ wallet: mine.wallet, at: Math.max(mine.at, other.at) })),
      )
      const times = pairs.map(({ at }) => at)
      const weight = new Set(pairs.map(({ wallet }) => wallet)).size
      return weight === 0 ? [] : { fid, peer, weight, first: Math.min(...times), last: Math.max(...times) }
    }),
  )
}

interface Step {
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly Plans?: readonly Step[]
}

/** Rows that a step of a plan and those below it hand on or leave out: pairs of rows in a join are such rows too. */
function rowsOf(step: Step): number {
  const left = (step['Rows Removed by Filter'] ?? 0) + (step['Rows Removed by Join Filter'] ?? 0)
  const below = (step.Plans ?? []).reduce((sum, one) => sum + rowsOf(one), 0)
  return (step['Actual Rows'] + left) * step['Actual Loops'] + below
}

/** The same for the statements of a work, which runs as in a pass over edges and is rolled back. */
async function rowsHandled(work: (db: Queryable) => Promise<unknown>): Promise<number> {
  const client = await database.pool.connect()
  let handled = 0
  const explained = async ({ text, values }: { text: string; values: unknown[] }) => {
    const { rows } = await client.query(`explain (analyze, timing off, format json) ${text}`, values)
    handled += rowsOf(rows[0]['QUERY PLAN'][0].Plan)
    return { rows: [] }
  }
  try {
    await client.query('begin')
    await lockEdges(client)
    await work({ query: explained } as unknown as Queryable)
    return handled
  } finally {
    await client.query('rollback')
    client.release()
  }
}

test('two agents are linked by every wallet on which they hold different registrations, since there were two', async () => {
  const { pool } = database
  const fids = [11, 12, 13]
  for (const fid of fids) await seedAgent(pool, { fid })
  const one = fc.record({
    holders: fc.subarray(fids, { minLength: 1 }), // several: they verify one address
    wallet: fc.constantFrom('purse', 'till'),
    at: fc.nat(3),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 7 }), async (held) => {
      await pool.query('truncate registration, agent_holding, agent_edge')
      for (const [id, { holders, wallet, at }] of held.entries()) {
        const owner = addressOf(`owner of ${id}`)
        const changed = new Date(birth.getTime() + at * hour)
        await seedRegistration(pool, { chain: 'base', id, owner, wallet: addressOf(wallet), at: changed })
        for (const fid of holders) await seedHolding(pool, { fid, chain: 'base', id, by: owner })
      }
      await inTransaction(pool, async (db) => {
        await lockEdges(db)
        await deriveEdgesOf(db, { fids, settlementOverloads: 'spec', mostOfSite: 50 })
      })
      expect(await storedEdges()).toEqual(edgesOfPairs(held, fids))
    }),
    { numRuns: 60 },
  )
})

test('what one holder minted, all on one wallet, is gone through once for each registration, not for each pair', async () => {
  const { pool } = database
  const many = 1_000
  const minter = 1
  const neighbour = 2
  const others = 1_000 // the first of those with a registration each
  const wallet = addressOf('minter')
  await pool.query('truncate agent, registration, agent_holding, agent_edge')
  await pool.query(
    `insert into agent (fid, chains, verified_addresses, claimed, agent_status, registered_at, listed_at, search, changed_at)
     select fid, '{base}', '{}', false, 'active', $1, $1, '', $1
       from (select unnest($2::int[]) union select n from generate_series($3::int, $3::int + $4::int) n) agents (fid)`,
    [birth, [minter, neighbour], others, many],
  )
  await pool.query(
    `insert into registration (id, chain, agent_id, owner, burned, agent_wallet, registered_block, registered_at,
                               registered_tx, acquired_block, acquired_at, updated_block, updated_at)
     select 'base-' || n, 'base', n, wallet, false, wallet, n, $2, '', n, $2, n, $2::timestamptz + n * interval '1 hour'
       from generate_series(1, $3::int + $4::int) n,
            lateral (select case when n < $3 then $1::bytea else decode(md5(n::text), 'hex') end as wallet) one`,
    [bytes(wallet), birth, others, many],
  )
  await pool.query(
    `insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at, unsolicited)
     select case when agent_id < $1 then $2 else agent_id end, chain, agent_id, owner, acquired_block, 0, acquired_at, false
       from registration`,
    [others, minter],
  )
  const at = new Date(birth.getTime() + 3 * hour)
  await seedRegistration(pool, { chain: 'celo', id: 1, owner: addressOf('neighbour'), wallet, at })
  await seedHolding(pool, { fid: neighbour, chain: 'celo', id: 1, by: addressOf('neighbour') })
  await pool.query('vacuum (analyze) agent, registration, agent_holding')

  const derivation = { fids: [minter], settlementOverloads: 'spec', mostOfSite: 50 } as const
  expect(await rowsHandled((db) => spreadEdges(db, [minter]))).toBeLessThan(100 * many)
  expect(await rowsHandled((db) => deriveEdgesOf(db, derivation))).toBeLessThan(100 * many)

  await markDue(pool, 'neighbours', [minter, neighbour])
  const options = { pool, now: () => birth, settlementOverloads: 'spec' } as const
  await settleEdges(options)
  expect(await storedEdges()).toEqual([{ fid: minter, peer: neighbour, weight: 1, first: 3, last: others - 1 }])
})
