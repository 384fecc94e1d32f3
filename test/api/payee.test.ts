import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payeeAnswer } from '../../api/schemas/documents/payee.ts'
import { chains } from '../../config/chains.ts'
import type { Queryable } from '../../db/pool.ts'
import { agentStanding } from '../../db/queries/agents/profile.ts'
import { agentDiagnosis } from '../../db/queries/documents/doctor.ts'
import { payeeFacts } from '../../db/queries/documents/payee.ts'
import { agentPrices } from '../../db/queries/documents/prices.ts'
import { failure, startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'
import {
  addressOf,
  birth,
  hashOf,
  insert,
  seedAgent,
  seedChainState,
  seedHolding,
  seedRegistration,
  seedWallet,
} from '../support/seed.ts'

// An account that holds agents on Base: their owner address, the wallet of the first, and somebody else's address.
const [owner, wallet, second, stranger, rival] = ['owner', 'wallet', 'second wallet', 'stranger', 'rival'].map(
  addressOf,
) as [string, string, string, string, string]
const seller = 'https://seller.example'
const endpoint = `${seller}/paid`
const hours = (count: number) => new Date(birth.getTime() + count * 3_600_000)
const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 400, finalized: 350, at: hours(40) })
  await seedAgent(pool, { fid: 1, addresses: [owner, wallet], chains: ['base'] })
  await seedMint(17, owner)
  await seedMint(18, owner)
  await seedMint(19, owner)
  await seedWallet(pool, { id: 17, wallet, block: 110, at: hours(1) })
  await seedWallet(pool, { id: 17, wallet: second, block: 300, at: hours(30) })
  await seedWallet(pool, { id: 17, wallet: stranger, block: 390, at: hours(39) }) // not final yet
  await seedWallet(pool, { id: 19, wallet, block: 120, at: hours(2) })
  await seedTransfer(19, { from: owner, to: stranger, block: 200, at: hours(10) })
  await seedOffer({ fid: 1, url: endpoint, payTo: second })
  await seedOffer({ fid: 1, url: 'https://elsewhere.example/paid', payTo: second })
  // A rival names the endpoint as its own, and sells what it gives: neither is the word of the endpoint's host.
  await seedAgent(pool, { fid: 2, addresses: [rival], chains: ['base'] })
  await seedMint(30, rival, { fid: 2, uri: 'https://rival.example/agent.json' })
  await seedWallet(pool, { id: 30, wallet: rival, block: 110, logIndex: 1, at: hours(1) })
  await seedOffer({ fid: 2, url: endpoint, payTo: rival, aliveAt: hours(9) })
  await seedOffer({ fid: 2, url: 'https://rival.example/x402', payTo: rival, sells: endpoint })
  await seedOffer({ fid: 2, url: 'https://unlisted.example/paid', payTo: rival })
  // Anybody can write an address of somebody else's host into the registry: nothing was read there that lists these.
  await seedMint(33, rival, { fid: 2, read: null })
  await seedWallet(pool, { id: 33, wallet: rival, block: 110, logIndex: 3, at: hours(1) })
  await seedMint(34, rival, { fid: 2, read: { registrations: [{ chain: 'base', agentId: '17' }] } })
  await seedWallet(pool, { id: 34, wallet: rival, block: 110, logIndex: 4, at: hours(1) })
  await seedMint(35, rival, { fid: 2, read: { uri_status: 'unreachable' } })
  await seedWallet(pool, { id: 35, wallet: rival, block: 110, logIndex: 5, at: hours(1) })
  await seedMint(36, rival, {
    fid: 2,
    read: { uri_sha256: sha256('of before'), tried_uri_sha256: sha256('of before') },
  })
  await seedWallet(pool, { id: 36, wallet: rival, block: 110, logIndex: 6, at: hours(1) })
  await seedMint(37, rival, { fid: 2, read: { own_origin: false } })
  await seedWallet(pool, { id: 37, wallet: rival, block: 110, logIndex: 7, at: hours(1) })
  api = await startApi(database)
})
afterAll(() => api.stop())

