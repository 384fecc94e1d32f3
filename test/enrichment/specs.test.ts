import { afterAll, beforeAll, expect, test } from 'vitest'
import { pagesOf } from '../../devnet/hosts/agent-pages.ts'
import type { HostFault } from '../../devnet/hosts/host-faults.ts'
import type { WebHost } from '../../devnet/hosts/web-host.ts'
import { createTestDatabase, type TestDatabase } from '../tools/database.ts'
import { createClock } from '../tools/enrichment-job.ts'
import { mint, profileOf, startAgentsJob, startHosts } from './agents-job.ts'

const source = 'spec_discovery'
const hour = 3_600_000
const day = 24 * hour

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

let nextFid = 1
const newFid = () => nextFid++
const clock = createClock('2026-06-01T00:00:00Z')

/** An agent of the index whose registration names what its host publishes. */
async function publish(host: WebHost, fid: number, { x402 = false, services = ['A2A', 'MCP'] } = {}) {
  const endpoints = { A2A: '/.well-known/agent-card.json', MCP: '/mcp', web: '/' }
  const registration = {
    name: `agent ${fid}`,
    services: services.map((name) => ({ name, endpoint: `${host.url}${endpoints[name as keyof typeof endpoints]}` })),
  }
  const tokens = [{ chain: 'base', agentId: fid }] as const
  const pages = pagesOf({ name: `agent ${fid}`, description: '', url: host.url, registration, tokens, x402 })
  for (const [path, page] of pages) host.pages.set(path, page)
  await mint(database.pool, { id: fid, fid, uri: JSON.stringify(registration) })
}

const specsOf = async (fid: number) => {
  const { agent_specs, spec_check_status, last_seen_at, last_spec_discovery_at } = await profileOf(database.pool, fid)
  return { ...agent_specs, spec_check_status, last_seen_at, last_spec_discovery_at }
}
type Shown = { kind: string; last_check_status: string }
const statuses = ({ documents }: { documents: Shown[] }) =>
  documents.map(({ kind, last_check_status }) => `${kind} ${last_check_status}`)

test('an agent’s documents are found where it says and where they usually lie, and its profile shows them', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = newFid()
  await publish(host, fid, { x402: true })
  await job.join()
  expect(await specsOf(fid)).toMatchObject({ spec_check_status: 'unchecked', last_check_at: null, documents: [] })
  await job.read('agent_uri')
  await job.join()
  expect(await job.read(source)).toContain('ok')
  await job.join()

  const at = clock.now().toISOString()
  const shown = await specsOf(fid)
  expect(shown).toMatchObject({
    spec_check_status: 'found',
    last_alive_at: at,
    last_check_at: at,
    last_check_status: 'ok',
    last_seen_at: at,
    last_spec_discovery_at: at,
  })
  expect(statuses(shown)).toEqual(['a2a ok', 'mcp auth_required', 'openapi ok', 'x402 ok'])
  expect(shown.documents[0]).toEqual({
    kind: 'a2a',
    url: `${host.url}/.well-known/agent-card.json`,
    version: '1.0.0',
    title: `agent ${fid}`,
    skills: ['Answer questions', 'Quote a price'],
    tools: [],
    path_count: null,
    domain_verified: true,
    content_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    first_seen_at: at,
    last_alive_at: at,
    last_check_at: at,
    last_check_status: 'ok',
    http_status: 200,
    latency_ms: expect.any(Number),
    consecutive_failures: 0,
  })
  expect(shown.documents[2]).toMatchObject({ title: `agent ${fid} API`, path_count: 2 })
  const { rows } = await database.pool.query('select has_spec from agent where fid = $1', [fid])
  expect(rows).toEqual([{ has_spec: true }])
})

test('an unchanged document is asked for by its tag, and looking again changes no agent', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = newFid()
  await publish(host, fid)
  for (const _ of [1, 2]) {
    await job.join()
    await job.read('agent_uri')
    await job.read(source)
  }
  await job.join()
  const changes = () => pool.query('select count(*) from agent_change where fid = $1', [fid])
  const before = (await changes()).rows
  const { documents } = await specsOf(fid)

  const at = clock.pass(7 * hour).toISOString()
  await job.read(source)
  await job.join()
  const again = await specsOf(fid)
  expect(again).toMatchObject({ last_alive_at: at, last_seen_at: at })
  expect(again.documents[0]).toMatchObject({ http_status: 304, content_sha256: documents[0].content_sha256 })
  expect((await changes()).rows).toEqual(before)
})

test('a host belongs to an agent only when it lists the agent’s own token', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const [owner, guest] = [newFid(), newFid()]
  await publish(host, owner)
  const services = [{ name: 'A2A', endpoint: `${host.url}/.well-known/agent-card.json` }]
  await mint(database.pool, { id: guest, fid: guest, uri: JSON.stringify({ name: 'guest', services }) })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  expect((await specsOf(owner)).documents[0].domain_verified).toBe(true)
  expect((await specsOf(guest)).documents[0].domain_verified).toBe(false)
})

test('new services are looked at as soon as they are known; what is no longer named is dropped', async () => {
  const { pool } = database
  const [first, second] = (await startHosts(2)) as [WebHost, WebHost]
  const job = startAgentsJob({ database, clock, hosts: [first, second] })
  const fid = newFid()
  await publish(first, fid)
  const settle = async () => {
    for (const _ of [1, 2]) {
      await job.join()
      await job.read('agent_uri')
      await job.read(source)
    }
    await job.join()
  }
  await settle()
  second.pages.set('/card.json', { body: { name: 'moved', url: second.url, skills: [] } })
  const uri = JSON.stringify({ name: 'moved', services: [{ name: 'a2a', endpoint: `${second.url}/card.json` }] })
  await pool.query('update registration set agent_uri = $2 where agent_id = $1', [fid, uri])
  await settle()
  expect((await specsOf(fid)).documents.map(({ url }: { url: string }) => url)).toEqual([`${second.url}/card.json`])
})

