import { parseAtomFeed } from 'feedsmith'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type ApiChange, apiChanges } from '../../api/changelog/changes.ts'
import { changelogPage, changelogText } from '../../api/docs/changelog.ts'
import { documentedPages } from '../../api/docs/openapi.ts'
import { feedOfChanges } from '../../api/routes/reference/api-feed.ts'
import { actions, routes, streams } from '../../api/routes.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { seedAgent } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  await seedAgent(database.pool, { fid: 1, claimMethod: 'jfs' })
  await seedAgent(database.pool, { fid: 2 })
  await seedAgent(database.pool, { fid: 3, status: 'historical' })
  api = await startApi(database, { serviceName: 'R&D <agents> "of" all' })
})
afterAll(() => api.stop())

const operations = () => [...routes, ...actions, ...streams, ...documentedPages].map(({ operationId }) => operationId)

test('the changelog has an anchor a change, newest first, and names only requests that exist', async () => {
  const page = await (await api.get('/docs/changelog')).text()
  for (const { id } of apiChanges) expect(page).toContain(`<section id="${id}">`)
  expect(new Set(apiChanges.map(({ id }) => id)).size).toBe(apiChanges.length)
  expect(apiChanges.map(({ day }) => day)).toEqual(
    apiChanges.map(({ day }) => day).sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)),
  )
  const named = apiChanges.flatMap((change) => change.operations)
  expect(named.filter((name) => !operations().includes(name))).toEqual([])
})

/** Changes of a made-up service, newest first: as many as the page tells whole, and one more. */
const many: readonly ApiChange[] = Array.from({ length: 61 }, (_, index) => ({
  id: `change-${61 - index}`,
  day: index < 30 ? '2027-02-01' : '2027-01-01',
  kind: 'changed',
  title: `Change ${61 - index}`,
  text: `Words of change ${61 - index}.`,
  operations: ['getPrices'],
}))

test('a change leads to its own address, its day and kind stand apart from its words, its requests are a list', () => {
  const page = changelogPage({ serviceName: 'Agents', siteUrl: 'https://agents.example' }, many)
  for (const { id, day, kind } of many) {
    const [, section = ''] = page.split(`<section id="${id}">`)
    expect(section).toContain(`<h2><a href="#${id}">`)
    expect(section).toContain(`<time datetime="${day}">${day}</time> <span class="status">${kind}</span></p>`)
  }
  expect(page).toMatch(/<li><a href="[^"]+"><code>getPrices<\/code><\/a><\/li>/)
})

test('the page tells the newest 60 changes whole and has the titles of those before; its Markdown has all whole', () => {
  const page = changelogPage({ serviceName: 'Agents', siteUrl: 'https://agents.example' }, many)
  const text = changelogText('https://api.agents.example', many)
  const told = (where: string) => many.filter((change) => where.includes(change.text)).map(({ id }) => id)
  expect(told(page)).toEqual(many.slice(0, 60).map(({ id }) => id))
  expect(page).toContain('>Change 1</a>')
  expect(told(text)).toEqual(many.map(({ id }) => id))
})

test('every request has a page with an example of it and of what it answers', async () => {
  const { paths } = (await (await api.get('/openapi.json')).json()) as { paths: Record<string, Record<string, Asked>> }
  const asked = Object.entries(paths).flatMap(([path, methods]) => Object.values(methods).map((one) => ({ path, one })))
  expect(asked.length).toBeGreaterThan(40)
  for (const { path, one } of asked) {
    const page = await (await api.get(`/docs/requests/${one.operationId}`)).text()
    const [place = ''] = path.split('{')
    expect([path, page.includes(`https://api.agents.example${place}`)]).toEqual([path, true])
    const isShown = Object.values(one.responses['200']?.content ?? {}).some(({ example }) => example !== undefined)
    expect([path, page.includes('An answer to such a request:')]).toEqual([path, isShown])
  }
})

interface Asked {
  readonly operationId: string
  readonly responses: Record<string, { readonly content?: Record<string, { readonly example?: unknown }> }>
}

test('the limits are told in groups, each list by its name for people', async () => {
  const page = await (await api.get('/docs/limits')).text()
  const titles = [...page.matchAll(/<h2[^>]*>([^<]+)<\/h2>/g)].map(([, title]) => title)
  expect(titles).toEqual(['Requests', 'Rows per page of a list', 'One request', 'MCP and GraphQL', 'Asking less'])
  expect(page).toContain('<th scope="row">Lines of the log</th><td>1 to 1,000; 1,000 unless asked for</td>')
})

