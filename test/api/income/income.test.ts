import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentIncome, incomePayments, incomeSeries, incomeStats } from '../../../api/schemas/income/income.ts'
import { incomeLimits } from '../../../config/limits.ts'
import { facilitators } from '../../../db/facilitator-list.ts'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { storeSenders } from '../../../db/queries/sources/facilitators.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { failure, startApi, type TestApi } from '../../support/api/api.ts'
import { textOf } from '../../support/api/markup.ts'
import { testDatabase } from '../../support/database.ts'
import {
  addressOf,
  birth,
  insert,
  seedAgent,
  seedChainState,
  seedCodes,
  seedHolding,
  seedPayment,
  seedRegistration,
  seedSettlement,
  seedVerification,
  seedWallet,
} from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi

const [own, before, wallet, customer, other] = ['own', 'before', 'wallet', 'customer', 'other'].map(addressOf) as [
  string,
  string,
  string,
  string,
  string,
]
const [forwarder, partner, replaced] = ['forwarder', 'partner', 'replaced'].map(addressOf) as [string, string, string]
const sender = facilitators[0]?.senders[0] as string
const quoted = addressOf('sender with a formula for a name')
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const hour = 3_600_000
const at = (hours: number) => new Date(birth.getTime() + hours * hour)

beforeAll(async () => {
  api = await startApi(database, { now: () => at(60).getTime() })
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 900, at: at(50) })
  await seedAgent(pool, { fid: 7, addresses: [own] })
  await seedVerification(pool, { fid: 7, address: before, endedAt: at(1) })
  await seedRegistration(pool, { chain: 'base', id: 1, owner: own, wallet })
  await seedHolding(pool, { fid: 7, chain: 'base', id: 1, by: own })
  await seedWallet(pool, { id: 1, wallet: replaced, block: 260, at: at(26) })
  await seedWallet(pool, { id: 1, wallet, block: 300, at: at(30) })
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
  await seedAgent(pool, { fid: 9, addresses: [partner] })
  await insert(pool, 'agent_change', { fid: 9, kind: 'upsert', changed_at: birth })
  await storeSenders(pool, 'sender.example', [{ address: quoted, name: '=HYPERLINK("x"),y' }])
  let block = 100
  const pay = (paid: Partial<Parameters<typeof seedSettlement>[1]>) =>
    seedSettlement(pool, {
      chain: 'base',
      recipient: own,
      payer: customer,
      amount: 1_000_000n,
      block: block++,
      ...paid,
    })
  await pay({ facilitator: sender, at: at(2) })
  await pay({ amount: 999n, selector: '0xcf092995', at: at(2) })
  await pay({ payer: own, amount: 7_000_000n, at: at(3) })
  await pay({ payer: before, amount: 5_000_000n, at: at(4) })
  await pay({ recipient: replaced, at: at(31), block: 301 }) // after the registration named another wallet
  await pay({ recipient: wallet, at: at(29), block: 299 }) // before the registration named this wallet
  await pay({ recipient: wallet, payer: other, amount: 2_000_000n, facilitator: quoted, at: at(30), block: 300 })
  await pay({ recipient: customer, payer: own, amount: 600_000n, at: at(20) })
  await pay({ amount: 3_000_000n, at: at(49), block: 950 }) // not final
  await seedCodes(pool, { block: 950, facilitator: 'cdp_facil1', services: ['one'] })
  await writeContracts(pool, 'base', [{ address: addressOf('token'), fromBlock: 0 }])
  // A settlement to a forwarder, which passes it on; a Permit2 payment in another token; one that is not final.
  await pay({ recipient: forwarder, payer: other, amount: 90_000_000n, facilitator: sender, at: at(40), block: 400 })
  const passedOn = { kind: 'forwarded' as const, forwarder, originLogIndex: 0, depth: 1, facilitator: sender }
  await seedPayment(pool, {
    ...passedOn,
    payee: own,
    payer: other,
    block: 400,
    logIndex: 1,
    amount: 88_000_000n,
    at: at(40),
  })
  await seedPayment(pool, {
    kind: 'permit2_upto',
    payee: own,
    payer: customer,
    block: 401,
    amount: 10n ** 30n,
    at: at(41),
    token: other,
  })
  await seedPayment(pool, {
    kind: 'permit2_exact',
    payee: own,
    payer: other,
    block: 402,
    amount: 4_000_000n,
    at: at(42),
  })
  await seedPayment(pool, { kind: 'permit2_exact', payee: own, payer: customer, block: 951, amount: 1n, at: at(49) })
  // Agent 7 forwards it to agent 9: both have it as income, and the sum over all agents counts it once.
  await seedPayment(pool, {
    ...passedOn,
    payee: partner,
    forwarder: own,
    payer: other,
    block: 400,
    logIndex: 2,
    depth: 2,
    amount: 50_000_000n,
    at: at(40),
  })
  while ((await rollUpSettlements({ pool })) > 0);
  while ((await runIncome({ pool })) > 0);
  await settle(
    derivations.filter(({ kind }) => kind === 'demand'),
    { pool, now: () => at(50), settlementOverloads: 'spec' },
  )
})
afterAll(() => api.stop())