test('an agent without services, one whose hosts have nothing, and one whose documents are none are told apart', async () => {
  const [empty, wrong] = (await startHosts(2)) as [WebHost, WebHost]
  const job = startAgentsJob({ database, clock, hosts: [empty, wrong] })
  const cases = {
    not_found: [[], [{ name: 'web', endpoint: empty.url }]],
    invalid: [[{ name: 'A2A', endpoint: `${wrong.url}/card.json` }]],
    unreachable: [[{ name: 'MCP', endpoint: 'https://127.0.0.1/mcp' }]],
  }
  wrong.pages.set('/card.json', { body: '<!doctype html><title>Welcome</title>' })
  const fids: [number, string][] = []
  for (const [status, all] of Object.entries(cases)) {
    for (const services of all) {
      const fid = newFid()
      fids.push([fid, status])
      await mint(database.pool, { id: fid, fid, uri: JSON.stringify({ name: 'x', services }) })
    }
  }
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  await job.join()
  for (const [fid, status] of fids) expect([fid, (await specsOf(fid)).spec_check_status]).toEqual([fid, status])
  expect(statuses(await specsOf(fids[2]![0]))).toEqual(['a2a not_json'])
  expect(statuses(await specsOf(fids[3]![0]))).toEqual(['mcp blocked'])
})

test('no misbehaviour of a host clears what is known or holds up the others', { timeout: 120_000 }, async () => {
  const faults: readonly [HostFault, string | null][] = [
    [{ kind: 'status', status: 500 }, 'http_5xx'],
    [{ kind: 'status', status: 418 }, 'http_4xx'],
    [{ kind: 'hang' }, 'timeout'],
    [{ kind: 'drip' }, 'timeout'],
    [{ kind: 'cut' }, 'connect_error'],
    [{ kind: 'truncated' }, 'connect_error'],
    [{ kind: 'redirect-loop' }, 'redirect_refused'],
    [{ kind: 'half-json' }, 'not_json'],
    [{ kind: 'html' }, 'not_json'],
    [{ kind: 'bomb' }, 'not_json'],
    [{ kind: 'wrong-schema' }, 'schema_mismatch'],
    [{ kind: 'huge', bytes: 50 * 1024 * 1024 }, 'too_large'],
    [{ kind: 'rate-limited', retryAfter: 600 }, null], // nobody was asked
  ]
  const hosts = await startHosts(faults.length + 1)
  const job = startAgentsJob({ database, clock, hosts })
  const fids = hosts.map(() => newFid())
  for (const [index, host] of hosts.entries()) await publish(host, fids[index]!, { services: ['A2A'] })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  const before = await Promise.all(fids.map(specsOf))
  const seenAt = clock.now().toISOString()

  for (const [index, [fault]] of faults.entries()) {
    hosts[index]!.pages.delete('/openapi.json')
    hosts[index]!.faults.add(fault, { times: Number.POSITIVE_INFINITY })
  }
  const at = clock.pass(7 * hour).toISOString()
  await job.read(source)
  await job.join()
  expect(await specsOf(fids.at(-1)!)).toMatchObject({ last_alive_at: at, last_check_status: 'ok' })
  for (const [index, [{ kind }, status]] of faults.entries()) {
    const shown = await specsOf(fids[index]!)
    const { last_check_at, last_check_status, http_status, latency_ms, consecutive_failures, ...kept } =
      before[index].documents[0]
    expect({ fault: kind, ...shown.documents[0] }).toMatchObject({
      ...kept,
      fault: kind,
      last_alive_at: seenAt,
      last_check_at: status ? at : seenAt,
      last_check_status: status ?? 'ok',
      consecutive_failures: status ? 1 : 0,
    })
    expect({ fault: kind, ...shown }).toMatchObject({
      fault: kind,
      last_spec_discovery_at: at,
      spec_check_status: 'found',
      last_alive_at: seenAt,
    })
  }
})

test('documents that stay silent are dead after five failures and three days; one sign of life brings them back', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = newFid()
  await publish(host, fid, { services: ['A2A'] })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  host.faults.add({ kind: 'status', status: 500 }, { times: Number.POSITIVE_INFINITY })
  const seen: string[] = []
  for (let day_ = 1; day_ <= 5; day_++) {
    clock.pass(1.2 * day)
    await job.read(source)
    await job.join()
    const { spec_check_status, documents } = await specsOf(fid)
    seen.push(`${spec_check_status} ${documents.length}`)
  }
  expect(seen).toEqual(['found 2', 'found 2', 'found 2', 'found 2', 'unreachable 1'])

  host.faults.clear()
  clock.pass(8 * day)
  await job.read(source)
  await job.join()
  expect((await specsOf(fid)).spec_check_status).toBe('found')
})

test('an agent that leaves the index leaves no document behind', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = newFid()
  await publish(host, fid)
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  await pool.query('delete from registration_transfer where agent_id = $1', [fid])
  await job.join()
  const { rows } = await pool.query(
    `select (select count(*) from agent_spec where fid = $1) as documents,
            (select count(*) from agent_spec_check where fid = $1) as checks,
            (select count(*) from source_state where source = $2 and subject = 'fid:' || $1) as subjects`,
    [fid, source],
  )
  expect(rows).toEqual([{ documents: 0, checks: 0, subjects: 0 }])
  expect(await profileOf(pool, fid)).toBeUndefined()
})
