import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inTransaction } from '../../../../db/pool.ts'
import { recordArchive, storeArchiveSums } from '../../../../db/queries/chain/archive.ts'
import { agentIncome } from '../../../../db/queries/income/agent-income.ts'
import { markLaterDemand } from '../../../../db/queries/income/demand.ts'
import { deriveAgain } from '../../../../derive/again.ts'
import { derivations } from '../../../../derive/derivations.ts'
import { deriveArchivedOwners } from '../../../../derive/income.ts'
import { settle } from '../../../../derive/pass.ts'
import { runIncome } from '../../../derive/passes.ts'
import { testDatabase } from '../../../support/database.ts'
import { rounds } from '../../../support/rounds.ts'
import { rowsFetched, rowsRead } from '../../../support/rows-read.ts'
import { empty, fids, timeOf } from '../income-rows.ts'
import { first, step } from '../income-steps.ts'
import { World } from '../income-world.ts'

const database = testDatabase()
const kinds = derivations.filter(({ kind }) => kind === 'archived owners' || kind === 'demand')
const counts = ['payers', 'repeat_last_7d', 'repeat_last_30d', 'repeat_ever', 'new_last_30d', 'returned', 'median_gap']
const columns = [...counts.map((name) => `${name}::int`), 'amount::text', 'largest_amount::text'].join(', ')

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Who pays an agent dollars and comes back, by the rule: counted from all payments to it, one by one. */
function demandOf(world: World, fid: number, now: Date) {
  const since = (days: number) => Math.floor((+now - days * dayMs) / hourMs) * hourMs
  const counted = world
    .received(fid)
    .filter(({ isRing, isOwn }) => !isRing && !isOwn)
    .map(({ payer, recipient, kind, block, isDollar, amount }) => ({
      payer,
      // Settlements are known by their sums, so one of nothing next to others counts; every other payment is known by itself.
      sum: /^eip3009/.test(kind) ? `${payer} ${recipient} ${kind}` : undefined,
      at: +timeOf(block),
      amount: isDollar ? BigInt(amount) : 0n,
    }))
    .filter(
      ({ amount, sum }, _, all) => amount !== 0n || (sum && all.some((one) => one.sum === sum && one.amount > 0n)),
    )
  const got = (by: number) => counted.reduce((sum, { payer, amount }) => sum + (payer === by ? amount : 0n), 0n)
  const payers = [...new Set(counted.map(({ payer }) => payer))]
    .filter((payer) => got(payer) > 0n) // whoever got all of it back does not count
    .map((payer) => counted.filter((one) => one.payer === payer).sort((a, b) => a.at - b.at))
    .map((moved) => ({ moved, paid: moved.filter(({ amount }) => amount >= 0n) })) // what goes back is no payment
    .map(({ moved, paid }) => ({
      n: paid.length,
      first: paid[0]?.at as number,
      last: paid.at(-1)?.at as number,
      amount: moved.reduce((sum, { amount }) => sum + amount, 0n),
    }))
  if (payers.length === 0) return undefined
  const again = payers.filter(({ n }) => n > 1)
  const gaps = again.map(({ n, first, last }) => (last - first) / 1_000 / (n - 1)).sort((a, b) => a - b)
  const middle = [gaps[Math.floor((gaps.length - 1) / 2)], gaps[Math.ceil((gaps.length - 1) / 2)]] as number[]
  const amounts = payers.map(({ amount }) => amount)
  return {
    payers: payers.length,
    repeat_last_7d: again.filter(({ last }) => last >= since(7)).length,
    repeat_last_30d: again.filter(({ last }) => last >= since(30)).length,
    repeat_ever: again.length,
    new_last_30d: payers.filter(({ first }) => first >= since(30)).length,
    returned: payers.filter(({ first, last }) => last - first >= dayMs).length,
    median_gap: gaps.length === 0 ? null : ((middle[0] as number) + (middle[1] as number)) / 2,
    amount: String(amounts.reduce((sum, amount) => sum + amount, 0n)),
    largest_amount: String(amounts.reduce((most, amount) => (amount > most ? amount : most), 0n)),
  }
}

/** Asserts that what is stored of each agent, on its one chain and on all, was counted from the payments one by one. */
async function expectDemand(world: World, now: Date): Promise<void> {
  for (const fid of fids) {
    const { rows } = await database.pool.query(`select ${columns} from agent_demand where fid = $1 order by chain`, [
      fid,
    ])
    const wanted = demandOf(world, fid, now)
    if (!wanted) {
      expect(rows).toEqual([])
      continue
    }
    const { median_gap, ...exact } = wanted
    for (const row of rows) expect(row).toMatchObject(exact)
    expect(rows).toHaveLength(2)
    if (median_gap === null) expect(rows[0].median_gap).toBeNull()
    else expect(Math.abs(rows[0].median_gap - median_gap)).toBeLessThanOrEqual(0.5)
  }
}

