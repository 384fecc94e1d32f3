import { expect, onTestFinished, test } from 'vitest'
import type { SpecDetails } from '../../../db/queries/sources/agent-specs.ts'
import type { Page, WebHost } from '../../../devnet/hosts/web-host.ts'
import { type AgentHosts, createAgentHosts } from '../../../enrichment/agent-hosts.ts'
import { createAnswers } from '../../../enrichment/specs/answers/answers.ts'
import type { SpecKind } from '../../../enrichment/specs/kinds.ts'
import { createDoor } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import { publish, specsOf, startAgentsJob, startHosts } from '../../derive/agents/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'

const database = testDatabase()

type Place = Partial<NonNullable<SpecDetails['interfaces']>[number]>

/** Code of the answer at places that a document of a host names; `left`: requests that may be made. */
async function codeOf(
  host: WebHost,
  kind: SpecKind,
  places: readonly Place[],
  left = 9,
  others = '',
  through = (agentHosts: AgentHosts) => agentHosts,
) {
  const egressAllow = parseEgressAllow(`${host.name}${others}`)
  const politeness = { intervalMs: 0, maxWaiting: 100, maxWaitMs: 10_000 }
  const door = createDoor({ userAgent: 'test/1.0 (+https://agents.shop.xyz)', egressAllow, politeness })
  onTestFinished(door.close)
  const hosts = createAgentHosts({ door, egressAllow, now: () => new Date() })
  const answers = createAnswers({ hosts: through(hosts), spend: () => left-- > 0 })
  const candidate = { kind, url: new URL(`${host.url}/doc`), declared: false, session: false, contradicted: false }
  const interfaces = places.map((place) => ({ url: '/a2a', name: null, binding: null, version: null, ...place }))
  const check = { candidate, status: 'ok', httpStatus: 200, latencyMs: 3 } as const
  return (await answers(check, { interfaces }))?.code
}

const rpc = (error: object): Page => ({ body: { jsonrpc: '2.0', id: 1, error } })
const missing = { code: -32001, message: 'Task not found' }

test('an answer that its reader fails at is one of another form', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  host.pages.set('/a2a', rpc(missing))
  const throwing = (hosts: AgentHosts): AgentHosts => ({
    ...hosts,
    fetch: async (url, options) =>
      Object.defineProperty({ ...(await hosts.fetch(url, options)) }, 'body', { get: () => String({ toString: 1 }) }),
  })
  expect(await codeOf(host, 'a2a', [{}], 9, '', throwing)).toBe('schema_mismatch')
})

test('an agent answers when it says that it has no such task, in the version and the binding that its card names', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const asked: string[] = []
  host.pages.set('/a2a', (_method, body) => {
    const { method } = JSON.parse(body)
    asked.push(method)
    return rpc(method === 'GetTask' ? missing : { code: -32601, message: 'unknown' })
  })
  expect(await codeOf(host, 'a2a', [{ version: '1.0' }])).toBe('ok')
  expect(host.requests.at(-1)?.headers['a2a-version']).toBe('1.0')
  // One that says 0.3 and speaks 1.0 is asked again.
  expect(await codeOf(host, 'a2a', [{ binding: 'JSONRPC', version: '0.3.0' }])).toBe('ok')
  expect(asked).toEqual(['GetTask', 'tasks/get', 'GetTask'])
  expect(new Set(host.requests.map(({ method }) => method))).toEqual(new Set(['POST']))

  const other = host.pages
  const rest: Page = { status: 404, body: { error: { code: 404, details: [{ reason: 'TASK_NOT_FOUND' }] } } }
  host.pages.get('/a2a')
  for (const [version, prefix] of [
    ['1.0', ''],
    ['0.3', '/v1'],
  ] as const) {
    host.faults.clear()
    expect(await codeOf(host, 'a2a', [{ url: '/rest', binding: 'HTTP+JSON', version }])).toBe('not_found')
    const path = new RegExp(`^/rest${prefix}/tasks/[0-9a-f-]{36}$`)
    expect(host.requests.at(-1)?.path).toMatch(path)
  }
  const get = other.get.bind(other)
  other.get = (path: string) => (path.startsWith('/rest/tasks/') ? rest : get(path))
  expect(await codeOf(host, 'a2a', [{ url: '/rest', binding: 'REST', version: '1.0' }])).toBe('ok')
})

test.each<[string, Page | undefined]>([
  ['not_found', undefined],
  ['http_5xx', { status: 502, body: '' }],
  ['auth_required', { status: 401, body: 'who are you?' }],
  ['payment_required', { status: 402, body: {} }],
  ['not_json', { body: '<!doctype html><title>Welcome</title>' }],
  ['schema_mismatch', { body: { hello: 'world' } }],
  ['schema_mismatch', rpc({ code: -32601, message: 'unknown' })],
  ['ok', rpc({ code: -32603, message: 'Task 7 was not found' })],
  ['ok', { status: 404, body: { jsonrpc: '2.0', id: 1, error: missing } }],
])('an agent at whose address there is something else does not answer: %s', async (code, page) => {
  const [host] = (await startHosts(1)) as [WebHost]
  if (page) host.pages.set('/a2a', page)
  expect(await codeOf(host, 'a2a', [{}])).toBe(code)
})

