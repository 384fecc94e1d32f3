import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listedSelectors } from '../../../abi/selectors.ts'
import { inTransaction } from '../../../db/pool.ts'
import { lockRollup, recountRecipientsFrom, rewindRollup } from '../../../db/queries/rollup/hourly.ts'
import { storeSenders } from '../../../db/queries/sources/facilitators.ts'
import { runIncome } from '../../../enrichment/join/income.ts'
import { rollUpSettlements } from '../../../enrichment/join/rollup.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { addressOf, birth, hashOf, insert, seedAgent, seedChainState } from '../../support/seed.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const people = ['one', 'two', 'three', 'four', 'five', 'six'].map(addressOf)
const senders = ['known', 'other', 'unknown'].map((name) => addressOf(`sender ${name}`))
const selectors = [...Object.values(listedSelectors), '0xcf092995']
const fids = [1, 2]
const lastBlock = 600
const timeOf = (block: number) => new Date(birth.getTime() + block * 11 * 60_000)

interface Paid {
  readonly block: number
  readonly logIndex: number
  readonly payer: number
  readonly recipient: number
  readonly sender: number
  readonly selector: number
  readonly amount: number
}

const person = fc.integer({ min: 0, max: people.length - 1 })
const paid = fc.record({
  block: fc.integer({ min: 0, max: lastBlock }),
  logIndex: fc.integer({ min: 0, max: 2 }),
  payer: person,
  recipient: person,
  sender: fc.integer({ min: 0, max: senders.length - 1 }),
  selector: fc.integer({ min: 0, max: selectors.length - 1 }),
  amount: fc.oneof(fc.constantFrom(0, 999, 1_000), fc.integer({ min: 0, max: 2 ** 31 })),
})
/** Everything that can move an agent's income, in any order. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('pay' as const), rows: fc.array(paid, { minLength: 1, maxLength: 12 }) }),
  fc.record({ kind: fc.constant('roll up' as const), blocks: fc.integer({ min: 0, max: 60 }) }),
  fc.record({ kind: fc.constant('sum' as const) }),
  fc.record({
    kind: fc.constant('verify' as const),
    fid: fc.constantFrom(...fids),
    now: fc.uniqueArray(person, { maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant('name' as const), names: fc.uniqueArray(fc.constantFrom(0, 1)) }),
  fc.record({ kind: fc.constant('take back' as const), blocks: fc.integer({ min: 0, max: 30 }) }),
)
/** Both agents verify most of the people, and these pay each other, so that there is income to be moved. */
const most = fc.uniqueArray(person, { minLength: 3, maxLength: 5 })
const first = fc.tuple(
  fc.record({ kind: fc.constant('verify' as const), fid: fc.constant(1), now: most }),
  fc.record({ kind: fc.constant('verify' as const), fid: fc.constant(2), now: most }),
  fc.record({ kind: fc.constant('name' as const), names: fc.constant<(0 | 1)[]>([0]) }),
  fc.record({ kind: fc.constant('pay' as const), rows: fc.array(paid, { minLength: 20, maxLength: 30 }) }),
  fc.record({ kind: fc.constant('roll up' as const), blocks: fc.constant(40) }),
  fc.record({ kind: fc.constant('sum' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** What the tables were told, and what an agent's income is by the rule, from the payments one by one. */
class World {
  readonly payments = new Map<string, Paid>()
  readonly verified = new Map<number, readonly number[]>(fids.map((fid) => [fid, []]))
  readonly ever = new Map<number, Set<number>>(fids.map((fid) => [fid, new Set()]))
  named: readonly number[] = []
  final = -1

  async take(step: Step): Promise<void> {
    const { pool } = database
    switch (step.kind) {
      case 'pay': {
        const above = step.rows.map((row) => ({ ...row, block: this.final + 1 + (row.block % 40) }))
        const rows = above.filter(
          ({ block, logIndex }) => block > this.final && !this.payments.has(`${block} ${logIndex}`),
        )
        const fresh = [...new Map(rows.map((row) => [`${row.block} ${row.logIndex}`, row])).entries()]
        for (const [key, row] of fresh) this.payments.set(key, row)
        await store(fresh.map(([, row]) => row))
        return
      }
      case 'roll up':
        this.final += step.blocks
        await pool.query('update chain_state set finalized_block = $1', [this.final])
        while ((await rollUpSettlements({ pool, stepSettlements: 5 })) > 0);
        return
      case 'sum':
        await runIncome({ pool, steps: { changes: 1, hours: 2, settlements: 3 } })
        return
      case 'verify': {
        this.verified.set(step.fid, step.now)
        for (const one of step.now) this.ever.get(step.fid)?.add(one)
        const addresses = step.now.map((one) => bytes(people[one] as string))
        await pool.query('update agent set verified_addresses = $2 where fid = $1', [step.fid, addresses])
        await pool.query(
          'update verified_address set ended_at = verified_at where fid = $1 and ended_at is null and not address = any ($2)',
          [step.fid, addresses],
        )
        await pool.query(
          `insert into verified_address (fid, address, verified_at)
           select $1, address, clock_timestamp() from unnest($2::bytea[]) address
            where not exists (select from verified_address v where v.fid = $1 and v.address = address.address and v.ended_at is null)`,
          [step.fid, addresses],
        )
        await insert(pool, 'agent_change', { fid: step.fid, kind: 'upsert', changed_at: new Date() })
        return
      }
      case 'name':
        this.named = step.names
        await storeSenders(
          pool,
          'test',
          step.names.map((one) => ({ address: senders[one] as string, name: 'Somebody' })),
        )
        return
      case 'take back': {
        const from = Math.max(0, this.final + 1 - step.blocks)
        for (const [key, { block }] of this.payments) if (block >= from) this.payments.delete(key)
        await inTransaction(pool, async (db) => {
          await lockRollup(db, 'base')
          await rewindRollup(db, 'base', from)
          await recountRecipientsFrom(db, 'base', from)
          await db.query('delete from settlement where block_number >= $1', [from])
        })
        this.final = from - 1
        await pool.query('update chain_state set finalized_block = $1', [this.final])
      }
    }
  }

  income(): string[] {
    const sums = new Map<string, [number, bigint, number, bigint]>()
    for (const payment of this.payments.values()) {
      if (payment.block > this.final) continue
      for (const fid of fids) {
        if (!this.verified.get(fid)?.includes(payment.recipient)) continue
        const isOwn = this.ever.get(fid)?.has(payment.payer) === true
        const flag = payment.payer === payment.recipient ? 'self' : isOwn ? 'same_owner' : 'none'
        const kind = payment.selector < 2 ? 'eip3009_vrs' : 'eip3009_bytes'
        const hour = new Date(Math.floor(timeOf(payment.block).getTime() / 3_600_000) * 3_600_000).toISOString()
        const key = [fid, hour, people[payment.recipient], kind, flag, this.named.includes(payment.sender)].join(' ')
        const sum = sums.get(key) ?? [0, 0n, 0, 0n]
        const amount = BigInt(payment.amount)
        const dust = amount < 1_000n
        sums.set(key, [sum[0] + 1, sum[1] + amount, sum[2] + Number(dust), sum[3] + (dust ? amount : 0n)])
      }
    }
    return [...sums].map(([key, sum]) => `${key}: ${sum.join(' ')}`).sort()
  }
}

async function store(rows: readonly Paid[]): Promise<void> {
  const text = (hex: string | undefined) => `\\x${hex?.slice(2)}`
  const columns = rows.map((row) => ({
    amount: row.amount,
    block_timestamp: timeOf(row.block),
    block_number: row.block,
    log_index: row.logIndex,
    chain: 'base',
    selector_source: 'c',
    selector: text(selectors[row.selector]),
    token: '\\x01',
    payer: text(people[row.payer]),
    recipient: text(people[row.recipient]),
    facilitator: text(senders[row.sender]),
    payment_nonce: text(hashOf(`${row.block} ${row.logIndex}`)),
    tx_hash: text(hashOf(`${row.block}`)),
  }))
  await database.pool.query(
    'insert into settlement select * from json_populate_recordset(null::settlement, $1::json)',
    [JSON.stringify(columns)],
  )
}

async function empty(): Promise<void> {
  const { pool } = database
  await pool.query(`
    truncate settlement, settlement_hourly, settlement_total, settlement_payer, settlement_facilitator, chain_state, agent,
             agent_change, verified_address, income_hour, income_total, income_address, income_owner, income_due cascade;
    select set_config('directory.sums', 'hours, totals, payers, senders', true);
    update settlement_rollup set next_block = 0;
    update income_progress set change = 0`)
  await storeSenders(pool, 'test', [])
  await seedChainState(pool, { chain: 'base', indexed: lastBlock, finalized: -1 })
  for (const fid of fids) await seedAgent(pool, { fid, addresses: [] })
}

const stored = `
select fid || ' ' || to_char(hour at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' 0x' || encode(recipient, 'hex') || ' '
       || kind || ' ' || flag || ' ' || x402::text || ': ' || n || ' ' || amount || ' ' || dust_n || ' ' || dust_amount as line
  from income_hour`
const totals = `
select kind, flag, x402, n::text, amount::text, dust_n::text, dust_amount::text from income_total where n > 0 order by 1, 2, 3`
const summed = `
select kind, flag, x402, sum(n)::text as n, sum(amount)::text as amount, sum(dust_n)::text as dust_n,
       sum(dust_amount)::text as dust_amount
  from income_hour group by 1, 2, 3 order by 1, 2, 3`

test('income is what the payments say one by one, whatever moves them, the addresses or the names of senders', async () => {
  await fc.assert(
    fc.asyncProperty(first, fc.array(step, { minLength: 4, maxLength: 20 }), async (begin, steps) => {
      await empty()
      const world = new World()
      for (const one of begin) await world.take(one)
      for (const one of steps) await world.take(one)
      await world.take({ kind: 'roll up', blocks: 40 })
      while ((await runIncome({ pool: database.pool, steps: { changes: 2, hours: 3, settlements: 5 } })) > 0);
      const { rows } = await database.pool.query<{ line: string }>(stored)
      expect(rows.map(({ line }) => line).sort()).toEqual(world.income())
      expect((await database.pool.query(totals)).rows).toEqual((await database.pool.query(summed)).rows)
    }),
    { numRuns: 8 },
  )
})

test('a pass reads the settlements of the hours that are due, and no others', async () => {
  await empty()
  const { pool } = database
  await pool.query('update agent set verified_addresses = $1 where fid = 1', [[bytes(people[0] as string)]])
  await insert(pool, 'agent_change', { fid: 1, kind: 'upsert', changed_at: new Date() })
  const old = Array.from({ length: 500 }, (_, block) => ({
    block,
    logIndex: 0,
    payer: 1,
    recipient: block % 2 === 0 ? 0 : 2,
    sender: 0,
    selector: 0,
    amount: 5_000,
  }))
  await store(old)
  const world = new World()
  await world.take({ kind: 'roll up', blocks: 500 })
  while ((await runIncome({ pool })) > 0);
  await store([{ block: 550, logIndex: 0, payer: 1, recipient: 0, sender: 0, selector: 0, amount: 5_000 }])
  await world.take({ kind: 'roll up', blocks: 51 })
  const { rows: due } = await pool.query('select hour from income_due')
  expect(due).toHaveLength(1)
  expect(await runIncome({ pool })).toBe(1)
  expect(await runIncome({ pool })).toBe(0)
  const { rows } = await pool.query('select sum(n)::int as n from income_hour')
  expect(rows).toEqual([{ n: 251 }])
})
