import { afterAll, beforeAll, expect, test } from 'vitest'
import { profile } from '../../api/schemas/agents/profile.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, hashOf, insert, seedAgent, seedHolding, seedRegistration, seedSettlement } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const [first, second] = [addressOf('one'), addressOf('two')].sort() as [string, string]
const at = (text: string) => new Date(`2026-03-${text}Z`)

beforeAll(async () => {
  api = await startApi(database)
})
afterAll(() => api.stop())

const read = async (fid: number) => {
  const response = await api.get(`/api/agent/${fid}`)
  expect(response.status).toBe(200)
  const text = await response.text()
  return { text, body: profile.parse(JSON.parse(text)) }
}

test('a bare agent has every field, in the order of the specification, unknown ones null or empty', async () => {
  await seedAgent(database.pool, { fid: 1, handle: null })
  const { text, body } = await read(1)
  expect(Object.keys(JSON.parse(text))).toEqual(fields)
  expect(body).toEqual({
    ...Object.fromEntries(fields.map((field) => [field, null])),
    fid: 1,
    chains: [],
    claimed: false,
    verified_addresses: [],
    settlements_30d: 0,
    settlements_all: 0,
    registered_at: '2026-03-01T00:00:00.000Z',
    agent_status: 'active',
    spec_check_status: 'unchecked',
    erc8004_records: [],
    oli_tags: [],
    agent_specs: { last_alive_at: null, last_check_at: null, last_check_status: null, truncated: {}, documents: [] },
    agent_edges: [],
    agent_identities: [],
    historical_registrations: [],
    erc8004_total: 0,
    historical_total: 0,
    feedback: expect.objectContaining({ total: 0, paid: 0, tags: [] }),
    income_url: 'https://api.agents.example/api/agent/1/income',
    chain_names: [],
  })
})

test('a claimed agent on two chains shows its records with their documents, and labels in the table’s order', async () => {
  const { pool } = database
  await seedAgent(pool, {
    fid: 2,
    displayName: 'Ada “the” agent\u2028',
    chains: ['gnosis', 'base'],
    addresses: [second, first],
    claimMethod: 'jfs',
    claimedAt: at('05T00:00:00.250'),
    registryEventAt: at('06T00:00:00'),
  })
  await seedRegistration(pool, { chain: 'base', id: 0, owner: first, wallet: second, uri: 'https://a.example/0' })
  await seedRegistration(pool, { chain: 'gnosis', id: 7, owner: second, uri: '' })
  await seedHolding(pool, { fid: 2, chain: 'gnosis', id: 7, by: second })
  await seedHolding(pool, { fid: 2, chain: 'base', id: 0, by: first })
  await insert(pool, 'registration_document', {
    chain: 'base',
    agent_id: '0',
    uri_sha256: Buffer.alloc(32),
    uri_status: 'ok',
    name: 'Ada',
    services: JSON.stringify([{ name: 'A2A', endpoint: 'https://a.example/a2a', version: '0.3.0' }]),
    supported_trust: JSON.stringify(['reputation']),
    updated_at: at('02T00:00:00'),
  })
  await seedFeedback(0, null)
  await seedFeedback(1, null)
  await seedFeedback(2, 120)

  const { body } = await read(2)
  expect(body.chains).toEqual(['Base', 'Gnosis'])
  expect(body.chain_names).toEqual(['base', 'gnosis'])
  expect(body).toMatchObject({ claimed: true, claim_method: 'jfs', claimed_at: '2026-03-05T00:00:00.250Z' })
  expect(body.verified_addresses).toEqual([first, second])
  expect(body.last_seen_at).toBe('2026-03-06T00:00:00.000Z')
  expect(body.erc8004_records).toEqual([
    {
      chain: 'base',
      chain_id: 8453,
      erc8004_id: 0,
      registry_address: '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432',
      owner_address: first,
      agent_wallet: second,
      agent_uri: 'https://a.example/0',
      uri_status: 'ok',
      name: 'Ada',
      description: null,
      image: null,
      active: null,
      x402_support: null,
      services: [{ name: 'A2A', endpoint: 'https://a.example/a2a', version: '0.3.0' }],
      supported_trust: ['reputation'],
      feedback_count: 2,
      block_number: 100,
      tx_hash: hashOf('base mint 0'),
      deployed_at: '2026-03-01T00:00:00.000Z',
      acquired_at: '2026-03-01T00:00:00.000Z',
      updated_at: '2026-03-01T00:00:00.000Z',
      agent_uri_bytes: 19,
      unsolicited: false,
      wallet_chain: null,
      truncated: {},
      ens_names: [],
    },
    expect.objectContaining({ chain: 'gnosis', chain_id: 100, erc8004_id: 7, uri_status: 'empty', services: [] }),
  ])
})

test('a token given away is a historical registration with its new holder, not a record', async () => {
  const { pool } = database
  const buyer = addressOf('buyer')
  await seedAgent(pool, { fid: 3, addresses: [addressOf('three')], status: 'historical' })
  await seedRegistration(pool, { chain: 'celo', id: 5, owner: buyer, block: 90, at: at('01T08:00:00') })
  await seedHolding(pool, {
    fid: 3,
    chain: 'celo',
    id: 5,
    by: addressOf('three'),
    block: 95,
    at: at('02T00:00:00'),
    released: { reason: 'transfer', block: 140, at: at('04T00:00:00'), to: buyer, toFid: 2 },
  })
  const { body } = await read(3)
  expect(body.agent_status).toBe('historical')
  expect(body.erc8004_records).toEqual([])
  expect(body.historical_registrations).toEqual([
    {
      chain: 'celo',
      chain_id: 42220,
      erc8004_id: 5,
      block_number: 90,
      deployed_at: '2026-03-01T08:00:00.000Z',
      held_by: addressOf('three'),
      acquired_at: '2026-03-02T00:00:00.000Z',
      released_at: '2026-03-04T00:00:00.000Z',
      released_block: 140,
      released_tx: hashOf('celo release 5'),
      transferred_to: buyer,
      to_fid: 2,
      reason: 'transfer',
      wallet_chain: null,
    },
  ])
})

