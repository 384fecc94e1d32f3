import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentControlAnswer } from '../../../api/schemas/agents/control.ts'
import { readingLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../../db/pool.ts'
import { agentControl } from '../../../db/queries/agents/control.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { chainRows } from '../../support/chain/rows.ts'
import { testDatabase } from '../../support/database.ts'
import { blocksRead, planned } from '../../support/recording.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { addressOf, insert, seedAgent, seedChainState, seedHolding, seedVerification } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const database = testDatabase()
let api: TestApi
let write: ReturnType<typeof chainRows>
const start = Date.UTC(2026, 2, 1)
const lastDay = 40
const time = (n: number) => new Date(start + n * 86_400_000)
const chain = 'base' as const
const bytes = (address: string | null) => address && Buffer.from(address.slice(2), 'hex')

beforeAll(async () => {
  api = await startApi(database)
  await seedChainState(database.pool, { chain, indexed: 9_000_000, finalized: 9_000_000, at: time(lastDay) })
  write = chainRows(database.pool)
  await write.transfer({ chain, id: 999_999 }, null, addressOf('first'), time(-1))
})
afterAll(() => api.stop())

const controlOf = async (fid: number, query = '') => {
  const response = await api.get(`/api/agent/${fid}/control${query}`)
  expect(response.status).toBe(200)
  return agentControlAnswer.parse(await response.json())
}

/** Row of an event that is neither a Transfer nor of feedback, in a block behind all that were written before. */
async function event(table: string, day: number, row: Record<string, unknown>) {
  const block = await write.transfer({ chain, id: 999_999 }, addressOf('first'), addressOf('first'), time(day))
  await insert(database.pool, table, {
    id: `${chain}-${block}-5`,
    chain,
    block_number: block,
    log_index: 5,
    block_timestamp: time(day),
    tx_hash: Buffer.alloc(32, block % 256),
    ...row,
  })
}

const who = fc.nat(3)
const act = fc.record({
  day: fc.nat(lastDay),
  act: fc.oneof(
    fc.record({ kind: fc.constant('move' as const), to: who }),
    fc.record({ kind: fc.constant('approve' as const), to: fc.option(who) }),
    fc.record({ kind: fc.constant('wallet' as const), to: fc.option(who) }),
    fc.record({ kind: fc.constant('operator' as const), owner: who, to: who, approved: fc.boolean() }),
  ),
})
let run = 0

test('who could change a registration is what the rules of the registry say of its events, at any time', async () => {
  const history = fc.array(act, { minLength: 1, maxLength: 14 })
  await fc.assert(
    fc.asyncProperty(history, fc.option(fc.nat(lastDay)), async (acts, at) => {
      const fid = 10 + ++run
      const id = 1_000 + run
      const people = [0, 1, 2, 3].map((n) => addressOf(`run ${run} ${n}`))
      const addressAt = (n: number) => people[n] as string
      // Two of four are the agent's own.
      await seedAgent(database.pool, { fid, addresses: people.slice(0, 2) })
      for (const address of people.slice(0, 2)) {
        await database.pool.query('delete from verified_address where fid = $1 and address = $2', [fid, bytes(address)])
        await seedVerification(database.pool, { fid, address, verifiedAt: time(-1) })
      }

      let owner = addressAt(0)
      let approved: string | null = null
      let wallet: string | null = null
      const operators = new Map<string, string[]>()
      await write.transfer({ chain, id }, null, owner, time(0))
      for (const { day, act: one } of [...acts].sort((a, b) => a.day - b.day)) {
        const counts = at === null || day <= at
        const to = one.to === null ? null : addressAt(one.to)
        if (one.kind === 'move') {
          await write.transfer({ chain, id }, owner, to, time(day))
          if (counts) {
            approved = null
            wallet = null
          }
          owner = to as string
          if (!counts) break // the model has what was then
        } else if (one.kind === 'approve') {
          await event('registration_approval', day, { agent_id: id, owner: bytes(owner), approved: bytes(to) })
          if (counts) approved = to
        } else if (one.kind === 'wallet') {
          await event('registration_wallet', day, { agent_id: id, wallet: bytes(to) })
          if (counts) wallet = to
        } else {
          const by = addressAt(one.owner)
          await event('registration_operator', day, {
            owner: bytes(by),
            operator: bytes(to),
            approved: one.approved,
          })
          if (!counts) continue
          const others = (operators.get(by) ?? []).filter((other) => other !== to)
          operators.set(by, one.approved ? [...others, to as string] : others)
        }
      }
      // What came behind the moment does not count: the owner then is who got it last before.
      const { rows } = await database.pool.query(
        `select '0x' || encode("to", 'hex') as owner from registration_transfer
          where agent_id = $1 and block_timestamp <= $2 order by block_number desc limit 1`,
        [id, time(at ?? lastDay)],
      )
      const then = rows[0].owner as string
      const body = await controlOf(fid, at === null ? '' : `?as_of=${time(at).toISOString()}`)
      const found = body.chains.find((one) => one.chain === chain)?.registrations ?? []
      const isOurs = people.slice(0, 2).includes(then)
      expect(body.registrations_total).toBe(isOurs ? 1 : 0)
      expect(
        found.map(({ erc8004_id, controllers, agent_wallet }) => ({
          erc8004_id,
          controllers: controllers.map(({ by, address }) => `${by} ${address}`).sort(),
          wallet: agent_wallet?.address ?? null,
        })),
      ).toEqual(
        isOurs
          ? [
              {
                erc8004_id: id,
                controllers: [
                  `owner ${then}`,
                  ...(approved === null ? [] : [`approved ${approved}`]),
                  ...(operators.get(then) ?? []).map((one) => `operator ${one}`),
                ].sort(),
                wallet,
              },
            ]
          : [],
      )
    }),
    { numRuns: 40 },
  )
})

test('each controller comes with its rights, its event, and the agent that verified it', async () => {
  const owner = addressOf('an owner')
  const operator = addressOf('an operator')
  const approved = addressOf('who is approved')
  await seedAgent(database.pool, { fid: 901, addresses: [owner] })
  await seedAgent(database.pool, { fid: 902, addresses: [operator] })
  await write.transfer({ chain, id: 901 }, null, owner, time(1))
  await event('registration_approval', 2, { agent_id: 901, owner: bytes(owner), approved: bytes(approved) })
  await event('registration_operator', 3, { owner: bytes(owner), operator: bytes(operator), approved: true })
  await event('registration_metadata', 4, { agent_id: 901, key: 'agent-binding', value: bytes(approved) })
  const body = await controlOf(901)
  const [registration] = body.chains.find((one) => one.chain === chain)?.registrations ?? []
  const every = ['uri', 'metadata', 'wallet', 'transfer', 'approve']
  const tx = expect.stringMatching(/^0x[0-9a-f]{64}$/)
  expect(registration).toEqual({
    erc8004_id: 901,
    held_by: owner,
    controllers: [
      { address: owner, by: 'owner', may: every, fid: 901, since: time(1).toISOString(), tx_hash: tx, account: null },
      {
        address: approved,
        by: 'approved',
        may: every.slice(0, 4),
        fid: null,
        since: time(2).toISOString(),
        tx_hash: tx,
        account: null,
      },
      {
        address: operator,
        by: 'operator',
        may: every,
        fid: 902,
        since: time(3).toISOString(),
        tx_hash: tx,
        account: null,
      },
    ],
    operators_truncated: false,
    agent_wallet: null,
    binding: { contract: approved, holds_token: false, since: time(4).toISOString(), tx_hash: tx, bound_to: null },
    binding_known: true,
    names: [],
  })
  // Before the key was set the last time its value is not known; nothing else of then is another.
  const then = await controlOf(901, `?as_of=${time(3).toISOString()}`)
  const [before] = then.chains.find((one) => one.chain === chain)?.registrations ?? []
  expect(before).toEqual({ ...registration, binding: null, binding_known: false, names: null })
  expect((await api.get('/api/agent/999999/control')).status).toBe(404)
})

/** Approvals of so many operators, whose first event has this number. */
const nameOperators = (owner: string, count: number, block: number) =>
  database.pool.query(
    `insert into registration_operator (id, chain, owner, operator, approved, block_number, log_index, block_timestamp, tx_hash)
     select 'base-many-' || n, 'base', $1, substr(sha256(int4send(n)), 1, 20), true, n, 0, $2, sha256(int4send(n))
       from generate_series($4::int, $4::int + $3::int - 1) n`,
    [bytes(owner), time(2), count, block],
  )

/** An agent whose owner named so many operators, then so many approvals of another; how many are told. */
async function ofOperators(fid: number, count: number, others = 0) {
  const owner = addressOf(`the owner of ${fid}`)
  await seedAgent(database.pool, { fid, addresses: [owner] })
  await write.transfer({ chain, id: fid }, null, owner, time(1))
  await nameOperators(owner, count, fid * 10_000)
  await nameOperators(owner, others, fid * 10_000 + 5_000)
  await database.pool.query('update registration_operator set operator = $1 where owner = $2 and block_number >= $3', [
    bytes(addressOf('again')),
    bytes(owner),
    fid * 10_000 + 5_000,
  ])
  const [registration] = (await controlOf(fid)).chains.find((one) => one.chain === chain)?.registrations ?? []
  const told = registration?.controllers.filter(({ by }) => by === 'operator')
  return { told: told?.length, truncated: registration?.operators_truncated }
}

test('of very many operators the newest are told, and that there are more', async () => {
  const most = readingLimits.controlOperators
  expect(await ofOperators(903, most)).toEqual({ told: most, truncated: false })
  expect(await ofOperators(904, most + 1)).toEqual({ told: most, truncated: true })
})

test('however often an owner names and takes back an operator, those that it named long before are told', async () => {
  const looked = readingLimits.operatorEvents
  expect(await ofOperators(905, 1, looked - 1)).toEqual({ told: 2, truncated: false })
  expect(await ofOperators(906, 3, looked + 500)).toEqual({ told: 4, truncated: false })
})

test('an owner that named more operators than are examined is marked: there may be more', async () => {
  const looked = readingLimits.operatorsNamed
  await ofOperators(909, looked + 1)
  await database.pool.query(
    'update registration_operator set approved = false where owner = $1 and block_number > $2',
    [bytes(addressOf('the owner of 909')), 9_090_000 + 2],
  )
  const [registration] = (await controlOf(909)).chains.find((one) => one.chain === chain)?.registrations ?? []
  expect(registration?.operators_truncated).toBe(true)
})

test('an owner that named 2,500 operators and took them back, in 10,000 approvals, is looked through once', async () => {
  const { pool } = database
  const owner = addressOf('an owner of many approvals')
  await seedAgent(pool, { fid: 910, addresses: [owner] })
  for (const id of [910_001, 910_002]) await write.transfer({ chain, id }, null, owner, time(1))
  await pool.query('alter table registration_operator disable trigger user')
  await pool.query(
    `insert into registration_operator (id, chain, owner, operator, approved, block_number, log_index, block_timestamp, tx_hash)
     select 'many-' || n, $2, case when n < 10000 then $1 else sha256(int4send(n)) end, substr(sha256(int4send(n % 2500)), 1, 20),
            n / 2500 % 2 = 0, 9500000 + n, 0, $3, '\\x01'
       from generate_series(0, 59999) n`,
    [bytes(owner), chain, time(2)],
  )
  await pool.query('alter table registration_operator enable trigger user')
  // A statement of the API at this moment may keep pages from being marked as visible to all.
  await until('all pages are visible', async () => {
    await pool.query('vacuum (analyze) registration_operator')
    const { rows } = await pool.query(
      `select relallvisible >= relpages as all from pg_class where oid = 'registration_operator'::regclass`,
    )
    return rows[0]!.all
  })
  const { answer, plan } = await planned(pool, (db) => agentControl(db, 910, null))
  const walks = plan.filter((line) => line.includes('Recursive Union'))
  expect(walks).toHaveLength(1)
  const [registration] = agentControlAnswer.parse(JSON.parse(answer!)).chains.find((one) => one.chain === chain)!
    .registrations!
  expect([registration!.controllers.map(({ by }) => by), registration!.operators_truncated]).toEqual([['owner'], true])
  const page = (db: Queryable) => agentControl(db, 910, null)
  expect(await rowsRead(pool, page, ['registration_operator'])).toBeLessThan(4 * readingLimits.operatorsNamed)
  expect(await blocksRead(pool, page)).toBeLessThan(13_000)
})

test('registrations that strangers sent push out none of an agent’s own', async () => {
  const owner = addressOf('an owner that is sent registrations')
  const most = readingLimits.controlRegistrations
  await seedAgent(database.pool, { fid: 907, addresses: [owner] })
  for (let id = 1; id <= most; id++) {
    await write.transfer({ chain, id: 907_000 + id }, addressOf('a stranger'), owner, time(1))
    await seedHolding(database.pool, { fid: 907, chain, id: 907_000 + id, by: owner, unsolicited: true })
  }
  await write.transfer({ chain, id: 909_000 }, null, owner, time(1))
  await seedHolding(database.pool, { fid: 907, chain, id: 909_000, by: owner })
  const body = await controlOf(907)
  const ids = body.chains.find((one) => one.chain === chain)?.registrations?.map(({ erc8004_id }) => erc8004_id)
  expect(ids).toHaveLength(most)
  expect(ids).toContain(909_000)
  expect(body.truncated).toBe(true)
})

/** Registrations that a contract holds for whoever has the token of `holder`; a stranger gave each of them to it. */
const bindTo = (holder: string, from: number, to: number) =>
  database.pool.query(
    `with contract as (select sha256('binder')::bytea as hash), one as (
       select n, substr(hash, 1, 20) as binder from contract, generate_series($2::int, $3::int) n
     ), held as (
       insert into registration (id, chain, agent_id, owner, burned, registered_block, registered_at, registered_tx, acquired_block,
                                 acquired_at, updated_block, updated_at)
       select 'base-' || n, 'base', n, binder, false, n, $4, '', n, $4, n, $4 from one
     ), given as (
       insert into registration_transfer (id, chain, agent_id, "from", "to", block_number, log_index, block_timestamp, tx_hash)
       select 'base-' || n || '-bound', 'base', n, '\\x01', binder, n, 0, $4, '' from one
     )
     insert into control_reading (chain, agent_id, input, read_at, accounts, names, binding, binding_status, binding_standard,
                                  token_contract, token_id, master, binding_block, binding_block_at)
     select 'base', n, gen_random_uuid(), $4, '[]', '[]', binder, 'verified', 'erc721', binder, n, $1, n, $4 from one`,
    [bytes(holder), from, to, time(1)],
  )

test('what strangers bind to an account’s token is not read through for those that it bound itself', async () => {
  const { pool } = database
  const holder = addressOf('the holder of a token')
  const strangers = 10_000
  const first = 2_000_000
  const given = first + strangers
  const signed = given + 1
  await seedAgent(pool, { fid: 908, addresses: [holder] })
  for (const table of ['registration', 'registration_transfer', 'control_reading'])
    await pool.query(`alter table ${table} disable trigger user`)
  await bindTo(holder, first, signed)
  await pool.query('update registration_transfer set "from" = $1 where agent_id = $2', [bytes(holder), given])
  await pool.query('update registration set agent_wallet = $1 where agent_id = $2', [bytes(holder), signed])
  for (const table of ['registration', 'registration_transfer', 'control_reading'])
    await pool.query(`alter table ${table} enable trigger user`)
  await pool.query('vacuum (analyze) registration, registration_transfer, control_reading')
  let body: ReturnType<typeof agentControlAnswer.parse> | undefined
  const read = await rowsRead(
    pool,
    async (db) => {
      body = agentControlAnswer.parse(JSON.parse((await agentControl(db, 908, null)) ?? ''))
    },
    ['registration%', 'control_reading'],
  )
  const ids = body?.bound?.map(({ erc8004_id }) => Number(erc8004_id))
  expect(ids).toHaveLength(readingLimits.controlRegistrations)
  expect(ids?.slice(0, 3)).toEqual([given, signed, first])
  expect(body?.truncated).toBe(true)
  expect(read).toBeLessThanOrEqual(10 * readingLimits.controlRegistrations)
})
