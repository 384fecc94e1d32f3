import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApi, type TestApi } from '../support/api/api.ts'
import { strangeScripts, textOf } from '../support/api/markup.ts'
import { testDatabase } from '../support/database.ts'
import {
  addressOf,
  hashOf,
  insert,
  seedAgent,
  seedFigure,
  seedHolding,
  seedRegistration,
  seedSearched,
  seedSettlement,
} from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const now = Date.parse('2026-06-01T12:00:00Z')

beforeAll(async () => {
  api = await startApi(database, { now: () => now })
  for (let n = 1; n <= 34; n++) {
    await seedAgent(database.pool, {
      fid: n,
      chains: n % 2 ? ['base', 'celo'] : ['gnosis'],
      listedAt: new Date(now - n * 1_000),
      claimMethod: n % 5 ? null : 'eip191',
      hasSpec: n % 3 === 0,
      settlements30d: n,
      settlementsAll: 2 * n,
    })
    if (n % 4 === 0)
      await seedFigure(database.pool, { fid: n, earned: [12_345_600n * BigInt(n % 3), 1_002_000_000n * BigInt(n)] })
  }
  await seedAgent(database.pool, {
    fid: 100,
    handle: '"><script>alert(1)</script>',
    displayName: '<img src=x onerror=alert(1)>',
    oli: "'); drop",
    pfpUrl: 'javascript:alert(1)',
    listedAt: new Date(now - 1),
    addresses: [addressOf('hers')],
  })
})
afterAll(() => api.stop())

const read = async (path: string) => (await api.get(path)).text()
/** The agents a page lists, in its order. */
const listed = (page: string) =>
  [...page.matchAll(/class="name" href="\/agent\/(\d+)"/g)].map((match) => Number(match[1]))

test.each([
  '',
  '?q=agent1&sort=newest',
  '?q=7&sort=oldest',
  `?q=${addressOf('hers')}&sort=newest`,
  '?q=nobody&sort=most-active',
  '?chain=Base',
  '?chain=OP&chain=gnosis',
  '?chain=nowhere',
  '?claimed=claimed',
  '?claimed=unclaimed&chain=Celo',
  '?spec=true&codehost=false',
  '?page=2',
  '?sort=oldest',
  '?sort=most-active&limit=10&page=3',
  '?sort=cross-chain&page=99',
  '?sort=most-earned&limit=10',
  '?sort=most-earned&limit=10&page=2',
  '?limit=abc&sort=never',
])('the page of %j lists what the API lists', async (query) => {
  const { agents, total } = (await (await api.get(`/api/discovery${query}`)).json()) as {
    agents: { fid: number }[]
    total: number
  }
  const page = await read(`/${query}`)
  expect(listed(page)).toEqual(agents.map(({ fid }) => fid))
  expect(page).toContain(`<p class="count" role="status"><span>${total} agent${total === 1 ? '' : 's'}`)
})

test.each(['?q=agent1', '?q=7', `?q=${addressOf('hers')}`, '?q=nobody', '?q=agent1&chain=Base', '?q=agent&page=2'])(
  'without an order the page of %j lists what the search of the API finds, best first',
  async (query) => {
    const { agents, total } = (await (await api.get(`/api/search${query}&limit=30`)).json()) as {
      agents: { fid: number }[]
      total: number
    }
    const page = await read(`/${query}`)
    expect(listed(page)).toEqual(agents.map(({ fid }) => fid))
    expect(page).toContain(`<p class="count" role="status"><span>${total} agent${total === 1 ? '' : 's'}`)
  },
)

test.each(['', '?q=agent', '?q=agent&page=2', '?q=agent&limit=20', '?q=agent&sort=newest', '?chain=Base&limit=10'])(
  'the link to the data of the page of %j leads to the same agents',
  async (query) => {
    const page = await read(`/${query}`)
    const [, path = ''] = /<a href="([^"]+)">JSON<\/a>/.exec(page) ?? []
    const { agents } = (await (await api.get(path.replaceAll('&amp;', '&'))).json()) as { agents: { fid: number }[] }
    expect(agents.map(({ fid }) => fid)).toEqual(listed(page))
    expect(agents).not.toEqual([])
  },
)