test('payers who come back are counted from the payments one by one, whatever moves them, the addresses or the time', {
  tags: ['rounds'],
}, async () => {
  const hours = fc.array(fc.constantFrom(0, 1, 24, 200), { minLength: 20, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(first, fc.array(step, { minLength: 4, maxLength: 20 }), hours, async (begin, steps, waits) => {
      await empty(database.pool)
      const world = new World(database.pool)
      let now = timeOf(0)
      const context = { pool: database.pool, now: () => now, settlementOverloads: 'spec' } as const
      const derive = async () => {
        while ((await runIncome({ pool: database.pool })) > 0);
        await settle(kinds, context)
        await expectDemand(world, now)
      }
      for (const one of begin) await world.take(one)
      for (const [place, one] of steps.entries()) {
        await world.take(one)
        now = new Date(Math.max(+now, +timeOf(Math.max(world.final, 0))) + (waits[place] ?? 0) * 3_600_000)
        if (one.kind === 'sum') await derive()
      }
      await world.take({ kind: 'roll up', blocks: 40 })
      await derive()
      for (const days of [10, 31, -31]) {
        now = new Date(+now + days * dayMs)
        await markLaterDemand(database.pool, now)
        await derive()
      }
      await markLaterDemand(database.pool, now)
      expect((await database.pool.query(`select from due where kind = 'demand' and due_at <= $1`, [now])).rows).toEqual(
        [],
      )
      await database.pool.query('update agent_demand set payers = payers + 1')
      await deriveAgain({ kinds, context, tell: () => {} })
      await expectDemand(world, now)
    }),
    { numRuns: rounds(8, 40), endOnFailure: true },
  )
})

test('archived settlements of who became the agent itself are told by the first in each archive', async () => {
  const { pool } = database
  await empty(pool)
  const world = new World(pool)
  const context = { pool, now: () => timeOf(40), settlementOverloads: 'spec' } as const
  const told = async () => {
    while ((await runIncome({ pool })) > 0);
    await settle(kinds, context)
    const { rows } = await pool.query(
      `select amount::int, repeat_ever::int from agent_demand where fid = 1 and chain = ''`,
    )
    const { members } = await agentIncome(pool, 1)
    return { ...rows[0], ...JSON.parse(members.payers ?? '') }
  }
  await world.take({ kind: 'verify', fid: 1, now: [0] })
  const row = { logIndex: 0, payer: 6, recipient: 0, sender: 0, selector: 0 }
  const amounts = [1, 20, 300, 4_000, 50_000]
  await world.take({ kind: 'pay', rows: amounts.map((amount, at) => ({ ...row, block: 4 * at, amount })) })
  await world.take({ kind: 'roll up', blocks: 30 })
  expect(await told()).toEqual({ amount: 54_321, repeat_ever: 1, raw: 1, filtered: 1 })
  await world.take({ kind: 'operate', fid: 1, who: 6, block: 2, approved: true })
  await world.take({ kind: 'operate', fid: 1, who: 6, block: 14, approved: false })
  expect(await told()).toEqual({ amount: 50_001, repeat_ever: 1, raw: 1, filtered: 1 })
  const archive = async (fromBlock: number, toBlock: number) => {
    await storeArchiveSums(pool, 'base', { fromBlock, toBlock })
    await recordArchive(pool, 'base', { name: 'archived', fromBlock, toBlock }, toBlock, [])
  }
  await archive(0, 3)
  // Rows stay for a while when they are archived, and are not counted twice.
  expect(await told()).toEqual({ amount: 50_001, repeat_ever: 1, raw: 1, filtered: 1 })
  await archive(4, 20)
  await pool.query('delete from settlement')
  expect(await told()).toEqual({ amount: 1, repeat_ever: 0, raw: 1, filtered: 1 })
  await pool.query('delete from settlement_archive')
})

test('an archive reads no agent’s addresses, and what it makes due is found in slices', async () => {
  const { pool } = database
  const agents = 1_000
  const slice = 100
  await pool.query('delete from due')
  const behind = 1_000_000
  const of = (column: string) => `sha256(int4send(n + ${column === 'payer' ? agents : 0}))`
  await inTransaction(pool, async (db) => {
    await db.query('set local session_replication_role = replica')
    await db.query(
      `insert into income_owner (fid, address, because, from_at)
       select ${behind} + n, ${of('payer')}, 'wallet', now() from generate_series(1, ${agents}) n`,
    )
    await db.query(
      `insert into income_address (fid, address, chain, from_at, to_at)
       select ${behind} + n, ${of('payee')}, '', '-infinity', 'infinity' from generate_series(1, ${agents}) n`,
    )
    await db.query(
      `insert into settlement_payer (recipient, payer, chain, overload, last_at, n, amount, first_at)
       select ${of('payee')}, ${of('payer')}, 'base', false, now(), 1, 1, now() from generate_series(1, ${agents} / 2) n`,
    )
  })
  const asked = ['income_owner', 'income_address', 'settlement_payer']
  const counted = await rowsRead(pool, async (db) => {
    const soFar = await rowsFetched(db, asked) // by this connection, as far as it has not told the server yet
    await db.query(
      `insert into settlement_archive (chain, from_block, to_block, sealed_to, partition) values ('base', 0, 1, 1, 'one')`,
    )
    const { rows } = await db.query(`select kind, key from due`)
    expect(rows).toEqual([{ kind: 'archived owners', key: 'base:0' }])
    expect(await rowsFetched(db, asked)).toBe(soFar)
    let keys: string[] = [`base:${behind}`]
    for (let before = soFar; keys.length > 0; ) {
      keys = (await deriveArchivedOwners(db, keys, { now: () => new Date() }, slice)).map(({ key }) => String(key))
      const read = await rowsFetched(db, asked)
      expect(read - before).toBeLessThan(5 * slice)
      before = read
    }
    const marked = await db.query(`select distinct key from due where kind = 'demand'`)
    expect(marked.rows).toHaveLength(agents / 2)
  })
  expect(counted).toBeGreaterThan(0)
})
