import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { cardDrawing } from '../../api/pages/card/drawing.ts'
import { createPainter, type Painter } from '../../api/pages/card/painter.ts'
import type { Profile } from '../../api/pages/parts/exact-json.ts'
import { createGallery, createPictureDoor } from '../../api/pages/pictures/gallery.ts'
import { cardLimits, pictureLimits } from '../../config/limits.ts'
import { startWebHost, type WebHost } from '../../devnet/hosts/web-host.ts'
import { createDoor, type Door } from '../../net/door.ts'
import { parseEgressAllow } from '../../net/egress.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedAgent } from '../support/seed.ts'
import { testTimeoutMs, until } from '../support/until.ts'

// Profile pictures on other hosts, which pages load through this service, and pictures of agents for other sites.

const database = testDatabase()
let api: TestApi
let host: WebHost
let door: Door
let painter: Painter
const clock = { now: Date.now() }

const png = Buffer.from('\x89PNG\r\n\x1a\n and the rest', 'latin1')
const bodies = {
  '/a.png': ['image/png', png],
  '/b.jpg': ['image/jpeg', Buffer.from('\xff\xd8\xff\xe0 and the rest', 'latin1')],
  '/c.gif': ['image/gif', Buffer.from('GIF89a and the rest', 'latin1')],
  '/d.webp': ['image/webp', Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1')],
} as const
const broken = {
  '/svg.png': { headers: { 'content-type': 'image/png' }, body: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
  '/page.png': { headers: { 'content-type': 'image/png' }, body: '<!doctype html><script>alert(1)</script>' },
  '/large.png': { body: Buffer.concat([png, Buffer.alloc(pictureLimits.bytes)]) },
  '/gone.png': { status: 404, body: png },
} as const
const paths = [...Object.keys(bodies), ...Object.keys(broken)]
const fidOf = (path: string) => 1 + paths.indexOf(path)

beforeAll(async () => {
  host = await startWebHost()
  for (const [path, [, body]] of Object.entries(bodies)) {
    // The host's Content-Type does not count.
    host.pages.set(path, { headers: { 'content-type': 'text/html' }, body })
  }
  for (const [path, page] of Object.entries(broken)) host.pages.set(path, page)
  const names = { serviceName: 'agent-directory', siteUrl: 'https://agents.example' }
  door = createPictureDoor(names, parseEgressAllow(host.name))
  painter = createPainter(() => clock.now)
  api = await startApi(database, { pictures: door, painter, now: () => clock.now })
  for (const path of paths) {
    await seedAgent(database.pool, { fid: fidOf(path), displayName: 'Ada', pfpUrl: host.url + path })
  }
  await seedAgent(database.pool, { fid: 50, pfpUrl: 'http://169.254.169.254/latest/meta-data' })
  await seedAgent(database.pool, { fid: 51, pfpUrl: null })
})
afterAll(async () => {
  await api?.stop()
  await painter?.close()
  door?.close()
  await host?.stop()
})
const askedFor = (path: string) => host.requests.filter((request) => request.path === path)

test.each(Object.keys(bodies) as (keyof typeof bodies)[])('%s is passed on as it is, by its bytes', async (path) => {
  const [type, body] = bodies[path]
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      api.get(`/picture/${fidOf(path)}?v=1`, {
        headers: { 'user-agent': 'reader', cookie: 'a=b', referer: 'https://a' },
      }),
    ),
  )
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
    expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=86400')
  }
  // One request to the host for all readers, with nothing in it about any of them.
  const asked = askedFor(path)
  expect(asked).toHaveLength(1)
  expect(Object.keys(asked[0]?.headers ?? {}).sort()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ])
  expect(asked[0]?.headers['user-agent']).toBe('agent-directory/1.0 (+https://agents.example)')
  const again = await api.get(`/picture/${fidOf(path)}`, {
    headers: { 'if-none-match': answers[0]?.headers.get('etag') as string },
  })
  expect(again.status).toBe(304)
  clock.now += (pictureLimits.keptSeconds + 1) * 1_000
  await api.get(`/picture/${fidOf(path)}`)
  expect(askedFor(path)).toHaveLength(2)
})

