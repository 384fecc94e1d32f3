import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { startWebHost } from '../../../devnet/hosts/web-host.ts'
import { rawBlock, smallFile } from '../../../devnet/world/blocks.ts'
import { createAgentHosts } from '../../../enrichment/agent-hosts.ts'
import { createGateways } from '../../../enrichment/agent-uri/gateways.ts'
import { createResolver } from '../../../enrichment/agent-uri/resolve.ts'
import { HostClosed } from '../../../hosts/host.ts'
import { createDoor } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import { startGateways } from '../../derive/agents/job.ts'
import { issueCertificate } from '../../net/certificate.ts'
import { createClock } from '../../support/enrichment-job.ts'

const options = { maxBytes: 1_000, timeoutMs: 20_000 }
const impatient = { intervalMs: 0, maxWaiting: 1, maxWaitMs: 10_000 }

const lookup = async () => ['127.0.0.1']

async function start(more: readonly string[] = []) {
  const [asked, other] = await Promise.all([startWebHost(), startWebHost()])
  const clock = createClock('2026-06-01T00:00:00Z')
  const { port } = new URL(asked.url)
  const names = [`shop.xyz:${port}`, `a.shop.xyz:${port}`] as const // of the host that is asked
  const egressAllow = parseEgressAllow([asked.name, other.name, ...names, ...more].join())
  const userAgent = 'test/1.0 (+https://agents.shop.xyz)'
  const door = createDoor({ userAgent, egressAllow, politeness: impatient, lookup })
  const hosts = createAgentHosts({ door, egressAllow, now: clock.now })
  onTestFinished(async () => {
    hosts.host.stop()
    await Promise.all([asked.stop(), other.stop()])
  })
  const ask = (host = asked) => hosts.fetch(new URL('/a.json', host.url), options)
  const move = (to: string) =>
    asked.pages.set('/moved', { status: 302, headers: { location: `http://${to}/a.json` }, body: '' })
  const follow = (from = asked.name, timeoutMs = options.timeoutMs) =>
    hosts.fetch(new URL(`http://${from}/moved`), { ...options, timeoutMs, redirects: 1 })
  return { asked, other, names, clock, hosts, ask, move, follow }
}

/** What the error of a request to a closed host says: until when, as ISO time, and whether this request reached it. */
async function closed(request: Promise<unknown>) {
  const error = await request.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(HostClosed)
  const { until, wasAsked } = error as HostClosed
  return { until: until.toISOString(), wasAsked }
}

test.each([
  [429, 600, '2026-06-01T00:10:00.000Z'],
  [503, 'Mon, 01 Jun 2026 00:05:00 GMT', '2026-06-01T00:05:00.000Z'],
  [429, undefined, '2026-06-01T00:01:00.000Z'],
  [429, 'soon', '2026-06-01T00:01:00.000Z'],
  [429, 0, '2026-06-01T00:00:01.000Z'],
  [429, '90.5', '2026-06-01T00:01:30.500Z'],
  [429, 999_999, '2026-06-01T01:00:00.000Z'],
] as const)(
  '%i with Retry-After %s leaves that host alone for as long, and no other',
  async (status, retryAfter, until) => {
    const { asked, other, clock, ask } = await start()
    asked.faults.add({ kind: 'status', status, retryAfter })
    expect(await closed(ask())).toEqual({ until, wasAsked: true })
    expect(await closed(ask())).toEqual({ until, wasAsked: false })
    expect(asked.requests).toHaveLength(1)
    expect((await ask(other)).status).toBe(404)
    clock.pass(Date.parse(until) - clock.now().getTime())
    expect((await ask()).status).toBe(404)
  },
)

test('each 429 in a row makes the least pause twice as long, up to an hour, until there is another answer', async () => {
  const { asked, clock, ask } = await start()
  const pauses = async (count: number, retryAfter: number) => {
    asked.faults.add({ kind: 'rate-limited', retryAfter }, { times: count })
    const seconds: number[] = []
    for (let n = 0; n < count; n++) {
      const ms = Date.parse((await closed(ask())).until) - clock.now().getTime()
      seconds.push(ms / 1_000)
      clock.pass(ms)
    }
    return seconds
  }
  const hour = 3_600
  expect(await pauses(14, 0)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, hour, hour])
  expect((await ask()).status).toBe(404)
  expect(await pauses(3, 3)).toEqual([3, 3, 4])
})

test('a request that was in line at the first 429 is no further one', async () => {
  const { asked, clock, ask } = await start()
  asked.faults.add({ kind: 'rate-limited', retryAfter: 0 }, { times: 3 })
  for (const request of [ask(), ask()]) expect((await closed(request)).until).toBe('2026-06-01T00:00:01.000Z')
  clock.pass(1_000)
  expect((await closed(ask())).until).toBe('2026-06-01T00:00:03.000Z')
})

