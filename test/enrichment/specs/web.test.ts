import { expect, onTestFinished, test } from 'vitest'
import type { Page, WebHost } from '../../../devnet/hosts/web-host.ts'
import { createAgentHosts } from '../../../enrichment/agent-hosts.ts'
import { probe } from '../../../enrichment/specs/probe.ts'
import { createDoor } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import { mint, profileOf, startAgentsJob, startHosts } from '../../derive/agents/job.ts'
import { startApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'

const database = testDatabase()

/** What a look at `/` of the first host comes to; `left`: requests that may be made besides it. */
async function statusAt([host, ...others]: readonly WebHost[], left = 9) {
  const named = host!.name.replace('127.0.0.1', 'localhost')
  const egressAllow = parseEgressAllow([named, ...others.map(({ name }) => name)].join())
  const politeness = { intervalMs: 0, maxWaiting: 100, maxWaitMs: 10_000 }
  const door = createDoor({ userAgent: 'test/1.0 (+https://agents.shop.xyz)', egressAllow, politeness })
  onTestFinished(door.close)
  const hosts = createAgentHosts({ door, egressAllow, now: () => new Date() })
  const url = new URL(`http://${named}/`)
  const candidate = { kind: 'web', url, declared: true, session: false, contradicted: false } as const
  const [check] = await probe(hosts, candidate, undefined, () => left-- > 0)
  return [check.status, check.httpStatus, check.found !== undefined]
}

const html = '<!doctype html><title>Welcome</title>'

test.each<[string, Page]>([
  ['ok', { body: html }],
  ['ok', { body: 'x'.repeat(3_000_000) }],
  ['ok', { status: 204, body: '' }],
  ['auth_required', { status: 401, body: html }],
  ['payment_required', { status: 402, body: {} }],
  ['http_4xx', { status: 403, body: html }],
  ['not_found', { status: 404, body: html }],
  ['http_5xx', { status: 503, body: html }],
])('a web page answers with its status: %s', async (status, page) => {
  const hosts = (await startHosts(1)) as [WebHost]
  hosts[0].pages.set('/', page)
  expect(await statusAt(hosts)).toEqual([status, page.status ?? 200, status === 'ok'])
  expect(hosts[0].requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /'])
})

test('a page that moved to another site is followed as long as that site may be asked', async () => {
  const [host, other] = (await startHosts(2)) as [WebHost, WebHost]
  host.pages.set('/', { status: 301, headers: { location: `${other.url}/new` }, body: '' })
  other.pages.set('/new', { body: html })
  expect(await statusAt([host])).toEqual(['redirect_refused', null, false]) // a private address
  expect(await statusAt([host, other], 0)).toEqual(['redirect_refused', null, false])
  expect(other.requests).toEqual([])
  expect(await statusAt([host, other])).toEqual(['ok', 200, true])
})

test('an agent whose web page answers is alive, found by the protocol, and has no description for it', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [WebHost]
  host.pages.set('/', { body: html })
  const clock = createClock('2026-06-01T00:00:00Z')
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const api = await startApi(database)
  onTestFinished(api.stop)
  const fid = 7
  const services = [{ name: 'web', endpoint: `${host.url}/` }]
  await mint(pool, { id: fid, fid, uri: JSON.stringify({ name: 'Ada', services }) })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  const look = async () => {
    clock.pass(25 * 3_600_000)
    await job.read('spec_discovery')
    await job.join()
    return await profileOf(pool, fid)
  }
  const found = async (query: string) => {
    const { agents } = (await (await api.get(`/api/discovery?${query}`)).json()) as { agents: { fid: number }[] }
    return agents.map((agent) => agent.fid)
  }
  const profile = await look()
  const at = clock.now().toISOString()
  expect(profile).toMatchObject({
    spec_check_status: 'not_found',
    agent_specs: {
      last_alive_at: null,
      last_check_status: null,
      documents: [
        {
          kind: 'web',
          url: `${host.url}/`,
          readable: true,
          content_sha256: null,
          last_alive_at: at,
          answers: { code: 'ok', since: at, latency_ms: expect.any(Number) },
        },
      ],
    },
  })
  expect(await found('protocol=web')).toEqual([fid])
  expect(await found('alive=true')).toEqual([fid])
  expect(await found('spec=true')).toEqual([])
  const facets = (await (await api.get('/api/discovery/facets')).json()) as { protocol: object[] }
  expect(facets.protocol).toEqual([{ value: 'web', count: 1 }])
  const page = await (await api.get(`/agent/${fid}`)).text()
  expect(page).toContain('Web page')

  host.pages.set('/', { status: 500, body: html })
  const lost = await look()
  expect(lost.agent_specs.documents).toMatchObject([
    { readable: false, consecutive_failures: 1, answers: { code: 'http_5xx', since: clock.now().toISOString() } },
  ])
  expect(await found('alive=false')).toEqual([fid])
  const { findings } = (await (await api.get(`/api/agent/${fid}/doctor`)).json()) as { findings: { code: string }[] }
  expect(findings.map(({ code }) => code)).toContain('http_5xx')
})