const get = async (path: string) => (await api.get(`/api/agent/7/${path}`)).json()

test('income stands raw and filtered, by kind, with evidence, flags, payers and whose addresses they are', async () => {
  const body = agentIncome.parse(await get('income'))
  expect(body).toEqual({
    fid: 7,
    currency: 'USD',
    complete_until: body.complete_until,
    raw: { payments: 8, amount_usdc: 107.000999 },
    filtered: { payments: 6, amount_usdc: 95.000999 },
    by_kind: [
      {
        kind: 'eip3009_vrs',
        raw: { payments: 4, amount_usdc: 15 },
        filtered: { payments: 2, amount_usdc: 3 },
      },
      {
        kind: 'eip3009_bytes',
        raw: { payments: 1, amount_usdc: 0.000999 },
        filtered: { payments: 1, amount_usdc: 0.000999 },
      },
      { kind: 'forwarded', raw: { payments: 1, amount_usdc: 88 }, filtered: { payments: 1, amount_usdc: 88 } },
      { kind: 'permit2_exact', raw: { payments: 1, amount_usdc: 4 }, filtered: { payments: 1, amount_usdc: 4 } },
      { kind: 'permit2_upto', raw: { payments: 1, amount_usdc: 0 }, filtered: { payments: 1, amount_usdc: 0 } },
      { kind: 'batch_claim', raw: { payments: 0, amount_usdc: 0 }, filtered: { payments: 0, amount_usdc: 0 } },
      ...['escrow_charge', 'escrow_capture', 'escrow_refund', 'job_release'].map((kind) => ({
        kind,
        raw: { payments: 0, amount_usdc: 0 },
        filtered: { payments: 0, amount_usdc: 0 },
      })),
    ],
    x402: { payments: 5, amount_usdc: 95, share: 0.887842 },
    other_tokens: { payments: 1 },
    payers: { raw: 4, filtered: 2 },
    // The customer paid dollars at hour 2, twice; the other payer at 30, 40 and 42. What is in another token does not count.
    demand: {
      payers: 2,
      new_payers_30d: 2,
      repeat_payers_30d: 2,
      repeat_payers_all: 2,
      payers_returned: 0,
      median_seconds_between_payments: 6 * 1_800,
      largest_payer_share: 0.989463,
    },
    first_paid_at: at(2).toISOString(),
    last_paid_at: at(42).toISOString(),
    pending: ['batch_settlement', 'auth_capture'].map((contract) => ({ contract, amount_usdc: 0 })),
    flags: {
      self: { payments: 1, amount_usdc: 7 },
      same_owner: { payments: 1, amount_usdc: 5 },
      ring: { payments: 0, amount_usdc: 0 },
      dust: { payments: 1, amount_usdc: 0.000999 },
      reciprocal: { payers: 1, payments: 3, amount_usdc: 1.000999 },
      other_chain: { payments: 0, amount_usdc: 0 },
      single_payer: false,
    },
    addresses: [
      { address: own, source: 'verified', chain: null, since: null, until: null },
      ...[
        { address: replaced, source: 'agent_wallet', chain: 'base', since: at(26), until: at(30) },
        { address: wallet, source: 'agent_wallet', chain: 'base', since: at(30), until: null },
      ]
        .sort((a, b) => (a.address < b.address ? -1 : 1))
        .map(({ since, until, ...one }) => ({
          ...one,
          since: since.toISOString(),
          until: until?.toISOString() ?? null,
        })),
    ],
  })
})

