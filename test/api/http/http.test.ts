import { connect } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorTable } from '../../../api/http/errors.ts'
import { errorBody } from '../../../api/schemas/error.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, seedAgent } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database)
  await seedAgent(database.pool, { fid: 1, bio: 'long enough to be worth compressing '.repeat(20) })
})
afterAll(() => api.stop())

/** Sends bytes as they are and reads until the server closes. */
function raw(text: string, { url } = api): Promise<{ status: number; headers: string; body: string }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [headers = '', body = ''] = answer.split(/\r\n\r\n(.*)/s)
      resolve({ status: Number(headers.split(' ')[1]), headers, body })
    })
  })
}
const request = (line: string, ...headers: string[]) =>
  raw([line, 'Host: api', 'Connection: close', ...headers, '', ''].join('\r\n'))

/** Checks an error answer: the code with its listed status, `no-store`, and a request id. */
function expectError({ status, headers, body }: { status: number; headers: string; body: string }, code: string) {
  const parsed = errorBody.parse(JSON.parse(body))
  expect([parsed.error, status]).toEqual([code, errorTable[parsed.error].status])
  expect(headers).toMatch(/^content-type: application\/json; charset=utf-8$/im)
  expect(headers).toMatch(/^cache-control: no-store$/im)
  expect(headers).toMatch(/^x-request-id: [0-9a-f-]{36}$/im)
}

test.each([
  '0',
  '00',
  '-1',
  '+1',
  '1.0',
  '1e3',
  '0x10',
  'abc',
  '1a',
  '%20',
  '1%20',
  '%00',
  '1%00',
  '%D9%A3',
  '%E0%A4%A',
  '%',
  '%zz',
  'null',
  '1,2',
  '..%2f1',
  '%F0%9F%91%8D',
  '%09',
  '%EF%BC%91',
])('the fid %j is refused as ERR_FID_INVALID', async (fid) => {
  for (const path of [`/api/agent/${fid}`, `/api/agent/${fid}/settlements`]) {
    expectError(await request(`GET ${path} HTTP/1.1`), 'ERR_FID_INVALID')
  }
})

test.each([
  '0x',
  '0x12',
  'abc',
  `0x${'0'.repeat(39)}`,
  `0x${'0'.repeat(41)}`,
  `0X${'0'.repeat(40)}`,
  '0'.repeat(42),
  `0x${'g'.repeat(40)}`,
  `0x${'0'.repeat(39)}%00`,
  `%20${addressOf('a')}`,
  '%E0%A4%A',
  'vitalik.eth',
])('the address %j is refused as ERR_ADDRESS_MALFORMED', async (address) => {
  expectError(await request(`GET /api/by-address/${address} HTTP/1.1`), 'ERR_ADDRESS_MALFORMED')
})

test('a fid with leading zeros is the same fid', async () => {
  expect(await (await api.get('/api/agent/0001')).json()).toMatchObject({ fid: 1 })
})

test.each(['/api', '/api/', '/api/agent', '/API/agent/1', '/api/agent/1/x', '/%E0%A4%A', '//api/agent/1', '*'])(
  'nothing is at %j',
  async (path) => {
    expectError(await request(`GET ${path} HTTP/1.1`), 'ERR_NOT_FOUND')
  },
)

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'])(
  '%s on a known path finds nothing and is told what is allowed',
  async (method) => {
    const answer = await request(`${method} /api/agent/1 HTTP/1.1`, 'Content-Length: 0')
    expectError(answer, 'ERR_NOT_FOUND')
    expect(answer.headers).toMatch(/^allow: GET, HEAD, OPTIONS$/im)
  },
)