const sha256 = (text: string) => createHash('sha256').update(text).digest()

interface Mint {
  fid?: number
  uri?: string
  /** How the row of what was read there differs from that of a file that lists it; null: nothing was read. */
  read?: Record<string, unknown> | null
}

async function seedMint(id: number, to: string, { fid = 1, uri = `${seller}/agent.json`, read = {} }: Mint = {}) {
  await seedRegistration(database.pool, { chain: 'base', id, owner: to, uri })
  const { registrations = [{ chain: 'base', agentId: String(id) }], ...otherwise } = read ?? {}
  if (read)
    await insert(database.pool, 'registration_document', {
      chain: 'base',
      agent_id: String(id),
      uri_sha256: sha256(uri),
      tried_uri_sha256: sha256(uri),
      uri_status: 'ok',
      own_origin: true,
      registrations: JSON.stringify(registrations),
      updated_at: birth,
      ...otherwise,
    })
  await seedTransfer(id, { from: null, to, block: 100, at: birth })
  await seedHolding(database.pool, { fid, chain: 'base', id, by: to })
}

interface Moved {
  from: string | null
  to: string
  block: number
  at: Date
}

async function seedTransfer(id: number, { from, to, block, at }: Moved) {
  const bytes = (hex: string | null) => hex && Buffer.from(hex.slice(2), 'hex')
  await insert(database.pool, 'registration_transfer', {
    id: `base-${block}-${id}`,
    chain: 'base',
    agent_id: String(id),
    from: bytes(from),
    to: bytes(to),
    block_number: block,
    log_index: id,
    block_timestamp: at,
    tx_hash: bytes(hashOf(`moved ${id} ${block}`)),
  })
  await database.pool.query('update registration set owner = $1 where agent_id = $2', [bytes(to), id])
}

interface Offer {
  fid: number
  url: string
  payTo: string
  /** What it names as sold; default: an address below its own. */
  sells?: string
  /** Registration that it names as the seller's. */
  names?: string
  aliveAt?: Date
}

async function seedOffer({ fid, url, payTo, sells, names, aliveAt = birth }: Offer) {
  const offers = ['eip155:8453', 'solana'].map((network, place) => ({
    resource: sells ?? `${url}/${place}`,
    network,
    chain: place === 0 ? 'base' : null,
    agent: names,
    payTo: place === 0 ? payTo : '7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK',
  }))
  await insert(database.pool, 'agent_spec', {
    fid,
    kind: 'x402',
    url,
    declared: true,
    has_content: true,
    content_sha256: Buffer.alloc(32, 7),
    skills: [],
    tools: [],
    domain_verified: false,
    first_seen_at: birth,
    last_alive_at: aliveAt,
    last_check_at: birth,
    last_check_status: 'ok',
    consecutive_failures: 0,
    prices: JSON.stringify(offers),
  })
}

const ask = async (query: Record<string, string>) => {
  const answer = await api.get(`/api/payee?${new URLSearchParams(query)}`)
  return payeeAnswer.parse(await answer.json())
}
const fake = { url: endpoint, pay_to: rival }
const at17 = { agent: 'eip155:8453:17', network: 'eip155:8453' }