test('who paid itself, and since when, is in the list of flagged addresses with what shows it', async () => {
  const { rows } = await database.pool.query(
    'select chain, address, flag, since, evidence::json as evidence from directory.flagged_addresses order by flag',
  )
  const shown = { paid: [own], paid_count: 1, signers: [], fids: [7] }
  const lastAt = (hour: number) => at(hour).toISOString().replace('.000Z', 'Z')
  expect(rows).toEqual([
    { chain: 'base', address: before, flag: 'same_owner', since: at(4), evidence: { ...shown, last_at: lastAt(4) } },
    { chain: 'base', address: own, flag: 'self', since: at(3), evidence: { ...shown, last_at: lastAt(3) } },
  ])
})

test('its series has every bucket, raw and filtered', async () => {
  const path = `income/timeseries?since=${at(0).toISOString()}&until=${at(48).toISOString()}`
  const { points } = incomeSeries.parse(await get(path))
  expect(points).toEqual([
    {
      start: at(0).toISOString(),
      payments: 4,
      amount_usdc: 13.000999,
      filtered_payments: 2,
      filtered_amount_usdc: 1.000999,
    },
    { start: at(24).toISOString(), payments: 4, amount_usdc: 94, filtered_payments: 4, filtered_amount_usdc: 94 },
  ])
})

test('rows come in pages, with what the sums are made of and those that are not final', async () => {
  const pages = []
  let next: string | null = ''
  while (next !== null) {
    const page = incomePayments.parse(await get(`income/payments?limit=2&order=asc&cursor=${next}`))
    pages.push(...page.payments)
    next = page.next_cursor
  }
  expect(pages.map(({ amount_usdc, flag, final }) => [amount_usdc, flag, final])).toEqual([
    [1, 'none', true],
    [0.000999, 'none', true],
    [7, 'self', true],
    [5, 'same_owner', true],
    [2, 'none', true],
    [88, 'none', true],
    [null, 'none', true],
    [4, 'none', true],
    [3, 'none', false],
    [0.000001, 'none', false],
  ])
  expect(pages[0]).toMatchObject({ facilitator_name: facilitators[0]?.name, x402_evidence: 'facilitator' })
  expect(pages[1]).toMatchObject({ kind: 'eip3009_bytes', facilitator_name: null, x402_evidence: 'none' })
  expect(pages[1]?.builder_codes).toBeNull()
  expect(pages[8]).toMatchObject({
    x402_evidence: 'builder_code',
    builder_codes: { facilitator: 'cdp_facil1', app: null, services: ['one'] },
  })
  expect(pages[5]).toMatchObject({ kind: 'forwarded', forwarder_address: forwarder, x402_evidence: 'facilitator' })
  expect(pages[6]).toMatchObject({ kind: 'permit2_upto', amount: `1${'0'.repeat(30)}`, x402_evidence: 'contract' })
})

test('the file for bookkeeping has one payment a line, exact dollars, an explorer link, and no formula', async () => {
  const response = await api.get(`/api/agent/7/income.csv?since=${at(20).toISOString()}&until=${at(40).toISOString()}`)
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const lines = (await response.text()).split('\r\n')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatch(/^block_timestamp,chain,.*,explorer_url$/)
  expect(lines[1]).toContain(`,${other},${wallet},`)
  expect(lines[1]).toContain(',2.000000,eip3009_vrs,none,')
  expect(lines[1]).toContain(`,"'=HYPERLINK(""x""),y",`)
  expect(lines[1]).toMatch(/,https:\/\/basescan\.org\/tx\/0x[0-9a-f]{64}$/)
  expect(lines[2]).toBe('')
})