const noHttp = [
  ['a header block above 16 KiB', `GET /api/agent/1 HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ['a URL above 16 KiB', `GET /api/agent/${'1'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a line that is not HTTP', 'hello\r\n\r\n'],
  ['a raw NUL in the path', 'GET /api/agent/\u0000 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a header without a name', 'GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
  [
    'two lengths that differ',
    'POST /api/agent/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
  ],
  ['a tunnel', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
] as const

test.each(noHttp)('%s is refused with the error body', async (_name, text) => {
  const answer = await raw(text)
  expectError(answer, 'ERR_PAYLOAD_INVALID')
  expect(answer.headers).toMatch(/^connection: close$/im)
})

test('all of it is counted, and logged once a minute with its number: no limiter has seen who sends it', async () => {
  const lines: { requestId: string; count: number }[] = []
  const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) })
  const time = { now: 0 }
  const own = await startApi(database, { log, now: () => time.now })
  const answers = []
  for (const [, text] of noHttp) answers.push(await raw(text, own))
  const idOf = ({ headers }: { headers: string }) => /^x-request-id: (.*)$/im.exec(headers)?.[1]
  const [first] = answers
  expect(lines).toMatchObject([{ msg: 'refused', requestId: idOf(first!), code: 'ERR_PAYLOAD_INVALID', count: 1 }])
  time.now = 59_999
  await raw('hello\r\n\r\n', own)
  expect(lines).toHaveLength(1)
  time.now = 60_000
  const last = await raw('hello\r\n\r\n', own)
  expect(lines.slice(1)).toMatchObject([{ requestId: idOf(last), count: noHttp.length + 1 }])
  const metrics = await (await own.get('/metrics')).text()
  await own.stop()
  expect(metrics).toContain(`http_errors_total{code="ERR_PAYLOAD_INVALID"} ${noHttp.length + 2}\n`)
})

test.each([
  ['no Host', ''],
  ['two of them', 'Host: a\r\nhost: a\r\n'],
  ['two that differ', 'Host: a\r\nHost: b\r\n'],
  ['a path in it', 'Host: a/b\r\n'],
  ['a user in it', 'Host: me@a\r\n'],
  ['white space in it', 'Host: a b\r\n'],
  ['a malformed port', 'Host: a:http\r\n'],
  ['half an address', 'Host: [::1\r\n'],
  ['a list', 'Host: a, b\r\n'],
])('HTTP/1.1 with %s is 400, and counts as a request', async (_name, headers) => {
  for (const path of ['/api/agent/1', '/feed.atom', '/docs']) {
    const answer = await raw(`GET ${path} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`)
    expectError(answer, 'ERR_PAYLOAD_INVALID')
    const counted = /^ratelimit: "minute"; r=\d+; t=\d+, "day"; r=\d+; t=\d+$/im
    if (path === '/docs') expect(answer.headers).not.toMatch(counted)
    else expect(answer.headers).toMatch(counted)
  }
  // The connection ends with the answer, though nobody asked for that, and what came behind is not executed.
  for (const path of ['/api/agent/1', '/docs', '/mcp']) {
    const before = await executed()
    const answer = await raw(`GET ${path} HTTP/1.1\r\n${headers}\r\nDELETE /api/agent/1 HTTP/1.1\r\nHost: a\r\n\r\n`)
    expectError(answer, 'ERR_PAYLOAD_INVALID')
    expect(answer.headers).toMatch(/^connection: close$/im)
    expect(answer.body).not.toContain('HTTP/1.1')
    expect((await executed()) - before).toBe(path === '/docs' ? 1 : 2) // the refused one is counted where requests are
  }
})

/** How many requests the limiter has let pass in all, this one too. */
async function executed(): Promise<number> {
  const { headers } = await api.get('/api/agent/1')
  return -Number(/"day"; r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
}

test.each([
  ['HTTP/1.0', 'GET /api/agent/1 HTTP/1.0\r\n\r\n'],
  ['an expectation nobody knows', 'GET /api/agent/1 HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n'],
  [
    'an upgrade nobody offers',
    'GET /api/agent/1 HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: upgrade, close\r\n\r\n',
  ],
  ['an absolute request target', 'GET http://api/api/agent/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  ['a Host with a port', 'GET /api/agent/1 HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n'],
])('a request with %s is answered like any other', async (_name, text) => {
  const answer = await raw(text)
  expect(answer.status).toBe(200)
  expect(JSON.parse(answer.body).fid).toBe(1)
})

test('a 200 may be cached for its time; the answer is JSON and not to be guessed at', async () => {
  const response = await api.get('/api/agent/1')
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'public, max-age=30',
    vary: 'Accept-Encoding, Accept',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  })
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(response.headers.has('x-powered-by')).toBe(false)
})

test('every encoding has a strong tag of its own, and its tag is answered with 304', async () => {
  const tags = new Set<string>()
  for (const encoding of ['identity', 'gzip', 'br']) {
    const response = await api.get('/api/agent/1', { headers: { 'accept-encoding': encoding } })
    expect(response.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding)
    expect(await response.json()).toMatchObject({ fid: 1 })
    const etag = response.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]+"$/)
    tags.add(etag)
    const again = await api.get('/api/agent/1', { headers: { 'accept-encoding': encoding, 'if-none-match': etag } })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    expect(again.headers.get('cache-control')).toBe('public, max-age=30')
    const other = encoding === 'br' ? 'gzip' : 'br'
    const wrong = await api.get('/api/agent/1', { headers: { 'accept-encoding': other, 'if-none-match': etag } })
    expect(wrong.status).toBe(200)
  }
  expect(tags.size).toBe(3)
})