test('a 503 that names no time is an answer like any other', async () => {
  const { asked, ask } = await start()
  asked.faults.add({ kind: 'status', status: 503 })
  expect((await ask()).status).toBe(503)
  expect((await ask()).status).toBe(404)
})

test('a host that is out of order ten times in a row has its circuit open for a minute', async () => {
  const { asked, clock, ask } = await start()
  asked.faults.add({ kind: 'cut' }, { times: Number.POSITIVE_INFINITY })
  for (let attempt = 0; attempt < 10; attempt++) await expect(ask()).rejects.toThrow(/broke off/)
  expect(await closed(ask())).toEqual({ until: '2026-06-01T00:01:00.000Z', wasAsked: false })
  asked.faults.clear()
  clock.pass(60_000)
  expect((await ask()).status).toBe(404)
})

test('an answer that begins and never ends, or breaks off, closes its host for nobody', async () => {
  const { asked, hosts, ask } = await start()
  for (const kind of ['drip', 'truncated'] as const) {
    asked.faults.add({ kind }, { times: 10, path: '/stream' })
    for (let n = 0; n < 10; n++) {
      const stream = hosts.fetch(new URL('/stream', asked.url), { ...options, timeoutMs: 300 })
      await expect(stream).rejects.toMatchObject({ reason: kind === 'drip' ? 'timeout' : 'broken_answer' })
    }
  }
  expect((await ask()).status).toBe(404)
})

test('content that a gateway seeks in vain closes it for no other; a gateway that breaks off is closed', async () => {
  const [gateway] = (await startGateways(1)) as [Awaited<ReturnType<typeof startGateways>>[number]]
  const { hosts } = await start([gateway.name])
  const known = rawBlock('{"name":"Ada"}')
  gateway.add('{"name":"Ada"}')
  const read = ({ cid }: typeof known, timeoutMs?: number) =>
    createGateways({ hosts, urls: [gateway.url], timeoutMs }).read({ cid, path: '' })

  gateway.faults.add({ kind: 'hang' }, { times: Number.POSITIVE_INFINITY })
  // One block, and a tree of blocks, which is asked for as an archive.
  for (const blockOf of [rawBlock, smallFile]) {
    for (let n = 0; n < 10; n++) expect(await read(blockOf(`nowhere ${n}`), 100)).toBeUndefined()
  }
  gateway.faults.clear()
  expect(await read(known)).toMatchObject({ fetched: { status: 200 }, proven: true })

  gateway.faults.add({ kind: 'cut' }, { times: Number.POSITIVE_INFINITY })
  for (let n = 0; n < 10; n++) expect(await read(known)).toBeUndefined()
  expect((await closed(read(known))).until).toBe('2026-06-01T00:01:00.000Z')
})

test('a transaction that the Arweave gateway seeks in vain closes it for no other; one that breaks off is closed', async () => {
  const { asked, hosts } = await start()
  const gateways = createGateways({ hosts, urls: [] })
  const resolve = (letter: string, timeoutMs?: number) =>
    createResolver({ hosts, gateways, arweaveUrl: asked.url, timeoutMs })(`ar://${letter.repeat(43)}`)
  asked.pages.set(`/${'a'.repeat(43)}`, { body: '{"name":"Ada"}' })

  asked.faults.add({ kind: 'hang' }, { times: Number.POSITIVE_INFINITY })
  for (let n = 0; n < 10; n++) expect(await resolve('b', 100)).toMatchObject({ status: 'failed', word: 'unreachable' })
  asked.faults.clear()
  expect(await resolve('a')).toMatchObject({ status: 'ok', settled: true })

  asked.faults.add({ kind: 'cut' }, { times: Number.POSITIVE_INFINITY })
  for (let n = 0; n < 10; n++) expect(await resolve('a')).toMatchObject({ status: 'failed', word: 'unreachable' })
  expect((await closed(resolve('a'))).until).toBe('2026-06-01T00:01:00.000Z')
})

test('content of closed gateways is due when the first of them opens, and one that says so was asked', async () => {
  const [one, two] = (await startGateways(2)) as [
    Awaited<ReturnType<typeof startGateways>>[number],
    Awaited<ReturnType<typeof startGateways>>[number],
  ]
  const { hosts } = await start([one.name, two.name])
  const { read } = createGateways({ hosts, urls: [one.url, two.url] })
  one.faults.add({ kind: 'rate-limited', retryAfter: 3_600 })
  two.faults.add({ kind: 'rate-limited', retryAfter: 1 })
  const soon = { until: '2026-06-01T00:00:01.000Z', wasAsked: true }
  expect(await closed(read({ cid: rawBlock('a').cid, path: '' }))).toEqual(soon)
})