test('each filter says how many agents it would leave, and leaves them', async () => {
  for (const query of ['', '?chain=Base', '?claimed=claimed&chain=Celo', '?q=agent1']) {
    const page = await read(`/${query}`)
    const chips = [
      ...page.matchAll(/<a class="chip" href="([^"]+)"><bdi>([^<]+)<\/bdi> <span class="n">([0-9,]+)<\/span><\/a>/g),
    ]
    expect(chips.length).toBeGreaterThan(2)
    for (const [, target = '', name, count] of chips.slice(0, 6)) {
      if (query.includes('chain=') && /^(Eth|Base|Celo|Arb|OP|Poly|Gnosis)$/.test(name as string)) continue
      const left = await read(target.replaceAll('&amp;', '&'))
      expect([query, name, /role="status"><span>([0-9,]+) agent/.exec(left)?.[1]]).toEqual([query, name, count])
    }
  }
})

test('an address, a transaction, a registration and a FID lead on to what is known', async () => {
  const { pool } = database
  const owner = addressOf('hers')
  await seedRegistration(pool, { chain: 'base', id: 321, owner })
  await seedHolding(pool, { fid: 100, chain: 'base', id: 321, by: owner })
  await seedSettlement(pool, { chain: 'base', recipient: owner, block: 5 })
  const hash = hashOf('tx base 5')
  const found = async (q: string) => {
    const page = await read(`/?q=${encodeURIComponent(q)}`)
    return [listed(page), /<p class="jump">(.*?)<\/p>/s.exec(page)?.[1] ?? ''] as const
  }
  expect((await found('@AGENT31'))[0]).toEqual([31])
  expect(await found(owner)).toEqual([[100], expect.stringContaining(`href="/address/${owner}"`)])
  expect(await found(hash)).toEqual([[100], expect.stringContaining(`href="/tx/base/${hash}"`)])
  expect(await found(hashOf('nothing'))).toEqual([[], expect.stringContaining('No gasless USDC settlement')])
  for (const q of ['base 321', 'Base #321', '8453:321']) {
    expect(await found(q)).toEqual([[100], expect.stringContaining(`href="/address/${owner}"`)])
  }
  // What only a search finds is counted next to the filters, and is said to be found by the best match alone.
  for (const q of ['base 321', hash]) {
    const query = `/?q=${encodeURIComponent(q)}`
    expect(await read(query)).toContain('<bdi>Unclaimed</bdi> <span class="n">1</span>')
    const newest = await read(`${query}&sort=newest`)
    expect(newest).toContain('<bdi>Unclaimed</bdi> <span class="n">0</span>')
    expect(newest).toContain(`<a href="${query.replaceAll('%20', '+')}">The best match</a>`)
  }
  expect(await found('celo 321')).toEqual([[], expect.stringContaining('is not known')])
  expect(await found('FID 77777')).toEqual([[], expect.stringContaining('href="/explain?q=77777"')])
  const api = await read(`/api/search?q=base%20321`)
  expect(JSON.parse(api).agents[0].matched).toEqual([{ field: 'registration', snippet: 'Base #321' }])
})

test('a search for a transaction counts all its settlements, or says that there are more', async () => {
  const recipient = addressOf('paid in batches')
  for (const [block, count] of [
    [6, 21],
    [7, 100],
    [8, 101],
  ] as const) {
    for (let logIndex = 0; logIndex < count; logIndex++) {
      await seedSettlement(database.pool, { chain: 'base', recipient, block, logIndex })
    }
  }
  const found = async (block: number) => {
    const [, text = ''] = /<p class="jump">(.*?)<\/p>/s.exec(await read(`/?q=${hashOf(`tx base ${block}`)}`)) ?? []
    return textOf(text)
  }
  expect(await found(6)).toMatch(/^21 settlements in the transaction /)
  expect(await found(7)).toMatch(/^100 settlements in the transaction /)
  expect(await found(8)).toMatch(/^At least 100 settlements in the transaction /)
})