test.each<[string, Record<string, string>, string]>([
  ['the wallet', { ...at17, pay_to: second }, 'verified-wallet'],
  ['the wallet, in other case', { ...at17, pay_to: second.toUpperCase().replace('0X', '0x') }, 'verified-wallet'],
  ['a wallet of before', { ...at17, pay_to: wallet }, 'mismatch'],
  ['a wallet that is not final', { ...at17, pay_to: stranger }, 'mismatch'],
  ['the owner', { ...at17, pay_to: owner }, 'owner-only'],
  ['somebody, where no wallet is set', { agent: 'base:18', pay_to: stranger }, 'no-agent-wallet'],
  ['the wallet of before a transfer', { agent: 'base:19', pay_to: wallet }, 'no-agent-wallet'],
  ['nobody’s agent', { pay_to: stranger }, 'no-identity'],
  ['an endpoint of the agent', { url: endpoint }, 'verified-wallet'],
  ['a resource of its prices', { url: `${endpoint}/0` }, 'verified-wallet'],
  ['an endpoint where somebody else wants to be paid', { url: endpoint, pay_to: stranger }, 'not-read'],
  ['the same, of a named agent', { ...at17, url: endpoint, pay_to: stranger }, 'mismatch'],
  ['an endpoint where a rival wants to be paid', { url: endpoint, pay_to: rival }, 'endpoint-unlisted'],
  ['its own wallet, of an agent with an address there', { ...fake, agent: 'base:33' }, 'endpoint-unlisted'],
  ['the same, where a file there lists another', { ...fake, agent: 'base:34' }, 'endpoint-unlisted'],
  ['the same, where its file is gone', { ...fake, agent: 'base:35' }, 'endpoint-unlisted'],
  ['the same, where a file was read at an address of before', { ...fake, agent: 'base:36' }, 'endpoint-unlisted'],
  ['the same, where the address leads to a file elsewhere', { ...fake, agent: 'base:37' }, 'endpoint-unlisted'],
  ['an endpoint that only a registration names', { url: 'https://unlisted.example/paid' }, 'endpoint-unlisted'],
  ['an endpoint elsewhere', { url: 'https://elsewhere.example/paid' }, 'endpoint-unlisted'],
  ['an endpoint that was never read', { url: 'https://nobody.example/' }, 'not-read'],
  [
    'an account of another kind of chain',
    { ...at17, pay_to: '7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK' },
    'not-read',
  ],
  ['no address at all', { pay_to: '~w0m' }, 'no-identity'],
  ['an endpoint paid there', { url: endpoint, network: 'solana' }, 'not-read'],
  [
    'a wallet that is not final, by its time',
    { ...at17, pay_to: stranger, as_of: hours(39.5).toISOString() },
    'mismatch',
  ],
  ['before the registration', { ...at17, pay_to: wallet, as_of: hours(-1).toISOString() }, 'not-read'],
  ['after what is indexed', { ...at17, pay_to: wallet, as_of: hours(41).toISOString() }, 'not-read'],
  ['the wallet of then', { ...at17, pay_to: wallet, as_of: hours(2).toISOString() }, 'verified-wallet'],
  [
    'the wallet before the transfer',
    { agent: '8453:19', pay_to: wallet, as_of: hours(9).toISOString() },
    'verified-wallet',
  ],
])('%s: %j gives %s', async (_, query, outcome) => {
  expect((await ask(query)).outcome).toBe(outcome)
})

test('the answer names the account, the logs, the document and the block that it rests on', async () => {
  expect(await ask({ url: endpoint })).toEqual({
    outcome: 'verified-wallet',
    human: null,
    pay_to: second,
    network: 'eip155:8453',
    agent: { chain: 'base', chain_id: 8453, erc8004_id: 17, fid: 1 },
    evidence: [
      { kind: 'offer', chain: null, block_number: null, tx_hash: null, url: endpoint, sha256: '07'.repeat(32) },
      {
        kind: 'registration_file',
        chain: null,
        block_number: null,
        tx_hash: null,
        url: 'https://seller.example/agent.json',
        sha256: null,
      },
      { kind: 'owner', chain: 'base', block_number: 100, tx_hash: hashOf('moved 17 100'), url: null, sha256: null },
      {
        kind: 'agent_wallet',
        chain: 'base',
        block_number: 300,
        tx_hash: hashOf('base 300 0'),
        url: null,
        sha256: null,
      },
    ],
    as_of: { chain: 'base', block_number: 350, block_timestamp: null },
    not_checked: [],
  })
})