test('what is sold answers with the 402 itself, an API with anything, and what cannot be asked is not', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  host.pages.set('/pay', (method, body) => ({ status: method === 'POST' && body === '{}' ? 402 : 405, body: {} }))
  host.pages.set('/free', { body: {} })
  expect(await codeOf(host, 'x402', [{ url: '/pay', binding: 'POST' }])).toBe('payment_required')
  expect(await codeOf(host, 'x402', [{ url: '/pay' }])).toBe('http_4xx')
  expect(await codeOf(host, 'x402', [{ url: '/free' }])).toBe('schema_mismatch')
  expect(await codeOf(host, 'x402', [{ url: '/users/:id' }, { url: '/pay', binding: 'POST' }])).toBe('payment_required')
  expect(await codeOf(host, 'openapi', [{ url: '/gone' }])).toBe('ok')
  const before = host.requests.length
  expect(await codeOf(host, 'x402', [{ url: '/pay', binding: 'DELETE' }])).toBe('not_asked')
  expect(await codeOf(host, 'a2a', [{ url: '/{tenant}/a2a' }, { binding: 'GRPC' }])).toBe('not_asked')
  expect(await codeOf(host, 'a2a', [])).toBe('not_asked')
  expect(await codeOf(host, 'openapi', [])).toBe('ok')
  expect(await codeOf(host, 'a2a', [{}], 0)).toBeUndefined()
  expect(await codeOf(host, 'a2a', [{ url: 'http://169.254.169.254/a2a' }])).toBe('not_asked')
  expect(host.requests.length).toBe(before)
})

test('a document has nothing sent to another site, and each request of a conversation counts', async () => {
  const [host, victim] = (await startHosts(2)) as [WebHost, WebHost]
  const other = `localhost:${victim.name.split(':').at(-1)}`
  victim.pages.set('/any/path', rpc(missing))
  for (const kind of ['a2a', 'mcp', 'x402', 'openapi'] as const)
    expect(await codeOf(host, kind, [{ url: `http://${other}/any/path`, binding: 'POST' }], 9, `,${other}`)).toBe(
      'not_asked',
    )
  expect(victim.requests).toEqual([])
  host.pages.set('/a2a', rpc({ code: -32601, message: 'unknown' }))
  expect(await codeOf(host, 'a2a', [{}], 1)).toBeUndefined()
  expect(host.requests).toHaveLength(1)
  expect(await codeOf(host, 'a2a', [{}], 2)).toBe('schema_mismatch')
  expect(host.requests).toHaveLength(3)
})

test('a card alone is not alive: every document says whether it can be read, and whether what it describes answers', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [WebHost]
  const clock = createClock('2026-06-01T00:00:00Z')
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = 1
  await publish(pool, host, fid, { x402: true })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  const look = async () => {
    clock.pass(7 * 3_600_000)
    await job.read('spec_discovery')
    await job.join()
    const { documents } = await specsOf(pool, fid)
    return Object.fromEntries(documents.map((one: { kind: string }) => [one.kind, one]))
  }
  const probe = async () => {
    const { rows } = await pool.query(
      `select alive, status, answers from spec_probe where fid = $1 and kind = 'a2a' order by checked_at desc limit 1`,
      [fid],
    )
    return rows[0]
  }
  const first = await look()
  const at = clock.now().toISOString()
  const code = (kind: string) => first[kind].answers.code
  expect(['a2a', 'mcp', 'openapi', 'x402'].map(code)).toEqual(['ok', 'auth_required', 'ok', 'payment_required'])
  expect(first.a2a).toMatchObject({
    readable: true,
    answers: { code: 'ok', since: at, latency_ms: expect.any(Number) },
  })
  expect(first.mcp).toMatchObject({ readable: false, last_alive_at: at })
  expect(await probe()).toEqual({ alive: true, status: 'ok', answers: 'ok' })

  // The card stays readable while nobody is there any more; all that is said of the card stays as it was.
  const answering = host.pages.get('/a2a')!
  host.pages.delete('/a2a')
  const second = await look()
  const lost = clock.now().toISOString()
  expect(second.a2a).toMatchObject({
    readable: true,
    last_check_status: 'ok',
    last_alive_at: lost,
    consecutive_failures: 0,
    answers: { code: 'not_found', since: lost },
  })
  expect(await probe()).toEqual({ alive: false, status: 'ok', answers: 'not_found' })
  expect((await look()).a2a.answers).toMatchObject({ code: 'not_found', since: lost })

  // An agent whose card is gone for a while can still answer where it said.
  host.pages.set('/a2a', answering)
  host.pages.delete('/.well-known/agent-card.json')
  const back = clock.now()
  expect((await look()).a2a).toMatchObject({ readable: false, answers: { code: 'ok', since: expect.any(String) } })
  expect(clock.now().getTime()).toBeGreaterThan(back.getTime())
})