test('what comes of a redirect counts for the host it leads to, which is not asked that way either', async () => {
  const { other, clock, ask, move, follow } = await start()
  move(other.name)
  other.faults.add({ kind: 'status', status: 429, retryAfter: 600 })
  const later = '2026-06-01T00:10:00.000Z'
  expect((await closed(follow())).until).toBe(later)
  expect((await ask()).status).toBe(404)
  expect((await closed(ask(other))).until).toBe(later)
  expect((await closed(follow())).until).toBe(later)
  expect(other.requests).toHaveLength(1)

  clock.pass(600_000)
  other.faults.add({ kind: 'cut' }, { times: Number.POSITIVE_INFINITY })
  for (let attempt = 0; attempt < 10; attempt++) await expect(follow()).rejects.toThrow(/broke off/)
  expect((await ask()).status).toBe(404)
  expect((await closed(ask(other))).until).toBe('2026-06-01T00:11:00.000Z')
})

test('a deadline that passes behind a redirect is a failure of neither host', async () => {
  const { asked, other, ask, move, follow } = await start()
  move(other.name)
  other.faults.add({ kind: 'hang' }, { times: Number.POSITIVE_INFINITY })
  for (let attempt = 0; attempt < 10; attempt++) {
    await expect(follow(asked.name, 300)).rejects.toMatchObject({ reason: 'timeout' })
  }
  other.faults.clear()
  for (const host of [asked, other]) expect((await ask(host)).status).toBe(404)
})

test('what comes of a redirect to a subdomain counts for the host itself', async () => {
  const { asked, names, move, follow } = await start()
  const [host, subdomain] = names
  move(subdomain)
  asked.faults.add({ kind: 'status', status: 429, retryAfter: 600 }, { path: '/a.json' })
  for (const _ of [1, 2]) expect((await closed(follow(host))).until).toBe('2026-06-01T00:10:00.000Z')
  expect(asked.requests.map(({ path }) => path)).toEqual(['/moved', '/a.json'])
})

test('plain http is kept for an operator’s exceptions; anybody else is asked by https', async () => {
  const { asked, hosts } = await start()
  expect(hosts.secured(new URL(`${asked.url}/a`)).href).toBe(`${asked.url}/a`)
  expect(hosts.secured(new URL('http://a.shop.xyz/a?b#c')).href).toBe('https://a.shop.xyz/a?b#c')
  await expect(hosts.fetch(new URL('http://a.shop.xyz:8080/'), options)).rejects.toMatchObject({ reason: 'blocked' })
})

test('a file that an http address names speaks for its registration: its host was asked by https', async () => {
  const name = 'a.shop.xyz'
  const authority = issueCertificate('Test Authority')
  const known = getCACertificates('default')
  setDefaultCACertificates([...known, authority.pem.cert])
  onTestFinished(() => setDefaultCACertificates(known))
  const server = createServer(issueCertificate(name, authority).pem, (_, res) => {
    res.end(JSON.stringify({ name: 'A' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = server.address() as AddressInfo
  // The door may reach the test's host; whoever asks it has no exception for plain http.
  const userAgent = 'test/1.0 (+https://agents.shop.xyz)'
  const egressAllow = parseEgressAllow(`${name}:${port}`)
  const door = createDoor({ userAgent, egressAllow, politeness: impatient, lookup })
  const hosts = createAgentHosts({ door, egressAllow: parseEgressAllow(''), now: () => new Date() })
  onTestFinished(() => hosts.host.stop())
  const resolve = createResolver({
    hosts,
    gateways: createGateways({ hosts, urls: [] }),
    arweaveUrl: 'https://arweave.net',
  })
  expect(await resolve(`http://${name}:${port}/a.json`)).toMatchObject({ status: 'ok', isOwn: true })
  expect(await resolve(`https://${name}:${port}/a.json`)).toMatchObject({ status: 'ok', isOwn: true })
})

test('a full line for one host and a process that stops are no failures of the host', async () => {
  const { asked, hosts, ask } = await start()
  asked.faults.add({ kind: 'hang' }, { times: 2 })
  const waiting = [ask(), ask()]
  expect(await closed(ask())).toEqual({ until: '2026-06-01T00:01:00.000Z', wasAsked: false })
  hosts.host.stop()
  for (const request of waiting) await expect(request).rejects.toBeInstanceOf(HostClosed)
  expect(hosts.host.capacity()).toBe(0)
})