test('an address that the holder verifies is its own, whatever the registry says of it', async () => {
  expect(await ask({ ...at17, pay_to: wallet })).toMatchObject({
    outcome: 'mismatch',
    human: { fid: 1, assurance: 'stated' },
    not_checked: ['payee-delegation'],
  })
  expect(await ask({ pay_to: wallet })).toMatchObject({ outcome: 'no-identity', human: { fid: 1 } })
  // The agent belongs to somebody else now, who is no account here.
  expect(await ask({ agent: 'base:19', pay_to: wallet })).toMatchObject({ human: null, agent: { fid: null } })
})

test('a moment in the past is answered by the last block that changed owner or wallet', async () => {
  const answer = await ask({ ...at17, pay_to: wallet, as_of: hours(2).toISOString() })
  expect(answer.as_of).toEqual({ chain: 'base', block_number: 110, block_timestamp: hours(1).toISOString() })
})

test('what names nothing is refused, and an agent of no registry is not found', async () => {
  const refused = async (query: string) => failure(await api.get(`/api/payee${query}`))
  expect(await refused('')).toMatchObject({ status: 400, error: 'ERR_PAYLOAD_INVALID' })
  expect(await refused('?agent=base:17')).toMatchObject({ status: 400, error: 'ERR_PAYLOAD_INVALID' })
  expect(await refused(`?pay_to=${owner}&agent=seventeen`)).toMatchObject({ status: 400 })
  expect(await refused(`?pay_to=${owner}&as_of=yesterday`)).toMatchObject({ status: 400 })
  expect(await refused('?url=paid')).toMatchObject({ status: 400 })
  const elsewhere = `eip155:8453:${addressOf('another registry')}:17`
  for (const agent of ['base:20', '99999:17', elsewhere]) {
    expect(await refused(`?pay_to=${owner}&agent=${agent}`)).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
  }
  const full = `eip155:8453:${chains.base.registry.address}:17`
  expect((await ask({ pay_to: second, agent: full })).outcome).toBe('verified-wallet')
})

const outcomes = async (url: string) =>
  (await database.pool.query('select outcome from directory.payees where url = $1 order by place', [url])).rows

test('an offer that names somebody else’s agent is of none, whatever it sells and whoever is paid', async () => {
  const url = 'https://rival.example/copied'
  await seedOffer({ fid: 2, url, payTo: second, sells: `${endpoint}/0`, names: 'base:17' })
  expect(await outcomes(url)).toEqual([{ outcome: 'no-identity' }, { outcome: 'no-identity' }])
  expect(await ask({ url, network: 'base' })).toMatchObject({ outcome: 'no-identity', agent: null })
})

test('an agent that was just sent to an account is not one that it names as its own', async () => {
  const url = 'https://rival.example/sent'
  await seedMint(31, owner, { fid: 1 })
  await seedHolding(database.pool, { fid: 2, chain: 'base', id: 31, by: owner, unsolicited: true })
  await seedOffer({ fid: 2, url, payTo: owner, names: 'base:31' })
  expect(await outcomes(url)).toEqual([{ outcome: 'no-identity' }, { outcome: 'no-identity' }])
})

test('a document speaks for what is sold on its own host alone', async () => {
  expect(await outcomes('https://rival.example/x402')).toMatchObject([{ outcome: 'endpoint-unlisted' }, {}])
  const own = 'https://rival.example/paid'
  await seedOffer({ fid: 2, url: own, payTo: rival })
  expect(await outcomes(own)).toMatchObject([{ outcome: 'verified-wallet' }, {}])
  // Anybody may write the address of somebody else's host into the registry.
  await seedMint(32, rival, { fid: 2, read: null })
  await seedWallet(database.pool, { id: 32, wallet: rival, block: 110, logIndex: 2, at: hours(1) })
  expect(await outcomes('https://rival.example/x402')).toMatchObject([{ outcome: 'endpoint-unlisted' }, {}])
})

