import { afterAll, beforeAll, expect, test } from 'vitest'
import { rawCid } from '../../devnet/hosts/gateway.ts'
import type { HostFault } from '../../devnet/hosts/host-faults.ts'
import { createTestDatabase, type TestDatabase } from '../tools/database.ts'
import { createClock } from '../tools/enrichment-job.ts'
import { until } from '../tools/until.ts'
import { mint, profileOf, setUri, startAgentsJob, startGateways, startHosts } from './agents-job.ts'

const source = 'agent_uri'
const hour = 3_600_000
const path = '/agent.json'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** Each test has tokens and FIDs of its own. */
let nextId = 1
const newId = () => nextId++
const clock = createClock('2026-06-01T00:00:00Z')

async function documentOf(id: number) {
  const { rows } = await database.pool.query(
    `select uri_status, name, description, active, x402_support, services, supported_trust
       from registration_document where agent_id = $1`,
    [id],
  )
  return rows[0]
}

async function stateOf(id: number) {
  const { rows } = await database.pool.query(
    `select due_at, priority, last_attempt_at, last_success_at, last_outcome, failures
       from source_state where source = $1 and subject = $2`,
    [source, `token:base:${id}`],
  )
  return rows[0]
}

test('a verified token is read first, its record fills, and its agent changes once', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const [mine, other] = [newId(), newId()]
  host.pages.set(path, {
    body: { name: 'Ada', services: [{ name: 'A2A', endpoint: `${host.url}/a2a` }], active: true },
  })
  await mint(pool, { id: mine, fid: mine, uri: `${host.url}${path}` })
  await mint(pool, { id: other, uri: `${host.url}/other.json` })
  await job.join()
  expect((await profileOf(pool, mine)).erc8004_records[0]).toMatchObject({ uri_status: 'pending', name: null })
  expect([(await stateOf(mine)).priority, (await stateOf(other)).priority]).toEqual([2, 0])

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
  expect((await documentOf(id)).name).toBe('second')
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
    expect([status, (await documentOf(id)).uri_status, await stateOf(id)]).toEqual([status, status, undefined])
  }
})

