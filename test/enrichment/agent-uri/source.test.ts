import { expect, test } from 'vitest'
import { documentOf, mint, profileOf, setUri, startAgentsJob, startHosts, stateOf } from '../../derive/agents/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { addressOf, birth, hashOf, insert } from '../../support/seed.ts'

const source = 'agent_uri'
const hour = 3_600_000
const path = '/agent.json'

const database = testDatabase()

/** Next agent id and FID: each test has its own. */
let nextId = 1
const newId = () => nextId++
const clock = createClock('2026-06-01T00:00:00Z')

test('a verified token is read first, its record fills, and its agent changes once', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const mine = newId()
  const other = newId()
  host.pages.set(path, {
    body: { name: 'Ada', services: [{ name: 'A2A', endpoint: `${host.url}/a2a` }], active: true },
  })
  await mint(pool, { id: mine, fid: mine, uri: `${host.url}${path}` })
  await mint(pool, { id: other, uri: `${host.url}/other.json` })
  await job.join()
  expect((await profileOf(pool, mine)).erc8004_records[0]).toMatchObject({ uri_status: 'pending', name: null })
  expect([(await stateOf(pool, mine)).priority, (await stateOf(pool, other)).priority]).toEqual([2, 0])

  expect(await job.read(source)).toEqual(expect.arrayContaining(['ok', 'unreachable']))
  await job.join()
  expect((await profileOf(pool, mine)).erc8004_records[0]).toMatchObject({
    uri_status: 'ok',
    name: 'Ada',
    active: true,
    x402_support: null,
    services: [{ name: 'A2A', endpoint: `${host.url}/a2a`, version: null }],
  })
  const { rows } = await pool.query('select kind from agent_change where fid = $1', [mine])
  expect(rows).toHaveLength(2) // listed, and filled
})

test('an unchanged file is asked for by its tag and writes nothing; a changed one is taken over', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const id = newId()
  host.pages.set(path, { body: { name: 'first' } })
  await mint(pool, { id, fid: id, uri: `${host.url}${path}` })
  await job.join()
  await job.read(source)
  const version = () => pool.query('select xmin::text from registration_document where agent_id = $1', [id])
  const before = await version()

  clock.pass(27 * hour)
  expect(await job.read(source)).toContain('ok')
  expect(host.requests.at(-1)?.headers['if-none-match']).toMatch(/^"\w+"$/)
  expect((await version()).rows).toEqual(before.rows)

  host.pages.set(path, { body: { name: 'second' } })
  clock.pass(27 * hour)
  await job.read(source)
  expect((await documentOf(pool, id)).name).toBe('second')
})

test('a file speaks for the host of its address only while that host itself sends it', async () => {
  const { pool } = database
  type Host = Awaited<ReturnType<typeof startHosts>>[number]
  const [host, elsewhere] = (await startHosts(2)) as [Host, Host]
  const job = startAgentsJob({ database, clock, hosts: [host, elsewhere] })
  const id = newId()
  const isOwn = async () => {
    clock.pass(27 * hour)
    await job.read(source)
    const { rows } = await pool.query('select uri_status, own_origin from registration_document where agent_id = $1', [
      id,
    ])
    return [rows[0].uri_status, rows[0].own_origin]
  }
  const own = { body: { name: 'Ada' } }
  elsewhere.pages.set(path, { ...own, headers: { etag: '"of robots.txt"' } })
  host.pages.set(path, { status: 302, headers: { location: `${elsewhere.url}${path}` }, body: '' })
  await mint(pool, { id, fid: id, uri: `${host.url}${path}` })
  await job.join()
  expect(await isOwn()).toEqual(['ok', false])
  expect(await isOwn()).toEqual(['ok', false])
  host.pages.set('/robots.txt', { status: 304, body: '' })
  elsewhere.pages.set(path, { status: 302, headers: { location: `${host.url}/robots.txt` }, body: '' })
  expect(await isOwn()).toEqual(['unreachable', false])
  elsewhere.pages.set(path, own)
  host.pages.set('/inside.json', own)
  host.pages.set(path, { status: 302, headers: { location: '/inside.json' }, body: '' })
  expect(await isOwn()).toEqual(['ok', true])
  host.pages.set(path, { status: 302, headers: { location: `${elsewhere.url}${path}` }, body: '' })
  expect(await isOwn()).toEqual(['ok', false])
  host.pages.set(path, own)
  expect(await isOwn()).toEqual(['ok', true])
  host.pages.delete(path)
  expect(await isOwn()).toEqual(['unreachable', true])
})

