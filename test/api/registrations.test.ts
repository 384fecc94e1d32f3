import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { profile } from '../../api/schemas/agents/profile.ts'
import { registrationList } from '../../api/schemas/registrations/registration.ts'
import { failure, startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, birth, hashOf, insert, seedAgent, seedHolding, seedRegistration } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const victim = addressOf('victim')
const own = 3
const sent = 400
const past = 250

beforeAll(async () => {
  api = await startApi(database)
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: [victim], chains: ['base', 'gnosis'] })
  await seedAgent(pool, { fid: 2, handle: 'empty' })
  await pool.query(
    `insert into registration (id, chain, agent_id, owner, burned, agent_uri, agent_uri_length, registered_block,
                               registered_at, registered_tx, acquired_block, acquired_at, updated_block, updated_at)
     select 'base-' || n, 'base', n, $1, false, 'https://spam.example/' || n, 24, 1, $2, $3, 1, $2, 1, $2
       from generate_series(1, ${sent}) n`,
    [Buffer.from(victim.slice(2), 'hex'), birth, Buffer.alloc(32)],
  )
  await pool.query(
    `insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at, unsolicited)
     select 1, 'base', n, $1, 1, 0, $2, true from generate_series(1, ${sent}) n`,
    [Buffer.from(victim.slice(2), 'hex'), birth],
  )
  // Released five at a time, as when a verification is removed.
  await pool.query(
    `insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at,
                                released_at, reason)
     select 1, case n % 2 when 0 then 'celo' else 'base' end, 1000 + n, $1, 1, 0, $2,
            $2::timestamptz + n / 5 * interval '1 minute', 'verification_removed' from generate_series(1, ${past}) n`,
    [Buffer.from(victim.slice(2), 'hex'), birth],
  )
  for (const id of [7, 2n ** 256n - 1n]) {
    await seedRegistration(pool, { chain: 'gnosis', id, owner: victim, uri: 'u'.repeat(8_193) })
    await seedHolding(pool, { fid: 1, chain: 'gnosis', id, by: victim })
  }
  await seedRegistration(pool, { chain: 'base', id: 9_999, owner: victim, uri: 'u'.repeat(8_192) })
  await seedHolding(pool, { fid: 1, chain: 'base', id: 9_999, by: victim })
  await pool.query('update agent set current_total = $1, historical_total = $2 where fid = 1', [own + sent, past])
})
afterAll(() => api.stop())

async function page(path: string) {
  const response = await api.get(path)
  expect(response.status).toBe(200)
  const text = await response.text()
  const ids = [...text.matchAll(/"chain":"(\w+)","chain_id":\d+,"erc8004_id":(\d+)/g)].map(([, ...key]) =>
    key.join(' '),
  )
  return { ids, body: registrationList.parse(JSON.parse(text)), link: response.headers.get('link'), text }
}

async function walk(path: string): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { ids: more, body } = await page(`${path}&cursor=${cursor}`)
    ids.push(...more)
    cursor = body.next_cursor
  }
  return ids
}

test('a profile shows two hundred tokens, those the holder acted on first, and how many there are', async () => {
  const body = profile.parse(await (await api.get('/api/agent/1')).json())
  expect([body.erc8004_total, body.historical_total]).toEqual([own + sent, past])
  expect(body.erc8004_records.length).toBe(200)
  expect(body.erc8004_records.slice(0, 4).map((one) => [one.chain, one.erc8004_id, one.unsolicited])).toEqual([
    ['base', 9_999, false],
    ['gnosis', 7, false],
    ['gnosis', Number(2n ** 256n - 1n), false],
    ['base', 1, true],
  ])
  expect(body.historical_registrations.length).toBe(200)
  const released = body.historical_registrations.map((one) => one.released_at)
  expect(released).toEqual([...released].sort().reverse())
})

test('a URI of more than 8,192 bytes is left out of the profile, with its length, and whole among the registrations', async () => {
  const body = profile.parse(await (await api.get('/api/agent/1')).json())
  expect(body.erc8004_records.slice(0, 2).map((one) => [one.agent_uri?.length ?? null, one.agent_uri_bytes])).toEqual([
    [8_192, 8_192],
    [null, 8_193],
  ])
  const { text } = await page('/api/agent/1/registrations?chain=gnosis')
  expect(text).toContain(`"${'u'.repeat(8_193)}"`)
})

test('a walk over the registrations meets each once, in the order of the profile', async () => {
  const ids = await walk('/api/agent/1/registrations?limit=7')
  expect(ids.length).toBe(own + sent)
  expect(new Set(ids).size).toBe(own + sent)
  expect(ids.slice(0, 4)).toEqual(['base 9999', 'gnosis 7', `gnosis ${2n ** 256n - 1n}`, 'base 1'])
  expect(ids.slice(3)).toEqual(Array.from({ length: sent }, (_, n) => `base ${n + 1}`))
})

test('so does one over those it once held, the last released first', async () => {
  const whole = await walk('/api/agent/1/registrations?state=historical&limit=100')
  const ids = await walk('/api/agent/1/registrations?state=historical&limit=3')
  expect(ids).toEqual(whole)
  expect(new Set(ids).size).toBe(past)
  expect((await walk('/api/agent/1/registrations?state=historical&limit=100&chain=Celo')).length).toBe(past / 2)
})

test('the header names the next page whole, and not on the last one', async () => {
  const first = await page('/api/agent/1/registrations?limit=200&chain=base&chain=Gnosis')
  expect(first.body.count).toBe(100)
  expect(first.link).toBe(
    `<https://api.agents.example/api/agent/1/registrations?state=current&chain=base&chain=gnosis&limit=100&cursor=${first.body.next_cursor}>; rel="next"`,
  )
  const last = await page('/api/agent/1/registrations?chain=gnosis')
  expect([last.body.next_cursor, last.link]).toEqual([null, null])
  expect((await page('/api/agent/2/registrations')).body).toEqual({
    fid: 2,
    state: 'current',
    count: 0,
    registrations: [],
    next_cursor: null,
  })
})