test('the feed of the API has an entry a change, whose address is its anchor', async () => {
  const answer = await api.get('/feed/api.atom')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/atom+xml; charset=utf-8'])
  const { entries = [] } = parseAtomFeed(await answer.text())
  expect(entries.map(({ id }) => id)).toEqual(
    apiChanges.map(({ id }) => `https://api.agents.example/docs/changelog#${id}`),
  )
  expect(entries.map(({ title }) => title?.value)).toEqual(apiChanges.map(({ title }) => title))
  const feed = parseAtomFeed(feedOfChanges(many, { baseUrl: 'https://api.agents.example', serviceName: 'Agents' }))
  expect(feed.updated).toBe('2027-02-01T00:00:00.000Z')
  expect(feed.entries?.map(({ id }) => id)).toEqual(
    many.map(({ id }) => `https://api.agents.example/docs/changelog#${id}`),
  )
})

test('llms-full.txt has every request with its parameters, and every field of every answer', async () => {
  const answer = await api.get('/llms-full.txt')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  const text = await answer.text()
  for (const { path, query } of routes) {
    const [, section = ''] = text.split(`### GET https://api.agents.example${path}\n`)
    for (const name of Object.keys(query.shape)) expect(section).toContain(`- \`${name}\` (query, `)
  }
  expect(text).toContain('- `amount_usdc` (')
  expect(text).toContain('### RateLimitError')
  expect(text).not.toMatch(/<a |&amp;|\[object|undefined/)
})

test.for(['/docs', '/docs/changelog', '/docs/errors', '/docs/errors/ERR_RATE_LIMIT'])(
  '%s says where the same is as Markdown',
  async (path) => {
    const page = await api.get(path)
    const [, url = ''] =
      /^<https:\/\/api\.agents\.example([^>]+)>; rel="alternate"; type="text\/markdown"$/.exec(
        page.headers.get('link') ?? '',
      ) ?? []
    const markdown = await api.get(url)
    expect([url, markdown.status, markdown.headers.get('content-type')]).toEqual([
      `${path}.md`,
      200,
      'text/markdown; charset=utf-8',
    ])
    const text = await markdown.text()
    expect(text).toMatch(/^# \w/)
    expect(text).not.toMatch(/<a |<p>|&amp;|\[object|undefined/)
    const headings = [...(await page.text()).matchAll(/<section id="([^"]+)">/g)].map(([, id]) => id as string)
    if (path !== '/docs/errors') return
    for (const code of headings) expect(text).toContain(`## ${code}\n`)
  },
)

test.for([
  [1, 'claimed, active', '1b7a3d'],
  [2, 'unclaimed, active', '1f5f99'],
  [3, 'unclaimed, historical', '616161'],
  [4, 'unknown', '616161'],
] as const)('the badges of FID %s say %s', async ([fid, message, color]) => {
  const shield = await api.get(`/badge/${fid}.json`)
  expect([shield.status, await shield.json()]).toEqual([
    200,
    { schemaVersion: 1, label: 'R&D <agents> "of" all', message, color },
  ])
  const image = await api.get(`/badge/${fid}.svg`)
  expect([image.status, image.headers.get('content-type'), image.headers.get('cache-control')]).toEqual([
    200,
    'image/svg+xml',
    'public, max-age=300',
  ])
  expect(image.headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'")
  const svg = await image.text()
  expect(svg).toContain('<title>R&amp;D &lt;agents&gt; &quot;of&quot; all: ')
  expect(svg).toContain(`>${message}</text>`)
  expect(svg).toContain(`fill="#${color}"`)
})

test('a badge of what is no FID is refused like everything else of it', async () => {
  for (const form of ['svg', 'json']) expect((await api.get(`/badge/zero.${form}`)).status).toBe(400)
})

test('the colours of badges leave white text readable', async () => {
  const channel = (byte: number) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4)
  for (const fid of [1, 2, 3, 4]) {
    const { color } = z.object({ color: z.string() }).parse(await (await api.get(`/badge/${fid}.json`)).json())
    const [red = 0, green = 0, blue = 0] = [...Buffer.from(color, 'hex')].map(channel)
    expect(1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)).toBeGreaterThan(4.5)
  }
})