test('a host that answers 304 though no version was named has not been read', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const never = newId()
  const before = newId()
  const nothingNew = { status: 304, body: '' }
  host.pages.set(path, { headers: { etag: '' }, body: { name: 'before' } })
  host.pages.set('/304.json', nothingNew)
  await mint(pool, { id: never, fid: never, uri: `${host.url}/304.json` })
  await mint(pool, { id: before, fid: before, uri: `${host.url}${path}` })
  await job.join()
  expect((await job.read(source)).toSorted()).toEqual(['ok', 'unreachable'])
  expect(await documentOf(pool, never)).toMatchObject({ uri_status: 'unreachable', name: null })
  expect(await documentOf(pool, before)).toMatchObject({ uri_status: 'ok', name: 'before' })

  host.pages.set(path, nothingNew)
  clock.pass(27 * hour)
  await job.read(source)
  expect(await documentOf(pool, before)).toMatchObject({ uri_status: 'unreachable', name: 'before' })
  host.pages.set(path, { body: { name: 'before' } })
  clock.pass(27 * hour)
  await job.read(source)
  expect(await documentOf(pool, before)).toMatchObject({ uri_status: 'ok', name: 'before' })

  await setUri(pool, before, `${host.url}/304.json`)
  await job.join()
  expect(await job.read(source)).toEqual(['unreachable'])
  expect(await documentOf(pool, before)).toMatchObject({ uri_status: 'unreachable', name: 'before' })
})

test('whatever the URI holds itself is read without a request and never again', async () => {
  const { pool } = database
  const job = startAgentsJob({ database, clock, hosts: [] })
  const cases = {
    ok: 'data:application/json;base64,eyJuYW1lIjoiYjY0In0=',
    invalid: 'data:application/json,{"name":',
    empty: 'data:application/json,{}',
    unsupported: 'did:web:agents.shop.xyz',
  }
  const ids = Object.entries(cases).map(([status, uri]) => ({ status, uri, id: newId() }))
  for (const { id, uri } of ids) await mint(pool, { id, fid: id, uri })
  await job.join()
  await job.read(source)
  for (const { id, status } of ids) {
    expect([status, (await documentOf(pool, id)).uri_status, await stateOf(pool, id)]).toEqual([
      status,
      status,
      undefined,
    ])
  }
})

test('a registration without a URI is never a subject; one whose URI is taken away becomes empty', async () => {
  const { pool } = database
  const job = startAgentsJob({ database, clock, hosts: [] })
  const never = newId()
  const once = newId()
  await mint(pool, { id: never, fid: never, uri: '' })
  await mint(pool, { id: once, fid: once, uri: '{"name":"once"}' })
  await job.join()
  await job.read(source)
  expect([await stateOf(pool, never), (await documentOf(pool, once)).name]).toEqual([undefined, 'once'])

  await setUri(pool, once, '')
  await job.join()
  await job.read(source)
  expect(await documentOf(pool, once)).toMatchObject({ uri_status: 'empty', name: null })
})