test('of a token given away to an account that took itself out, the address is named and the account is not', async () => {
  const { pool } = database
  const buyer = addressOf('buyer')
  await insert(pool, 'unlisted', { fid: 2, since: at('05T00:00:00') })
  await seedAgent(pool, { fid: 33, addresses: [addressOf('thirty-three')], status: 'historical' })
  await seedRegistration(pool, { chain: 'celo', id: 6, owner: buyer })
  await seedHolding(pool, {
    fid: 33,
    chain: 'celo',
    id: 6,
    by: addressOf('thirty-three'),
    released: { reason: 'transfer', block: 140, at: at('04T00:00:00'), to: buyer, toFid: 2 },
  })
  const next = { transferred_to: buyer, to_fid: null }
  expect((await read(33)).body.historical_registrations).toMatchObject([next])
  const listed = await (await api.get('/api/agent/33/registrations?state=historical')).json()
  expect(listed).toMatchObject({ registrations: [next] })
  expect(await (await api.get('/agent/33')).text()).not.toContain('FID 2<')
  const { rows } = await pool.query('select transferred_to, to_fid from directory.holdings where fid = 33')
  expect(rows).toEqual([next])
  await pool.query('delete from unlisted')
})

test('settlements are counted over all verified addresses, the last 30 days apart, bytes overloads left out', async () => {
  const { pool } = database
  const a = addressOf('four a')
  const b = addressOf('four b')
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
  await seedAgent(pool, { fid: 4, addresses: [a, b] })
  await seedSettlement(pool, { chain: 'base', recipient: a, block: 1, at: daysAgo(31) })
  await seedSettlement(pool, { chain: 'base', recipient: a, block: 2, at: daysAgo(29) })
  await seedSettlement(pool, { chain: 'polygon', recipient: b, block: 3, at: daysAgo(1), selector: '0xef55bec6' })
  await seedSettlement(pool, { chain: 'base', recipient: a, block: 4, at: daysAgo(0), selector: '0xcf092995' })
  await seedSettlement(pool, { chain: 'base', recipient: addressOf('stranger'), block: 5, at: daysAgo(0) })
  const { body } = await read(4)
  expect([body.settlements_30d, body.settlements_all]).toEqual([2, 3])
  expect(body.last_seen_at).toBe(
    (await pool.query('select block_timestamp as t from settlement where block_number = 3')).rows[0].t.toISOString(),
  )
})

test('each source tells its last attempt, and the newest success of any is last_enriched_at', async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 5 })
  const sources = ['socialindex', 'explorer', 'identity', 'codehost', 'spec_discovery']
  for (const [index, source] of sources.entries()) {
    await insert(pool, 'source_state', {
      source,
      subject: 'fid:5',
      due_at: at('09T00:00:00'),
      last_attempt_at: at(`0${index + 1}T12:00:00`),
      last_success_at: index < 2 ? at(`0${index + 1}T06:00:00`) : null,
    })
  }
  await insert(pool, 'source_state', { source: 'explorer', subject: 'fid:55', due_at: at('09T00:00:00') })
  const { body } = await read(5)
  expect(body).toMatchObject({
    last_enriched_at: '2026-03-02T06:00:00.000Z',
    last_socialindex_at: '2026-03-01T12:00:00.000Z',
    last_explorer_at: '2026-03-02T12:00:00.000Z',
    last_identity_at: '2026-03-03T12:00:00.000Z',
    last_codehost_at: '2026-03-04T12:00:00.000Z',
    last_spec_discovery_at: '2026-03-05T12:00:00.000Z',
  })
})

test('a fid that is not in the index is not found', async () => {
  for (const fid of ['999', '9007199254740993', '9'.repeat(400)]) {
    const response = await api.get(`/api/agent/${fid}`)
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: 'ERR_NOT_FOUND', detail: 'no agent with this fid' },
    ])
  }
})

const fields = [
  'fid',
  'handle',
  'display_name',
  'bio',
  'pfp_url',
  'oli',
  'chains',
  'claimed',
  'claim_method',
  'claimed_at',
  'verified_addresses',
  'settlements_30d',
  'settlements_all',
  'registered_at',
  'last_seen_at',
  'last_enriched_at',
  'agent_status',
  'spec_check_status',
  'last_socialindex_at',
  'last_explorer_at',
  'last_identity_at',
  'last_codehost_at',
  'last_spec_discovery_at',
  'erc8004_records',
  'oli_tags',
  'agent_specs',
  'agent_edges',
  'codehost_profiles',
  'agent_identities',
  'historical_registrations',
  'erc8004_total',
  'historical_total',
  'claim_state',
  'assurance',
  'handle_assurance',
  'feedback',
  'income_url',
  'chain_names',
]

function seedFeedback(index: number, revokedBlock: number | null) {
  return insert(database.pool, 'feedback', {
    id: `base-0-client-${index}`,
    chain: 'base',
    agent_id: '0',
    client: Buffer.alloc(20, index),
    feedback_index: index,
    value: 5,
    value_decimals: 0,
    tag1: '',
    tag2: '',
    endpoint: '',
    feedback_uri: '',
    feedback_hash: Buffer.alloc(32),
    block_number: 110,
    log_index: index,
    block_timestamp: at('02T00:00:00'),
    tx_hash: Buffer.alloc(32),
    revoked_block: revokedBlock,
  })
}
