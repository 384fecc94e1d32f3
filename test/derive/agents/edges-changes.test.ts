import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { markDue } from '../../../db/queries/due/queue.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { mintTo } from '../../enrichment/upstreams/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { rounds } from '../../support/rounds.ts'
import { addressOf, birth, hashOf, insert, seedChainState, seedSettlement } from '../../support/seed.ts'
import { runJoin, settleEdges } from '../passes.ts'

const clock = createClock('2026-06-01T00:00:00Z')
const day = 86_400_000
const fids = Array.from({ length: 30 }, (_, index) => index + 1)
const bytes = (name: string) => Buffer.from(addressOf(name).slice(2), 'hex')
const walletOf = (fid: number) => `wallet of ${fid}`

const database = testDatabase()
beforeAll(async () => {
  for (const fid of fids) await mintTo(database.pool, { fid, addresses: [addressOf(walletOf(fid))] })
  await settle()
})

/** Runs the job until no work is left. */
async function settle() {
  const join = { pool: database.pool, now: clock.now, settlementOverloads: 'spec', lookups: false } as const
  while ((await rollUpSettlements(join)) > 0);
  while ((await runJoin(join)) > 0);
  return settleEdges(join)
}

/** Re-derives the edges of every agent; the count of those that were not up to date. */
async function overlooked() {
  clock.pass(1_000)
  await database.pool.query(`delete from agent_input where source = 'edges'`)
  await database.pool.query(`insert into due (kind, key) select 'neighbours', fid from agent`)
  return (await settle()).moved
}

let block = 1_000
const at = () => new Date(birth.getTime() + block * 1_000)
async function transfer(id: number, from: string, to: string) {
  await insert(database.pool, 'registration_transfer', {
    id: `moved-${++block}`,
    chain: 'base',
    agent_id: id,
    from: bytes(from),
    to: bytes(to),
    block_number: block,
    log_index: 0,
    block_timestamp: at(),
    tx_hash: bytes(`tx ${block}`),
  })
}

async function pay(payer: string, recipient: string) {
  const { pool } = database
  await seedSettlement(pool, {
    chain: 'base',
    block: ++block,
    at: at(),
    amount: 5n,
    payer: addressOf(payer),
    recipient: addressOf(recipient),
  })
  await pool.query('delete from chain_state')
  await seedChainState(pool, { chain: 'base', indexed: block, finalized: block })
}

async function judge(client: string, token: number) {
  await insert(database.pool, 'feedback', {
    id: `f-${++block}`,
    chain: 'base',
    agent_id: token,
    client: bytes(client),
    feedback_index: block,
    value: 5,
    value_decimals: 0,
    tag1: '',
    tag2: '',
    endpoint: '',
    feedback_uri: '',
    tx_hash: bytes('tx'),
    feedback_hash: bytes(hashOf('f')),
    block_number: block,
    log_index: 0,
    block_timestamp: at(),
  })
}

const open = (fid: number, address: string) =>
  database.pool.query(
    `insert into verified_address (fid, address, verified_at) select $1, $2, $3
      where not exists (select from verified_address where fid = $1 and address = $2 and ended_at is null)`,
    [fid, bytes(address), new Date(birth.getTime() + ++block * 1_000)],
  )
const close = (fid: number, address: string) =>
  database.pool.query(
    "update verified_address set ended_at = verified_at + $3 * interval '1 s' where fid = $1 and address = $2 and ended_at is null",
    [fid, bytes(address), ++block],
  )
const follow = (fid: number, targets: readonly number[]) =>
  database.pool.query(
    `insert into social_follow values ($1, $2, $3)
         on conflict (fid) do update set targets = excluded.targets, followed_at = excluded.followed_at`,
    [fid, targets, targets.map(() => birth)],
  )
const publish = (fid: number, site: string) =>
  database.pool.query(
    `insert into registration_document (chain, agent_id, uri_status, services, updated_at) values ('base', $1, 'ok', $2, now())
         on conflict (chain, agent_id) do update set services = excluded.services`,
    [fid * 100, JSON.stringify([{ name: 'web', endpoint: `https://${site}` }])],
  )

/** Some are not in the index until they verify an address that has a token. */
const people = [...fids, ...Array.from({ length: 10 }, (_, index) => 101 + index)]
const fid = fc.constantFrom(...people)
const address = fc.constantFrom(...people.map(walletOf), 'shared', 'till')
const change = fc.oneof(
  fc.tuple(fid, address).map((args) => ({ do: () => open(...args), name: `verify ${args}` })),
  fc.tuple(fid, address).map((args) => ({ do: () => close(...args), name: `unverify ${args}` })),
  fc
    .tuple(fid, fc.uniqueArray(fid, { maxLength: 4 }))
    .map((args) => ({ do: () => follow(...args), name: `follow ${args}` })),
  fc.tuple(address, address).map((args) => ({ do: () => pay(...args), name: `pay ${args}` })),
  fc.tuple(address, fid).map(([by, of]) => ({ do: () => judge(by, of * 100), name: `judge ${by} ${of}` })),
  fid.map((one) => ({
    name: `revoke ${one}`,
    do: () => database.pool.query('update feedback set revoked_block = 1 where agent_id = $1', [one * 100]),
  })),
  fid.map((one) => ({
    name: `undo ${one}`,
    do: () => database.pool.query('delete from feedback where agent_id = $1', [one * 100]),
  })),
  fc.tuple(fid, fc.constantFrom('till', 'shared', 'purse')).map(([one, wallet]) => ({
    name: `wallet ${one} ${wallet}`,
    do: () =>
      database.pool.query('update registration set agent_wallet = $1 where agent_id = $2', [bytes(wallet), one * 100]),
  })),
  fc.tuple(fid, address, address).map(([one, from, to]) => ({
    name: `transfer ${one} ${from} ${to}`,
    do: () => transfer(one * 100, from, to),
  })),
  fc
    .tuple(fid, fc.constantFrom('a.team.xyz', 'b.team.xyz', 'shop.xyz', 'inn.xyz', 'mill.xyz'))
    .map((args) => ({ do: () => publish(...args), name: `publish ${args}` })),
)