test.each(Object.keys(broken))('%s is a letter, and is left alone for a while', async (path) => {
  const read = () => api.get(`/picture/${fidOf(path)}`)
  for (let n = 0; n < 3; n++) {
    const answer = await read()
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
    expect(await answer.text()).toMatch(/^<svg [^>]+><rect [^>]+><text [^>]+>A<\/text><\/svg>$/)
  }
  expect(askedFor(path)).toHaveLength(1)
  clock.now += (pictureLimits.brokenSeconds + 1) * 1_000
  await read()
  expect(askedFor(path)).toHaveLength(2)
})

test('nobody else’s address is fetched: neither one that is private nor one that is asked for', async () => {
  for (const fid of [50, 51]) {
    expect((await api.get(`/picture/${fid}`)).headers.get('content-type')).toBe('image/svg+xml')
  }
  const before = host.requests.length
  expect((await api.get(`/picture/51?url=${host.url}/a.png`)).headers.get('content-type')).toBe('image/svg+xml')
  expect([(await api.get('/picture/999')).status, (await api.get(`/picture/${host.url}/a.png`)).status]).toEqual([
    404, 404,
  ])
  expect((await api.get('/picture/x')).status).toBe(400)
  expect(host.requests.length).toBe(before)
})

test('a page names no host but ours', async () => {
  const page = await (await api.get('/')).text()
  expect(page.match(/<img src="\/picture\/\d+\?v=/g)?.length).toBe(paths.length + 1)
  expect(page).not.toContain(host.name)
})

/** Width and height of a PNG. */
const sizeOf = (bytes: Buffer) => [bytes.subarray(1, 4).toString(), bytes.readUInt32BE(16), bytes.readUInt32BE(20)]

test('an agent has a picture for previews, whatever it is called', async () => {
  const names = [
    'Tideline Research',
    '"><script>alert(1)</script>&amp;\u202e',
    '漢字🙂',
    'W'.repeat(10_000),
    'a\u0001b]]>',
  ]
  const seen = new Set<string>()
  for (const [n, displayName] of names.entries()) {
    const fid = 100 + n
    const given = { fid, displayName, addresses: [addressOf(`of ${fid}`)], chains: ['base', 'celo'] as const }
    await seedAgent(database.pool, {
      ...given,
      chains: [...given.chains],
      claimMethod: 'jfs',
      settlements30d: n * 1_000,
    })
    const page = await (await api.get(`/agent/${fid}`)).text()
    const address = `https://agents.example/agent/${fid}/card.png`
    for (const tag of [
      `<meta property="og:image" content="${address}">`,
      '<meta property="og:image:width" content="1200">',
      '<meta name="twitter:card" content="summary_large_image">',
      `<link rel="canonical" href="https://agents.example/agent/${fid}">`,
    ]) {
      expect(page).toContain(tag)
    }
    const answer = await api.get(`/agent/${fid}/card.png`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png'])
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(sizeOf(bytes)).toEqual(['PNG', 1_200, 630])
    seen.add(answer.headers.get('etag') as string)
    const [, data = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(page) ?? []
    expect(JSON.parse(data)).toMatchObject({
      '@type': 'ProfilePage',
      mainEntity: { identifier: String(fid), image: address },
    })
  }
  expect(seen.size).toBe(names.length)
  expect((await api.get('/agent/999/card.png')).status).toBe(404)
  const icon = await api.get('/favicon.ico', { redirect: 'manual' })
  expect([icon.status, icon.headers.get('location')]).toEqual([301, '/assets/icon.svg'])
})

test('a client that asks for many cards at once is told to wait, and the others are answered', async () => {
  const fids = Array.from({ length: 2 * cardLimits.ofClient }, (_, n) => 300 + n)
  for (const fid of fids) await seedAgent(database.pool, { fid, addresses: [addressOf(`of ${fid}`)] })
  const answers = await Promise.all(fids.map((fid) => api.get(`/agent/${fid}/card.png`)))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(cardLimits.ofClient)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  const refused = answers.find(({ status }) => status === 429)
  expect(refused?.headers.get('retry-after')).toBe(String(cardLimits.retrySeconds))
})

const drawingOf = (text: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="60"><text x="5" y="40" font-size="30" font-family="Inter">${text}</text></svg>`

test('letters are drawn: a picture without them would be another', async () => {
  const [empty, some, other] = await Promise.all(['', 'Tide', 'Tidy'].map((text) => painter.paint(drawingOf(text))))
  expect(some?.text.equals(empty?.text as Buffer)).toBe(false)
  expect(some?.text.equals(other?.text as Buffer)).toBe(false)
})

test('what cannot be painted fails alone, and a closed painter fails what waits and leaves no thread', async () => {
  const one = createPainter(Date.now)
  const [bad, good] = await Promise.allSettled([one.paint('no drawing'), one.paint(drawingOf('well'))])
  expect([bad.status, good.status]).toEqual(['rejected', 'fulfilled'])
  const late = one.paint(drawingOf('late'))
  const refused = expect(late).rejects.toThrow('closed')
  await one.close()
  await refused
  await expect(one.paint(drawingOf('later'))).rejects.toThrow('closed')
  await one.close()
})

test('a picture that was not asked for, because others of its host waited, is asked for later', async () => {
  const one = createDoor({
    userAgent: 'agent-directory/1.0 (+https://agents.example)',
    egressAllow: parseEgressAllow(host.name),
    politeness: { intervalMs: 0, maxWaiting: 1, maxWaitMs: testTimeoutMs },
  })
  onTestFinished(one.close)
  const gallery = createGallery(one, () => clock.now)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  host.pages.set('/slow.png', () => released.then(() => ({ body: png })))
  for (const path of ['/waiting.png', '/refused.png']) host.pages.set(path, { body: png })
  const slow = gallery(`${host.url}/slow.png`)
  await until('the first is asked for', () => askedFor('/slow.png').length === 1)
  const waiting = gallery(`${host.url}/waiting.png`)
  expect(await gallery(`${host.url}/refused.png`)).toBe('unasked')
  release()
  for (const shown of await Promise.all([slow, waiting])) expect(shown).toMatchObject({ type: 'image/png' })
  expect(await gallery(`${host.url}/refused.png`)).toMatchObject({ type: 'image/png' })
  expect(askedFor('/refused.png')).toHaveLength(1)
})

test('a host that is slow has several of its pictures asked for at once, and takes the place of no other’s', async () => {
  const quick = await startWebHost()
  onTestFinished(quick.stop)
  quick.pages.set('/quick.png', { body: png })
  const names = { serviceName: 'agent-directory', siteUrl: 'https://agents.example' }
  const one = createPictureDoor(names, parseEgressAllow(`${host.name},${quick.name}`))
  onTestFinished(one.close)
  const served = await startApi(database, { pictures: one, now: () => clock.now })
  onTestFinished(served.stop)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const many = 70
  const slow = Array.from({ length: many }, (_, n) => 1_000 + n)
  for (const fid of slow) {
    host.pages.set(`/slow-${fid}.png`, () => released.then(() => ({ body: png })))
    await seedAgent(database.pool, { fid, pfpUrl: `${host.url}/slow-${fid}.png` })
  }
  await seedAgent(database.pool, { fid: 999_999, pfpUrl: `${quick.url}/quick.png` })
  const ended: Response[] = []
  const reads = slow.map((fid) => served.get(`/picture/${fid}`).then((response) => void ended.push(response)))
  await until('the first are asked for', () => host.requests.filter(({ path }) => path.startsWith('/slow-')).length > 1)
  await until('some are refused', () => ended.length > 0)
  expect((await served.get('/picture/999999')).headers.get('content-type')).toBe('image/png')
  for (const { headers } of ended) {
    expect([headers.get('content-type'), headers.get('cache-control')]).toEqual(['image/svg+xml', 'public, max-age=0'])
  }
  release()
  await Promise.all(reads)
  const shown = ended.filter(({ headers }) => headers.get('content-type') === 'image/png')
  expect(shown.length).toBeGreaterThan(pictureLimits.atOnce)
})

test.each([
  ['stated', 2, ' (stated)'],
  ['signed', 0, ''],
  ['proven', 0, ''],
])('a handle that is %s is marked where its page and its card show it %s times', async (assurance, marks, drawn) => {
  const fid = 800 + assurance.charCodeAt(1)
  await seedAgent(database.pool, { fid, handle: assurance, displayName: 'Named' })
  await database.pool.query('update agent set handle_assurance = $2 where fid = $1', [fid, assurance])
  const page = await (await api.get(`/agent/${fid}`)).text()
  expect(page.match(/title="One hub alone says/g)?.length ?? 0).toBe(marks)
  const agent = (await (await api.get(`/api/agent/${fid}`)).json()) as Profile
  expect(cardDrawing({ agent, earned: undefined, serviceName: 'x' })).toContain(`>@${assurance}${drawn} · FID ${fid}<`)
})