test('every link of filters and pages leads to a page, and following all pages shows each agent once', async () => {
  const seen: number[] = []
  let path: string | undefined = '/?sort=oldest&limit=10'
  while (path !== undefined) {
    const page: string = await read(path)
    seen.push(...listed(page))
    path = /rel="next" href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&')
  }
  expect(seen.length).toBe(35)
  expect(new Set(seen).size).toBe(35)
})

test('choosing a filter keeps the others, and choosing it again takes it away', async () => {
  const page = await read('/?q=agent&chain=Base&claimed=claimed&page=2')
  const targets = [...page.matchAll(/class="chip" href="([^"]+)"/g)].map((match) => match[1]?.replaceAll('&amp;', '&'))
  expect(targets).toContain('/?chain=Base&chain=Celo&q=agent&claimed=claimed')
  expect(targets).toContain('/?q=agent&claimed=claimed')
  expect(targets).toContain('/?chain=Base&q=agent')
  expect(page).toContain('<input type="hidden" name="chain" value="Base">')
  expect(page).toContain('href="/feed.atom?chain=Base&amp;claimed=claimed"')
})

test('the totals are those of the API', async () => {
  const stats = (await (await api.get('/api/stats')).json()) as {
    total_agents: number
    claimed_count: number
    chains: unknown[]
  }
  const page = await read('/')
  expect(page).toContain(`ERC-8004 identities on ${stats.chains.length} chains,`)
  expect(textOf(page)).toContain(` agents ${stats.total_agents} claimed by their owners ${stats.claimed_count} `)
})

test('what agents call themselves is text, whatever it looks like', async () => {
  const page = await read('/?sort=newest')
  expect(page).toContain('<bdi>&lt;img src=x onerror=alert(1)&gt;</bdi>')
  expect(page).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(strangeScripts(page)).toEqual([])
  expect(page).not.toMatch(/<img|javascript:/)
})

test('a row says in a line what its agent does: by its registrations, else by the bio of its account', async () => {
  const { pool } = database
  await pool.query(`update agent set bio = ' Tides \n<b>for ports</b>\u202e ' || repeat('W', 9000) where fid = 32`)
  await pool.query(`update agent set bio = 'Of its account' where fid in (33, 34)`)
  const words = { names: 'agent34', skills: '', descriptions: 'Maps reefs' }
  const pieces = JSON.stringify([{ field: 'description', text: words.descriptions }])
  await insert(pool, 'agent_words', { fid: 34, ...words, pieces })
  await seedSearched(pool)
  const said = async (query: string) => {
    const rows = (await read(query)).split('<li class="agent">').slice(1)
    return Object.fromEntries(
      rows.map((row) => [listed(row)[0], /<span class="sub says">(.*?)<\/span>/s.exec(row)?.[1]]),
    )
  }
  expect(await said('/?sort=most-active&limit=20')).toMatchObject({
    31: undefined,
    32: `<bdi>Tides &lt;b&gt;for ports&lt;/b&gt; ${'W'.repeat(97)}…</bdi>`,
    33: '<bdi>Of its account</bdi>',
    34: '<bdi>Maps reefs</bdi>',
  })
  expect(await said('/?q=@agent33')).toEqual({ 33: '<bdi>Of its account</bdi>' })
  // What was searched for is shown already.
  expect(await said('/?q=reefs')).toEqual({ 34: undefined })
})

test('a row tells in dollars what the agent earned in 30 days and ever; one that earned nothing has none', async () => {
  const rows = (await read('/?sort=most-earned')).split('<li class="agent">').slice(1)
  const said = rows.map((row) => [...listed(row), ...(textOf(row).match(/\$[\d.,]+/g) ?? [])])
  expect(said.slice(0, 8)).toEqual([
    [32, '$24.69', '$32,064.00'],
    [20, '$24.69', '$20,040.00'],
    [8, '$24.69', '$8,016.00'],
    [28, '$12.35', '$28,056.00'],
    [16, '$12.35', '$16,032.00'],
    [4, '$12.35', '$4,008.00'],
    [24, '$0.00', '$24,048.00'],
    [12, '$0.00', '$12,024.00'],
  ])
  expect(said.slice(8).filter((row) => row.length > 1)).toEqual([])
})