test('a cursor of another list, another filter or of nobody is answered with 404, never with the first page', async () => {
  const { body } = await page('/api/agent/1/registrations?limit=1')
  const cursor = body.next_cursor as string
  const paths = [
    `/api/agent/2/registrations?cursor=${cursor}`,
    `/api/agent/1/registrations?state=historical&cursor=${cursor}`,
    `/api/agent/1/registrations?chain=base&cursor=${cursor}`,
    `/api/agent/1/registrations?cursor=${cursor}*`,
    `/api/agent/1/registrations?cursor=${cursor.slice(2)}`,
    '/api/agent/1/registrations?cursor=%00',
    `/api/agent/1/registrations?cursor=${'A'.repeat(5_000)}`,
  ]
  for (const path of paths)
    expect(await failure(await api.get(path))).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
  expect((await api.get(`/api/agent/1/registrations?cursor=${cursor}&limit=9`)).status).toBe(200)
  expect(await failure(await api.get('/api/agent/77/registrations'))).toMatchObject({ error: 'ERR_NOT_FOUND' })
})

test('a cursor with numbers that no row has is another place in the list', async () => {
  const path = '/api/agent/1/registrations?limit=1'
  const withPlace = (cursor: string, place: string) =>
    Buffer.concat([Buffer.from(cursor, 'base64url').subarray(0, 9), Buffer.from(place)]).toString('base64url')
  const most = '9'.repeat(15)
  const places = {
    current: [`${most} ${most} ${'9'.repeat(78)}`, `${most} 0 0`, `0 ${most} 0`],
    historical: [`${'9'.repeat(17)} ${most} ${'9'.repeat(78)} ${most} ${most}`, `0 ${most} 0 0 ${most}`],
  }
  const counts: Record<string, number[]> = { current: [], historical: [] }
  for (const [state, made] of Object.entries(places)) {
    const cursor = (await page(`${path}&state=${state}`)).body.next_cursor as string
    for (const place of made) {
      const { body } = await page(`${path}&state=${state}&cursor=${withPlace(cursor, place)}`)
      counts[state]?.push(body.count)
    }
  }
  // Past the last chain of those the holder acted on come those it was sent; released in the year 5138 is before all.
  expect(counts).toEqual({ current: [0, 0, 1], historical: [1, 0] })
})

test('of a wallet the log that named it is told: signed by it, or the address that registered', async () => {
  const { pool } = database
  const paid = addressOf('paid')
  const holder = addressOf('holder of wallets')
  await seedAgent(pool, { fid: 5, addresses: [holder], chains: ['celo'] })
  const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
  const keyed = (id: number, key: string) => `celo-${id}-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
  const place = (id: number, block: number) => ({
    id: `celo-${id}-${block}`,
    chain: 'celo',
    agent_id: String(id),
    block_number: block,
    log_index: 4,
    block_timestamp: birth,
    tx_hash: bytes(hashOf(`${id} ${block}`)),
  })
  const named = async (id: number, { wallet, block }: { wallet: string; block: number }) => {
    await seedRegistration(pool, { chain: 'celo', id, owner: holder, wallet })
    await seedHolding(pool, { fid: 5, chain: 'celo', id, by: holder })
    await insert(pool, 'registration_transfer', { ...place(id, 100), from: null, to: bytes(holder) })
    const set = { ...place(id, block), id: keyed(id, 'agentWallet'), key: 'agentWallet', value: bytes(wallet) }
    await insert(pool, 'registration_metadata', set)
    // Another key, which reads the same once characters are gone that no text keeps.
    await insert(pool, 'registration_metadata', { ...set, id: keyed(id, 'agentWallet\uffff'), block_number: 900 })
  }
  await named(1, { wallet: holder, block: 100 })
  await named(2, { wallet: paid, block: 101 })
  await named(3, { wallet: holder, block: 102 }) // after it had been another
  await named(4, { wallet: paid, block: 100 }) // by a contract that agreed while it was minted
  await seedRegistration(pool, { chain: 'celo', id: 5, owner: holder })
  await seedHolding(pool, { fid: 5, chain: 'celo', id: 5, by: holder })
  const { body } = await page('/api/agent/5/registrations?state=current')
  const evidence = body.registrations.map((one) => 'agent_wallet_evidence' in one && one.agent_wallet_evidence)
  const at = (kind: string, id: number, block: number) => {
    return { kind, block_number: block, log_index: 4, tx_hash: hashOf(`${id} ${block}`), set_at: birth.toISOString() }
  }
  expect(evidence).toEqual([
    at('registered', 1, 100),
    at('signed', 2, 101),
    at('signed', 3, 102),
    at('signed', 4, 100),
    null,
  ])
  const [first] = profile.parse(await (await api.get('/api/agent/5')).json()).erc8004_records
  expect(first).not.toHaveProperty('agent_wallet_evidence')
  const shown = await (await api.get('/agent/5')).text()
  const said = [...shown.matchAll(/<dt>Wallet<\/dt><dd>(.*?)<\/dd>/gs)].map(([, text = '']) => text)
  expect(said).toHaveLength(3) // the fourth says what the second does, and rests on a signature, too
  for (const [n, words] of ['who registered, unsigned', 'signed for it', 'signed for it'].entries())
    expect(said[n]).toContain(words)
  expect(said[1]).toContain(hashOf('2 101'))
  expect(said[2]).toContain(hashOf('3 102'))
})