test('a registration with an address on a host that does not list it has nothing to do with what is sold there', async () => {
  const { rows } = await database.pool.query(
    `select outcome from directory.payees where url = $1 and fid = 2 order by place`,
    [endpoint],
  )
  expect(rows).toEqual([{ outcome: 'endpoint-unlisted' }, { outcome: 'endpoint-unlisted' }])
})

test('an own file is found behind hundreds of strangers that name the document, however much they hold', async () => {
  const { pool } = database
  const url = 'https://crowded.example/paid'
  await seedMint(40, owner, { uri: 'https://crowded.example/agent.json' })
  await seedWallet(pool, { id: 40, wallet: second, block: 110, logIndex: 8, at: hours(1) })
  await seedOffer({ fid: 1, url, payTo: second, names: 'base:40' })
  // The first crowd holds nothing; each of the second holds more than may be looked through.
  for (const [from, to, holds] of [
    [100, 350, 0],
    [400, 460, 1_000],
  ] as const) {
    for (let fid = from; fid < to; fid++) await seedAgent(pool, { fid })
    await pool.query('update agent set current_total = $3 where fid >= $1 and fid < $2', [from, to, holds])
    await pool.query(
      `insert into agent_spec
       select (jsonb_populate_record(s, jsonb_build_object('fid', n, 'last_alive_at', $4::timestamptz))).*
         from agent_spec s, generate_series($1::int, $2 - 1) n where s.url = $3 and s.fid = 1`,
      [from, to, url, hours(9)],
    )
    expect(await ask({ url, network: 'base' })).toMatchObject({ outcome: 'verified-wallet', pay_to: second })
  }
})

test('agents of an account are looked through once, however much it sells', async () => {
  const { pool } = database
  const fid = 3
  await seedAgent(pool, { fid, addresses: [addressOf('big seller')] })
  await seedRegistration(pool, { chain: 'base', id: 1_000, owner, uri: 'https://big.example/agent.json' })
  await pool.query(
    `insert into registration
     select (jsonb_populate_record(r, jsonb_build_object('id', 'base-' || n, 'agent_id', n))).*
       from registration r, generate_series(1001, 1199) n where r.chain = 'base' and r.agent_id = 1000`,
  )
  await seedHolding(pool, { fid, chain: 'base', id: 1_000, by: owner })
  await pool.query(
    `insert into agent_holding
     select (jsonb_populate_record(h, jsonb_build_object('agent_id', n))).*
       from agent_holding h, generate_series(1001, 1199) n where h.fid = $1`,
    [fid],
  )
  await seedOffer({ fid, url: 'https://big.example/0', payTo: second })
  await pool.query(
    `update agent_spec s
        set prices = (select jsonb_agg(p.price) from generate_series(1, 20), lateral (select s.prices->0 as price offset 0) p)
      where fid = $1`,
    [fid],
  )
  await pool.query(
    `insert into agent_spec
     select (jsonb_populate_record(s, jsonb_build_object('url', 'https://big.example/' || n))).*
       from agent_spec s, generate_series(1, 199) n where s.fid = $1`,
    [fid],
  )
  await pool.query('analyze registration, agent_holding, agent_spec')
  const tables = ['registration', 'agent_holding']
  const most = 3 * 220
  for (const read of [agentPrices, agentStanding, agentDiagnosis])
    expect(await rowsRead(pool, (db) => read(db, fid), tables), read.name).toBeLessThanOrEqual(most)
  expect((await agentPrices(pool, fid))?.count).toBe(4_000)
  // All that is sold is one resource, which another seller names as well.
  const url = 'https://big.example/0/0'
  await seedOffer({ fid: 2, url: 'https://big.example/rival', payTo: rival, sells: url, aliveAt: hours(9) })
  const asked = { agent: null, payTo: null, network: null, asOf: null }
  const payee = (db: Queryable) =>
    payeeFacts(db, { ...asked, endpoint: { url, given: url, origin: 'https://big.example' } })
  // Once for the seller, and once for the agent that its offer is held against.
  expect(await rowsRead(pool, payee, tables), 'payeeFacts').toBeLessThanOrEqual(2 * most)
})