test('a row whose description cannot be read stands without it, among all others', async () => {
  await database.pool.query(`
    alter table agent_words rename to readable_words;
    create view agent_words as
      select fid, names, skills, case fid when 34 then (1 / (fid - 34))::text else descriptions end as descriptions, pieces
        from readable_words`)
  const rows = (await read('/?sort=most-active&limit=21')).split('<li class="agent">').slice(1)
  const said = rows.map((row) => row.includes('class="sub says"') && listed(row)[0])
  expect(rows.length).toBeGreaterThan(15)
  expect(said).toContain(33)
  expect(said).not.toContain(34)
})

test('the list is 60 kB at most, and ends 60 steps of the Tab key behind its beginning', async () => {
  for (const path of ['/', '/?q=agent', '/?sort=most-active&page=2']) {
    const page = await read(path)
    expect(Buffer.byteLength(page), path).toBeLessThanOrEqual(60_000)
    const list = page.slice(0, page.indexOf('</ol>', page.lastIndexOf('<li class="agent">')))
    expect(listed(list), path).toEqual(listed(page))
    const stops = [...list.matchAll(/<(?:a href|button|select|summary|textarea|input (?!type="hidden"))[^>]*/g)]
    const reached = stops.filter(([tag]) => !tag.includes('tabindex="-1"'))
    expect(reached.length, path).toBeLessThanOrEqual(60)
  }
})

test('each page says whose word what it shows is', async () => {
  for (const path of ['/', '/agent/1', '/status']) {
    const [, footer = ''] = /<footer>([\s\S]*)<\/footer>/.exec(await read(path)) ?? []
    for (const said of [
      'events of public chains',
      'signed messages',
      'somebody’s word',
      'uptime is what this service saw',
    ])
      expect(footer, path).toContain(said)
  }
})

test('a page loads a style sheet, an icon and a script of ours, and may load no more', async () => {
  const response = await api.get('/?q=agent1')
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('content-security-policy')).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  )
  expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  const page = await response.text()
  const loaded = [...page.matchAll(/(?:<link rel="(?:icon|stylesheet)" href|<script src)="([^"]+)"/g)].map(
    (match) => match[1] as string,
  )
  expect(loaded).toEqual(['/assets/icon.svg', '/assets/style.css', '/assets/local.js'])
  for (const path of loaded) expect((await api.get(path)).status).toBe(200)
  expect(strangeScripts(page)).toEqual([])
  expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|url\(/)
  expect(await read('/assets/style.css')).not.toMatch(/@import|url\(/)
})

test('a page may be kept like an answer of the API, and is not metered', async () => {
  const response = await api.get('/')
  expect(response.headers.get('cache-control')).toBe('public, max-age=30')
  expect(response.headers.get('ratelimit')).toBeNull()
  const etag = response.headers.get('etag') as string
  expect((await api.get('/', { headers: { 'If-None-Match': etag } })).status).toBe(304)
  expect((await api.get('/', { method: 'HEAD' })).status).toBe(200)
})

test('readers of feeds and previews find what they need in the head', async () => {
  const page = await read('/?chain=Base')
  expect(page).toContain('<link rel="alternate" type="application/atom+xml" title="Newest agents" href="/feed.atom">')
  expect(page).toContain('href="/feed.atom?chain=Base">')
  expect(page).toContain('<meta property="og:url" content="https://agents.example/?chain=Base">')
  expect(page).toContain('<link rel="canonical" href="https://agents.example/?chain=Base">')
  expect(linkedOf(page)).toBeUndefined()
  expect(linkedOf(await read('/'))).toMatchObject({ '@context': 'https://schema.org', '@type': 'WebSite' })
  expect(linkedOf(await read('/agent/100'))).toMatchObject({ '@context': 'https://schema.org', '@type': 'ProfilePage' })
})

/** What a page says of itself as JSON-LD. */
function linkedOf(page: string): unknown {
  const [, text] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(page) ?? []
  return text === undefined ? undefined : JSON.parse(text)
}