test('a file that would be too long is refused, and an unreadable filter leaves the line of names', async () => {
  const seller = addressOf('busy seller')
  await seedAgent(database.pool, { fid: 8, addresses: [seller] })
  await insert(database.pool, 'agent_change', { fid: 8, kind: 'upsert', changed_at: birth })
  await seedSettlement(database.pool, { chain: 'base', recipient: seller, block: 960, at: at(50) })
  const copyUpTo = async (last: number) => {
    await database.pool.query(
      `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                               payer, recipient, facilitator, payment_nonce, tx_hash)
       select amount, block_timestamp, block_number, log_index + n, chain, selector_source, selector, token, payer,
              recipient, facilitator, payment_nonce, tx_hash
         from (select * from settlement where recipient = $2 order by log_index desc limit 1) s,
              generate_series(1, $1 - s.log_index) n`,
      [last, bytes(seller)],
    )
    while ((await runIncome({ pool: database.pool })) > 0);
  }
  await copyUpTo(5_500)
  const [, ...long] = (await (await api.get('/api/agent/8/income.csv?chain=base')).text()).trimEnd().split('\r\n')
  expect(long.map((line) => Number(line.split(',')[3]))).toEqual(Array.from({ length: 5_501 }, (_, n) => n))
  await copyUpTo(incomeLimits.csvLines)
  expect(await failure(await api.get('/api/agent/8/income.csv'))).toMatchObject({ status: 400 })
  const none = await (await api.get('/api/agent/8/income.csv?since=yesterday')).text()
  expect(none.split('\r\n')).toHaveLength(2)
})

test('what an agent passed on is income of its partner too, and in the sums over all once', async () => {
  const body = agentIncome.parse(await (await api.get('/api/agent/9/income')).json())
  expect(body.raw).toEqual({ payments: 1, amount_usdc: 50 })
  const { payments } = incomePayments.parse(await (await api.get('/api/agent/9/income/payments')).json())
  expect(payments).toMatchObject([{ kind: 'forwarded', forwarder_address: own, amount_usdc: 50 }])
  const { rows } = await database.pool.query(
    'select fid::int, passed_on, amount_usdc::float8 as dollars from directory.income where kind = $1 order by fid',
    ['forwarded'],
  )
  expect(rows).toEqual([
    { fid: 7, passed_on: false, dollars: 88 },
    { fid: 9, passed_on: true, dollars: 50 },
  ])
})

test('the sums over all agents are those of the agents, and an unknown agent has none', async () => {
  const stats = incomeStats.parse(await (await api.get('/api/income/stats')).json())
  const { raw, filtered, x402, by_kind, other_tokens } = agentIncome.parse(await get('income'))
  expect(stats).toMatchObject({ raw, filtered, x402, by_kind, other_tokens })
  for (const path of ['income', 'income/timeseries', 'income/payments', 'income.csv']) {
    expect((await api.get(`/api/agent/999/${path}`)).status).toBe(404)
  }
})

test('the page of the agent has it by kind and over time, without own payments unless they are asked for', async () => {
  const sums = agentIncome.parse(await (await api.get('/api/agent/7/income')).json())
  expect(sums.raw.payments).toBeGreaterThan(sums.filtered.payments)
  for (const [query, paid, said] of [
    ['', sums.filtered, 'without what it paid itself'],
    ['?self=with', sums.raw, 'with what it paid itself'],
    ['?self=with&range=7d&chain=Base', sums.raw, 'with what it paid itself'],
  ] as const) {
    const page = await (await api.get(`/agent/7${query}`)).text()
    const section = page.slice(page.indexOf('id="money"'), page.indexOf('id="settlements"'))
    expect(textOf(section)).toMatch(
      new RegExp(`payments? of all time, from [0-9]+ payers? ${paid.payments} .*, ${said}\\.`),
    )
    const kinds = sums.by_kind.filter(({ raw }) => raw.payments > 0)
    const [, table = ''] = /aria-label="Income by kind"(.*?)<\/table>/s.exec(section) ?? []
    expect(table.match(/<tr><th scope="row">/g)).toHaveLength(kinds.length)
    expect(section).toContain('id="earned-title"')
    // The range keeps the switch, and the switch the range.
    if (query !== '') expect(page).toContain('range=all&amp;')
    if (query.includes('7d')) expect(section).toContain('href="/agent/7?range=7d&amp;chain=Base#money"')
  }
})