test('whatever changes, the agents that are looked at are all whose edges change', { tags: ['rounds'] }, async () => {
  const changes = fc.array(change, { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(changes, async (some) => {
      clock.pass(1_000)
      for (const one of some) await one.do()
      await settle()
      const missed = await overlooked()
      expect({ missed, after: some.map(({ name }) => name) }).toEqual({ missed: 0, after: expect.anything() })
    }),
    // One world goes through all of it, so a shorter list of changes would not say more.
    { numRuns: rounds(40, 80), endOnFailure: true },
  )
  const { rows } = await database.pool.query('select distinct kind from agent_edge')
  expect(rows.length).toBeGreaterThan(4)
})

test('where nothing changed nobody is looked at, and after one change those around it alone', async () => {
  const { pool } = database
  const written = async () =>
    (await pool.query(`select xmin::text, * from agent_input where source = 'edges' order by fid`)).rows
  const before = await written()
  clock.pass(1_000)
  expect(await settle()).toEqual({ looked: 0, derived: 0, moved: 0 })
  expect(await written()).toEqual(before)

  await follow(100, []) // not a person of this world
  clock.pass(1_000)
  expect(await settle()).toMatchObject({ derived: 0, moved: 0 })
  const { rows } = await pool.query('select fid from agent order by fid limit 1')
  await follow(rows[0].fid, fids)
  clock.pass(1_000)
  expect(await settle()).toMatchObject({ derived: 1 })

  await open(5_000, 'customer') // who is not in the index
  for (const recipient of fids) await pay('customer', walletOf(recipient))
  clock.pass(1_000)
  expect(await settle()).toMatchObject({ derived: 0 })
})

test('an agent that leaves the index and comes back at once is linked as before', async () => {
  const { pool } = database
  await mintTo(pool, { fid: 3_000, addresses: [addressOf(walletOf(3_000))] })
  await follow(fids[0]!, [3_000])
  await settle()
  const linked = async () => (await pool.query('select fid::int from agent_edge where peer = 3000')).rows
  const before = await linked()
  expect(before).toContainEqual({ fid: fids[0] })
  const { rows } = await pool.query('delete from registration_transfer where agent_id = 300000 returning *')
  const join = { pool, now: clock.now, settlementOverloads: 'spec', lookups: false } as const
  while ((await runJoin(join)) > 0);
  expect(await linked()).toEqual([])
  await insert(pool, 'registration_transfer', rows[0])
  await settle()
  expect(await linked()).toEqual(before)
  expect(await overlooked()).toBe(0)
})

test('an edge derived while its agent left the index is nobody’s, and goes with the next look at that agent', async () => {
  const { pool } = database
  const gone = 4_000
  const { rows } = await pool.query('select fid from agent order by fid limit 1')
  await pool.query(
    `insert into agent_edge (fid, peer, kind, direction, weight)
     values ($1, $2, 'follows', 'out', 1), ($2, $1, 'follows', 'out', 1)`,
    [gone, rows[0].fid],
  )
  const shown = await pool.query('select from directory.edges where $1 in (fid, peer_fid)', [gone])
  expect(shown.rowCount).toBe(0)
  await markDue(pool, 'neighbours', [gone])
  await settle()
  const stored = await pool.query('select from agent_edge where $1 in (fid, peer)', [gone])
  expect(stored.rowCount).toBe(0)
})

test('once a day everybody’s edges are derived, whether there is a reason or not', async () => {
  const { pool } = database
  const { rows } = await pool.query('select count(*)::int as n from agent')
  await pool.query(`delete from agent_edge where kind = 'follows'`) // nobody is told
  clock.pass(day - 3_600_000)
  expect(await settle()).toMatchObject({ derived: 0 })
  clock.pass(2 * 3_600_000)
  const { derived, moved } = await settle()
  expect(derived).toBe(rows[0].n)
  expect(moved).toBeGreaterThan(0)
  expect(await overlooked()).toBe(0)
})

test('a site of more than fifty agents edges nobody; the one that is too many unties all', async () => {
  const { pool } = database
  const crowd = Array.from({ length: 51 }, (_, index) => 2_000 + index)
  const linked = async () => {
    const { rows } = await pool.query(
      `select count(*)::int as n from agent_edge where kind = 'shared_host' and fid >= 2000`,
    )
    return rows[0].n
  }
  for (const one of crowd) await mintTo(pool, { fid: one, addresses: [addressOf(walletOf(one))] })
  for (const one of crowd.slice(1)) await publishAt(one)
  await settle()
  expect(await linked()).toBe((50 * 49) / 2)
  await publishAt(crowd[0]!)
  await settle()
  expect(await linked()).toBe(0)
  await pool.query('update verified_address set ended_at = verified_at where fid = $1', [crowd[7]])
  await settle()
  expect(await linked()).toBe((50 * 49) / 2)
  expect(await overlooked()).toBe(0)
})

const publishAt = (one: number) => publish(one, 'crowd.xyz')