test('a registration without a URI is never a subject; one whose URI is taken away becomes empty', async () => {
  const { pool } = database
  const job = startAgentsJob({ database, clock, hosts: [] })
  const [never, once] = [newId(), newId()]
  await mint(pool, { id: never, fid: never, uri: '' })
  await mint(pool, { id: once, fid: once, uri: '{"name":"once"}' })
  await job.join()
  await job.read(source)
  expect([await stateOf(never), (await documentOf(once)).name]).toEqual([undefined, 'once'])

  await setUri(pool, once, '')
  await job.join()
  await job.read(source)
  expect(await documentOf(once)).toMatchObject({ uri_status: 'empty', name: null })
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

test('no misbehaviour of a host clears what is known or holds up the others', { timeout: 120_000 }, async () => {
  const { pool } = database
  const faults: readonly [HostFault, string, 'unreachable' | 'invalid' | 'ok'][] = [
    [{ kind: 'rate-limited', retryAfter: 600 }, 'postponed', 'ok'],
    [{ kind: 'status', status: 503, retryAfter: 600 }, 'postponed', 'ok'],
    [{ kind: 'status', status: 500 }, 'unreachable', 'unreachable'],
    [{ kind: 'status', status: 404 }, 'unreachable', 'unreachable'],
    [{ kind: 'hang' }, 'unreachable', 'unreachable'],
    [{ kind: 'drip' }, 'unreachable', 'unreachable'],
    [{ kind: 'cut' }, 'unreachable', 'unreachable'],
    [{ kind: 'truncated' }, 'unreachable', 'unreachable'],
    [{ kind: 'redirect-loop' }, 'unreachable', 'unreachable'],
    [{ kind: 'half-json' }, 'invalid', 'invalid'],
    [{ kind: 'html' }, 'invalid', 'invalid'],
    [{ kind: 'wrong-schema' }, 'invalid', 'invalid'],
    [{ kind: 'huge', bytes: 50 * 1024 * 1024 }, 'invalid', 'invalid'],
    [{ kind: 'bomb' }, 'invalid', 'invalid'],
  ]
  const hosts = await startHosts(faults.length + 1)
  const job = startAgentsJob({ database, clock, hosts })
  const ids = hosts.map(() => newId())
  for (const [index, host] of hosts.entries()) {
    host.pages.set(path, { body: { name: `agent ${index}`, supportedTrust: ['reputation'] } })
    await mint(pool, { id: ids[index]!, fid: ids[index]!, uri: `${host.url}${path}` })
  }
  await job.join()
  await job.read(source)

  for (const [index, [fault]] of faults.entries()) hosts[index]!.faults.add(fault, { times: Number.POSITIVE_INFINITY })
  hosts.at(-1)!.pages.set(path, { body: { name: 'well' } })
  const at = clock.pass(27 * hour)
  await job.read(source)
  expect((await documentOf(ids.at(-1)!)).name).toBe('well')
  for (const [index, [fault, outcome, status]] of faults.entries()) {
    const state = await stateOf(ids[index]!)
    const document = await documentOf(ids[index]!)
    expect({ fault: fault.kind, ...state, ...document }).toMatchObject({
      fault: fault.kind,
      last_attempt_at: at,
      last_outcome: outcome,
      failures: outcome === 'postponed' ? 0 : 1,
      uri_status: status,
      name: `agent ${index}`,
      supported_trust: ['reputation'],
    })
    expect(state.last_success_at.getTime()).toBeLessThan(at.getTime())
  }

  for (const host of hosts) host.faults.clear()
  clock.pass(24 * hour)
  await job.read(source)
  expect((await Promise.all(ids.map(documentOf))).map(({ uri_status }) => uri_status)).toEqual(ids.map(() => 'ok'))
})

test('content comes from whichever gateway has it, and not from one that sends something else', async () => {
  const { pool } = database
  const gateways = await startGateways(3)
  const job = startAgentsJob({
    database,
    clock,
    hosts: gateways,
    env: { IPFS_GATEWAYS: gateways.map(({ url }) => url).join(',') },
  })
  const [silent, lying, good] = gateways as [(typeof gateways)[0], (typeof gateways)[0], (typeof gateways)[0]]
  const cid = good.add('{"name":"from the third"}')
  silent.faults.add({ kind: 'hang' }, { times: Number.POSITIVE_INFINITY })
  lying.pages.set(`/ipfs/${cid}`, { body: { name: 'a lie' } })
  const [id, missing] = [newId(), newId()]
  await mint(pool, { id, fid: id, uri: `ipfs://${cid}` })
  await job.join()
  await job.read(source)
  expect(await documentOf(id)).toMatchObject({ uri_status: 'ok', name: 'from the third' })
  expect(await stateOf(id)).toBeUndefined()

  silent.faults.clear()
  await mint(pool, { id: missing, fid: missing, uri: `ipfs://${rawCid('nowhere')}` })
  await job.join()
  await job.read(source)
  expect(await documentOf(missing)).toMatchObject({ uri_status: 'unreachable', name: null })
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
  expect([await stateOf(id), await documentOf(id)]).toEqual([undefined, undefined])
})

test('a URI that changes while it is being read is read anew, and the old answer is not stored', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const id = newId()
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  host.pages.set('/old.json', () => released.then(() => ({ body: { name: 'old' } })))
  host.pages.set('/new.json', { body: { name: 'new' } })
  await mint(pool, { id, fid: id, uri: `${host.url}/old.json` })
  await job.join()
  const reading = job.read(source)
  await until('the old URI is asked for', () => host.requests.some((request) => request.path === '/old.json'))
  await setUri(pool, id, `${host.url}/new.json`)
  await job.join()
  release()
  expect(await reading).toEqual(['lease_lost', 'ok'])
  expect((await documentOf(id)).name).toBe('new')
})

test('several workers share the tokens: each is asked for once', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const workers = Array.from({ length: 3 }, () => startAgentsJob({ database, clock, hosts: [host] }))
  const ids = Array.from({ length: 60 }, newId)
  for (const id of ids) {
    host.pages.set(`/${id}.json`, { body: { name: `agent ${id}` } })
    await mint(pool, { id, uri: `${host.url}/${id}.json` })
  }
  await workers[0]!.join()
  await Promise.all(workers.map((worker) => worker.read(source)))
  expect(host.requests.map((request) => request.path).sort()).toEqual(ids.map((id) => `/${id}.json`).sort())
  expect((await Promise.all(ids.map(documentOf))).map(({ name }) => name)).toEqual(ids.map((id) => `agent ${id}`))
})