test('a new URI shows as pending until it is read; when it cannot be, the content before it stays', async () => {
  const { pool } = database
  const job = startAgentsJob({ database, clock, hosts: [] })
  const id = newId()
  await mint(pool, { id, fid: id, uri: '{"name":"before"}' })
  await job.join()
  await job.read(source)
  await setUri(pool, id, 'https://127.0.0.1/agent.json')
  await job.join()
  const record = async () => (await profileOf(pool, id)).erc8004_records[0]
  expect(await record()).toMatchObject({ uri_status: 'pending', name: 'before' })
  expect(await job.read(source)).toEqual(['unreachable'])
  await job.join()
  expect(await record()).toMatchObject({ uri_status: 'unreachable', name: 'before' })
})

test('a registration that a reorganisation undid leaves no document', async () => {
  const { pool } = database
  const job = startAgentsJob({ database, clock, hosts: [] })
  const id = newId()
  await mint(pool, { id, fid: id, uri: 'https://127.0.0.1/agent.json' })
  await job.join()
  await job.read(source)
  await pool.query('delete from registration where agent_id = $1', [id])
  await pool.query('delete from registration_transfer where agent_id = $1', [id])
  await job.join()
  clock.pass(2 * hour)
  expect(await job.read(source)).toContain('gone')
  expect([await stateOf(pool, id), await documentOf(pool, id)]).toEqual([undefined, undefined])
})

test('the newest reading of a token’s document is a success of its agent, settled or not', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const enrichedAt = async () => (await profileOf(pool, 901)).last_enriched_at
  await mint(pool, { id: 901, fid: 901, uri: 'data:,{"name":"inline"}' })
  await job.join()
  expect(await enrichedAt()).toBeNull()
  await job.read('agent_uri')
  const settledAt = clock.now().toISOString()
  expect(await enrichedAt()).toBe(settledAt)

  clock.pass(60_000)
  await setUri(pool, 901, `${host.url}/file.json`)
  await job.join()
  await job.read('agent_uri') // the host has no such page
  expect(await enrichedAt()).toBe(settledAt)
  host.pages.set('/file.json', { body: { name: 'served' } })
  for (let time = 0; time < 2; time++) {
    const at = clock.pass(8 * 86_400_000).toISOString()
    await job.read('agent_uri')
    expect(await enrichedAt()).toBe(at)
  }
})

test('addresses of a host that strangers name close it for none of its agents', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const mine = newId()
  host.pages.set(path, { body: { name: 'Ada' } })
  host.faults.add({ kind: 'cut' }, { times: Number.POSITIVE_INFINITY, path: '/elsewhere' })
  const elsewhere = `${host.url}/elsewhere`
  // An agent's by the address that it was sent to, and nobody's.
  for (const fid of [...Array(5).fill(mine), ...Array(5).fill(undefined)] as (number | undefined)[]) {
    const id = newId()
    await mint(pool, { id, fid, uri: elsewhere })
    if (fid === undefined) continue
    await pool.query('delete from registration_transfer where agent_id = $1', [id])
    const owner = addressOf(`wallet of ${fid}`)
    for (const [log, from, to] of [
      [1, null, addressOf('stranger')],
      [2, addressOf('stranger'), owner],
    ] as const)
      await insert(pool, 'registration_transfer', {
        id: `base-sent-${id}-${log}`,
        chain: 'base',
        agent_id: id,
        from: from && Buffer.from(from.slice(2), 'hex'),
        to: Buffer.from(to.slice(2), 'hex'),
        block_number: 100,
        log_index: 100 * id + log,
        block_timestamp: birth,
        tx_hash: Buffer.from(hashOf(`sent ${id} ${log}`).slice(2), 'hex'),
      })
  }
  await job.join()
  expect((await job.read(source)).filter((outcome) => outcome === 'unreachable')).toHaveLength(10)
  await mint(pool, { id: mine, fid: mine, uri: `${host.url}${path}` })
  await job.join()
  expect(await job.read(source)).toEqual(['ok'])
  expect(await documentOf(pool, mine)).toMatchObject({ uri_status: 'ok', name: 'Ada' })
})
