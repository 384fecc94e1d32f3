import { expect, test } from 'vitest'
import { AgentDirectory } from '../../client/client.ts'
import { eventsOf } from '../../client/events.ts'

const service = 'https://api.agents.example'

test('a busy service is asked again when it says so, and not for ever', async () => {
  const waited: number[] = []
  const answers = [
    new Response('{"error":"ERR_RATE_LIMIT"}', { status: 429, headers: { 'Retry-After': '7' } }),
    new Response('<html>', { status: 503 }),
    new Response('{"agents":1}', { status: 200 }),
  ]
  const options = {
    wait: async (ms: number) => void waited.push(ms),
    fetch: async () => answers.shift() ?? new Response('<html>', { status: 503 }),
  }
  expect(await new AgentDirectory(service, options).stats()).toEqual({ agents: 1 })
  expect(waited).toEqual([7_000, 1_000])
  await expect(new AgentDirectory(service, options).stats()).rejects.toMatchObject({ code: 'ERR_UNKNOWN', status: 503 })
  expect(waited).toEqual([7_000, 1_000, 1_000, 1_000, 1_000])
})

/** A body that breaks in its middle. */
const broken = () =>
  new Response(
    new ReadableStream({
      start(body) {
        body.enqueue(new TextEncoder().encode('{"agents"'))
        body.error(new TypeError('terminated'))
      },
    }),
  )

test('what a broken line has cut off is asked for again, and not for ever', async () => {
  const waited: number[] = []
  const answers = [
    () => Promise.reject(new TypeError('fetch failed')),
    () => new Response('<html>', { status: 502 }),
    broken,
    () => new Response('{"agents":1}'),
  ]
  const directory = new AgentDirectory(service, {
    wait: async (ms) => void waited.push(ms),
    fetch: async () => (answers.shift() ?? broken)(),
  })
  expect(await directory.stats()).toEqual({ agents: 1 })
  expect(waited).toEqual([1_000, 2_000, 4_000])
  await expect(directory.stats()).rejects.toThrow('terminated')
  expect(waited.slice(3)).toEqual([1_000, 2_000, 4_000])
})

test('a Retry-After that is a date is waited for until then', async () => {
  const waited: number[] = []
  const until = new Date(Date.now() + 90_000).toUTCString()
  const busy = () => new Response('', { status: 503, headers: { 'Retry-After': until } })
  const answers = [busy, () => new Response('{"agents":1}')]
  const directory = new AgentDirectory(service, {
    wait: async (ms) => void waited.push(ms),
    fetch: async () => (answers.shift() ?? busy)(),
  })
  expect(await directory.stats()).toEqual({ agents: 1 })
  expect(waited).toHaveLength(1)
  expect(waited[0]).toBeGreaterThan(80_000)
  expect(waited[0]).toBeLessThanOrEqual(90_000)
})

test('a wait until tomorrow is not waited for', async () => {
  const body =
    '{"error":"ERR_RATE_LIMIT_DAILY","detail":"at most 2000","limits":{"perDay":2000},"retryAfterSeconds":9000}'
  const directory = new AgentDirectory(service, {
    wait: () => Promise.reject(new Error('it waits')),
    fetch: async () => new Response(body, { status: 429, headers: { 'Retry-After': '9000' } }),
  })
  await expect(directory.stats()).rejects.toMatchObject({
    code: 'ERR_RATE_LIMIT_DAILY',
    fields: { limits: { perDay: 2000 }, retryAfterSeconds: 9000 },
  })
})

const addresses = [
  ['https://api.agents.example/directory', 'https://api.agents.example/directory'],
  ['https://api.agents.example/directory', 'http://10.0.0.7:3000'],
  ['https://api.agents.example/api', 'http://10.0.0.7:3000'],
  ['http://10.0.0.7:3000', 'https://api.agents.example/directory'],
] as const
test.for(addresses)('the next page is asked for at %s, though the service knows itself as %s', async ([url, own]) => {
  const sent: string[] = []
  const send: typeof fetch = async (input) => {
    const link = `<${own}/api/discovery?cursor=b>; rel="next"`
    return new Response('{"agents":[]}', sent.push(String(input)) === 1 ? { headers: { Link: link } } : {})
  }
  for await (const agent of new AgentDirectory(url, { fetch: send }).agents()) expect(agent).toBe('none')
  expect(sent).toEqual([`${url}/api/discovery?cursor=`, `${url}/api/discovery?cursor=b`])
})