test('HEAD tells what GET would, without the body', async () => {
  const headers = { 'accept-encoding': 'gzip' }
  const [get, head] = await Promise.all(['GET', 'HEAD'].map((method) => api.get('/api/agent/1', { method, headers })))
  const shown = (response: Response | undefined) =>
    Object.fromEntries(
      [...(response?.headers ?? [])].filter(
        ([name]) => !/^(age|date|x-request-id|connection|keep-alive|ratelimit)$/.test(name),
      ),
    )
  expect(shown(head)).toEqual(shown(get))
  expect(await head?.text()).toBe('')
})

test('reads are open to every origin, errors included', async () => {
  for (const path of ['/api/agent/1', '/api/agent/0', '/nowhere']) {
    const response = await api.get(path, { headers: { origin: 'https://elsewhere.example' } })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-expose-headers')).toContain('ETag')
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
  }
})

test.each([
  ['https://agents.example', true],
  ['http://localhost', true],
  ['http://localhost:5173', true],
  ['https://localhost:8443', true],
  ['https://elsewhere.example', false],
  ['https://agents.example.evil.example', false],
  ['http://agents.example', false],
  ['http://localhost.evil.example', false],
  ['http://evil.example/localhost:1', false],
  ['null', false],
])('a preflight from %s is granted: %s', async (origin, granted) => {
  const headers = { origin, 'access-control-request-method': 'POST' }
  const response = await api.get('/api/agent/1', { method: 'OPTIONS', headers })
  expect(response.status).toBe(204)
  expect(response.headers.get('access-control-allow-origin')).toBe(granted ? origin : null)
  expect(response.headers.has('access-control-allow-methods')).toBe(granted)
  expect(response.headers.get('vary')).toContain('Origin')
  expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
})

test('ids of requests are all different, whatever the client sends', async () => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const response = await api.get('/healthz', { headers: { 'x-request-id': 'mine' } })
      return response.headers.get('x-request-id')
    }),
  )
  expect(new Set(ids).size).toBe(20)
})

test('the operator sees that the process lives, can serve, and what it measured', async () => {
  expect([(await api.get('/healthz')).status, (await api.get('/readyz')).status]).toEqual([200, 200])
  const metrics = await (await api.get('/metrics')).text()
  for (const name of [
    'agent_directory_http_request_seconds_bucket',
    'agent_directory_cache_reads_total',
    'agent_directory_database_connections',
    'agent_directory_cache_bytes',
    'agent_directory_limiter_ready 1',
  ]) {
    expect(metrics).toContain(name)
  }
  const stopping = await startApi(database, { notReady: () => 'the process is stopping' })
  const response = await stopping.get('/readyz')
  expect([response.status, await response.text()]).toEqual([503, 'the process is stopping\n'])
  await stopping.stop()
})

test('however many ask whether it is ready, one ping of the database is under way and answers all', async () => {
  const holder = await database.pool.connect()
  await holder.query('begin')
  await holder.query('lock table agent in access exclusive mode')
  const pings = async () => {
    const { rows } = await database.pool.query(
      "select count(*)::int as n from pg_stat_activity where query like 'select 1 from agent limit 1' and state = 'active' and datname = current_database()",
    )
    return rows[0].n
  }
  const asked = Array.from({ length: 200 }, async () => (await api.get('/readyz')).status)
  await until('a ping waits', async () => (await pings()) > 0)
  await until('all have asked', async () =>
    /^agent_directory_http_requests_in_flight 20\d$/m.test(await (await api.get('/metrics')).text()),
  )
  expect(await pings()).toBe(1)
  await holder.query('rollback')
  holder.release()
  expect(new Set(await Promise.all(asked))).toEqual(new Set([200]))
})
