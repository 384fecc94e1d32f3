import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentPrices } from '../../api/schemas/documents/enriched.ts'
import { feedbackList } from '../../api/schemas/feedback/feedback.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { strangeScripts, textOf } from '../support/api/markup.ts'
import { richFid, seedFeedback, seedShowcase, sumUpIncome } from '../support/api/showcase.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, insert, seedAgent, seedHolding, seedRegistration, seedSettlement } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const today = new Date()
beforeAll(async () => {
  api = await startApi(database)
  const { pool } = database
  await seedShowcase(pool, Date.now())
  const paid = { chain: 'base', recipient: addressOf('showcase 0'), payer: addressOf('showcase 1') } as const
  await seedSettlement(pool, { ...paid, block: 39_000_000, at: new Date(Date.now() - 60 * 86_400_000) })
  await sumUpIncome(pool)
  await seedFeedback(pool, Date.now())
})
afterAll(() => api.stop())

const read = async (path: string) => (await api.get(path)).text()

test('what an agent asks for is shown as what it says, next to what it is paid', async () => {
  const body = agentPrices.parse(await (await api.get(`/api/agent/${richFid}/prices`)).json())
  expect(
    body.prices.map(({ resource, min_amount_usd, max_amount_usd }) => [resource, min_amount_usd, max_amount_usd]),
  ).toEqual([
    ['https://tideline.example/tides', 0.02, 0.02],
    ['GET /storms', 0.01, 0.25],
  ])
  expect((await api.get('/api/agent/999999999/prices')).status).toBe(404)
  const { pool } = database
  const strange = {
    scheme: '<b>',
    network: 'solana',
    chain: null,
    payTo: addressOf('nobody of hers'),
    minUsd: null,
    maxUsd: null,
  }
  const price = {
    ...strange,
    resource: '"><script>alert(3)</script>',
    description: 'W'.repeat(200),
    asset: '<i>',
    amount: '7',
  }
  await seedAgent(pool, { fid: 31, handle: 'seller' })
  await insert(pool, 'agent_spec', {
    fid: 31,
    kind: 'x402',
    url: 'https://seller.example/pay',
    declared: true,
    has_content: false,
    skills: [],
    tools: [],
    domain_verified: false,
    first_seen_at: today,
    last_check_at: today,
    last_check_status: 'payment_required',
    consecutive_failures: 0,
    prices: JSON.stringify(Array.from({ length: 11 }, () => price)),
  })
  const rich = textOf(await read(`/agent/${richFid}`))
  expect(rich).toContain('$0.02 on Base for https://tideline.example/tides')
  expect(rich).toContain('$0.01 to $0.25 for GET /storms')
  expect(rich).toContain('Nobody checked it, and it is not counted as income.')
  const page = await read('/agent/31')
  expect(strangeScripts(page)).toEqual([])
  const seller = textOf(page)
  expect(seller.match(/7 base units of &lt;i&gt; on solana/g)).toHaveLength(10)
  expect(seller).toContain('which the account does not verify')
  expect(seller).toContain('Here are 10 of 11.')
})

test('what others say of an agent is shown with who said it, what it rests on, and what was revoked', async () => {
  expect(textOf(await read('/agent/31'))).not.toContain('What others say')
  const page = await read(`/agent/${richFid}`)
  expect(strangeScripts(page)).toEqual([])
  const [, section = ''] = /(<section aria-labelledby="feedback">.*?<\/section>)/s.exec(page) ?? []
  const { feedback } = feedbackList.parse(await (await api.get(`/api/agent/${richFid}/feedback`)).json())
  const rows = [...section.matchAll(/<tr><th scope="row">.*?<\/tr>/gs)].map(([row]) => textOf(row))
  expect(rows).toHaveLength(feedback.length)
  expect(rows[0]).toMatch(/^ 95 of 100 starred, tides @\w+ agent a payment /)
  expect(rows[1]).toMatch(/^ -1\.25 &lt;b&gt;&quot;storms&quot;&lt;\/b&gt; 0x\w{4}…\w{4} (a payment|nothing) /)
  expect(rows[2]).toMatch(/^ 100 of 100 starred 0x\w{4}…\w{4} itself nothing /)
  expect(rows[3]).toMatch(/^ 1 revoked .* W{40}… 0x/)
  expect(textOf(section)).toContain('3 pieces of feedback from 3 addresses')
  expect(textOf(section)).toContain('1 more was revoked.')
})

test('feedback of a client that a rule flags is shown with the rule, and counted as perhaps one voice', async () => {
  const { pool } = database
  const client = Buffer.from(addressOf('flagged').slice(2), 'hex')
  await seedAgent(pool, { fid: 32, handle: 'rated', addresses: [addressOf('rated')], chains: ['base'] })
  await seedRegistration(pool, { chain: 'base', id: 3_200, owner: addressOf('rated') })
  await seedHolding(pool, { fid: 32, chain: 'base', id: 3_200, by: addressOf('rated'), block: 0 })
  await insert(pool, 'feedback', {
    id: 'base-3200-flagged',
    chain: 'base',
    agent_id: 3_200,
    client,
    feedback_index: 1,
    value: 100,
    value_decimals: 0,
    tag1: 'starred',
    tag2: '',
    endpoint: '',
    feedback_uri: '',
    feedback_hash: Buffer.alloc(32),
    block_number: 39_000_000,
    log_index: 0,
    block_timestamp: today,
    tx_hash: Buffer.alloc(32, 1),
  })
  const funder = Buffer.alloc(20, 7)
  await insert(pool, 'feedback_client', {
    client,
    seen_at: today,
    is_idle: true,
    registrations: ['base:3200'],
    funder,
    generation: 5,
  })
  const group = { rule: 'shared_funder', subject: funder.toString('hex'), clients: 30, compared: 30 }
  await insert(pool, 'feedback_group', group)
  const page = textOf(await read('/agent/32'))
  expect(page).toMatch(/ 100 of 100 starred 0x\w{4}…\w{4} nothing in a chain of funders one funder of many /)
  expect(page).toContain('1 may be the same voice in many addresses.')
})

test('what a stranger sent leads nowhere, and the page says how much is not shown', async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 9, addresses: [addressOf('sent')] })
  for (const [id, unsolicited] of [
    [501, false],
    [502, true],
  ] as const) {
    await seedRegistration(pool, { chain: 'celo', id, owner: addressOf('sent'), uri: `https://uri-${id}.example/` })
    await seedHolding(pool, { fid: 9, chain: 'celo', id, by: addressOf('sent'), unsolicited })
    await insert(pool, 'registration_document', {
      chain: 'celo',
      agent_id: id,
      uri_status: 'ok',
      updated_at: today,
      services: JSON.stringify([{ name: 'web', endpoint: `https://service-${id}.example/`, version: null }]),
    })
  }
  await pool.query('update agent set current_total = 12345 where fid = 9')
  const page = await read('/agent/9')
  expect(page).toContain('href="https://uri-501.example/"')
  expect(page).toContain('href="https://service-501.example/"')
  expect(page).not.toMatch(/(uri|service)-502/)
  expect(page).toContain('1 registration that nobody here asked for')
  expect(page).toContain('2 of 12,345. <a href="/api/agent/9/registrations?state=current&amp;limit=100">')
})