test('lines that have not changed are of the log that the service names now, and go on there', async () => {
  const path = '/data/log.ndjson'
  const from = (log: string) => ({ 'X-Log-Epoch': log, Link: `<${service}${path}?since=${log}-1>; rel="next"` })
  const answers = [
    new Response('{"seq":1,"kind":"delist","fid":1}\n', { headers: { ETag: '"one"', ...from('aaaaaaaa') } }),
    new Response(''),
    new Response(null, { status: 304, headers: { ETag: '"one"', ...from('bbbbbbbb') } }),
    new Response(''),
    new Response(null, { status: 304 }), // of a cache that sends no more
    new Response(''),
  ]
  const sent: string[] = []
  const send: typeof fetch = async (input) => {
    sent.push(String(input).slice(service.length))
    return answers.shift() ?? new Response('', { status: 500 })
  }
  const directory = new AgentDirectory(service, { fetch: send })
  const places: string[] = []
  for (let times = 0; times < 3; times++) for await (const { place } of directory.log()) places.push(place)
  expect(places).toEqual(['aaaaaaaa-1', 'bbbbbbbb-1', 'bbbbbbbb-1'])
  expect(sent).toEqual(['', 'aaaaaaaa-1', '', 'bbbbbbbb-1', '', 'bbbbbbbb-1'].map((place) => `${path}?since=${place}`))
})

test('an id above 2^53 comes with all its digits, and what only looks like one stays as it is', async () => {
  const large = '9007199254740993'
  const bio = `\\": ${large},`
  const ids = `[{"erc8004_id":${large}},{"erc8004_id":9007199254740991},{"erc8004_id": 0}]`
  const median = `[1000000000000000000]` // what strangers give: a rounded number is a number still
  const profile = `{"bio":${JSON.stringify(bio)},"spent":4503599627370497.500000,"medians":${median},"erc8004_records":${ids}}`
  const told = [{ erc8004_id: large }, { erc8004_id: Number.MAX_SAFE_INTEGER }, { erc8004_id: 0 }]
  const answers: Record<string, string> = {
    '/api/agent/1': profile,
    '/api/discovery?cursor=': `{"agents":[${profile}]}`,
    '/data/log.ndjson?since=': `{"seq":1,"kind":"upsert","fid":1,"profile":${profile}}\n`,
  }
  const send: typeof fetch = async (input) => new Response(answers[String(input).slice(service.length)] ?? '')
  const directory = new AgentDirectory(service, { fetch: send })
  expect(await directory.agent(1)).toEqual({
    bio,
    spent: Number('4503599627370497.5'),
    medians: [1e18],
    erc8004_records: told,
  })
  for await (const agent of directory.agents()) expect(agent).toMatchObject({ bio, erc8004_records: told })
  for await (const line of directory.log()) expect(line).toMatchObject({ seq: 1, profile: { erc8004_records: told } })
  expect.assertions(3)
})

test('a stream that is refused, or fails again and again, is an error in the end', async () => {
  const waited: number[] = []
  const log = new Response('', { headers: { 'X-Log-Epoch': '9f3a61c2' } })
  const asked = (answer: () => Response) =>
    new AgentDirectory(service, {
      wait: async (ms) => void waited.push(ms),
      fetch: async (input) => (String(input).includes('.ndjson') ? log.clone() : answer()),
    })
  const refused = asked(() => new Response('{"error":"ERR_NOT_FOUND"}', { status: 404 }))
  await expect(refused.follow().next()).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  expect(waited).toEqual([])
  const failing = asked(() => new Response('<html>', { status: 502 }))
  await expect(failing.follow().next()).rejects.toMatchObject({ code: 'ERR_UNKNOWN', status: 502 })
  expect(waited).toEqual([5_000, 10_000, 20_000, 40_000, ...Array(6).fill(60_000)])
})

test('an event has its data when a bio in it contains a line separator', async () => {
  async function* pieces() {
    yield 'id: 9f3a61c2-3\nevent: upsert\ndata: {"bio":"one\u2028two"}\n\n'
  }
  const told: unknown[] = []
  for await (const { data } of eventsOf(pieces())) told.push(data)
  expect(told).toEqual(['{"bio":"one\u2028two"}'])
})
