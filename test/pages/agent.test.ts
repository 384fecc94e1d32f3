import { afterAll, beforeAll, expect, test } from 'vitest'
import { cardDrawing } from '../../api/pages/card/drawing.ts'
import type { Profile } from '../../api/pages/parts/exact-json.ts'
import { cents, dollars } from '../../api/pages/parts/figures.ts'
import { dayName } from '../../api/pages/parts/times.ts'
import { earnedBy } from '../../db/queries/income/earned.ts'
import { refreshRankings } from '../../db/queries/leaderboard/rankings.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { strangeScripts, textOf } from '../support/api/markup.ts'
import { richFid, seedShowcase, sumUpIncome } from '../support/api/showcase.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, insert, seedAgent, seedHolding, seedRegistration, seedSettlement } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const largestId = 2n ** 256n - 1n
const hers = addressOf('hers')
const one = addressOf('one of hers')
const other = addressOf('another of hers')
const today = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000)
const daysAgo = (days: number, ms = 0) => new Date(today.getTime() - days * 86_400_000 + ms)

beforeAll(async () => {
  api = await startApi(database)
  const { pool } = database
  await seedShowcase(pool, Date.now())
  await seedAgent(pool, {
    fid: 7,
    handle: null,
    displayName: '<b>Ada</b>',
    bio: '"><script>alert(1)</script>\u202e',
    chains: ['base'],
    addresses: [hers],
    pfpUrl: 'https://pictures.example/ada.png?a=1&b="2"',
  })
  await seedRegistration(pool, { chain: 'base', id: largestId, owner: hers, uri: 'javascript:alert(1)' })
  await seedHolding(pool, { fid: 7, chain: 'base', id: largestId, by: hers })
  await insert(pool, 'registration_document', {
    chain: 'base',
    agent_id: String(largestId),
    uri_status: 'ok',
    updated_at: today,
    name: '<i>x</i>',
    services: JSON.stringify([
      { name: 'web', endpoint: 'javascript:alert(2)', version: null },
      { name: 'site', endpoint: 'https://ada.example/"><img src=x>', version: null },
    ]),
  })
  const paid = [
    ...[daysAgo(0), daysAgo(0, -1), daysAgo(29), daysAgo(29, -1), daysAgo(10, 5), daysAgo(10, 6)].map((at, n) => ({
      at,
      amount: BigInt(n + 1),
      block: 10 + n,
    })),
    { at: daysAgo(3), amount: 9_007_199_254_740_993n, block: 30 },
  ]
  for (const one of paid) await seedSettlement(pool, { chain: 'base', recipient: hers, ...one })
  await seedSettlement(pool, {
    chain: 'base',
    recipient: hers,
    block: 50,
    at: daysAgo(5),
    amount: 5n,
    selector: '0xcf092995',
  })
  await seedSettlement(pool, { chain: 'base', recipient: one, payer: other, block: 900, at: daysAgo(2) })
  await seedSettlement(pool, { chain: 'base', recipient: one, block: 901, at: daysAgo(2) })
  await sumUpIncome(pool, [7, richFid])
  await seedAgent(pool, { fid: 8, handle: 'quiet', status: 'claimed-only', claimMethod: 'jfs' })
})
afterAll(() => api.stop())

const read = async (path: string) => (await api.get(path)).text()
/** What the page says the agent earned, as `name: figure`. */
function earnedOn(page: string): string[] {
  const [, list = ''] = /<dl class="numbers small">(.*?)<\/dl>/s.exec(page) ?? []
  return [...list.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(
    ([, name, sum = '']) => `${name}: ${textOf(sum).trim()}`,
  )
}

test('the page of an agent shows what its profile says, with links to each chain’s explorer', async () => {
  const page = await read(`/agent/${richFid}`)
  for (const text of [
    '<h1><bdi>Tideline Research</bdi></h1>',
    '@tideline',
    'https://etherscan.io/nft/0x8004a169fb4a3325136eb29fa0ceb6d2e539a432/100',
    `https://etherscan.io/address/${addressOf('showcase 0')}`,
    'The same on 2 more chains: Base <a href="https://basescan.org/nft/',
    'https://polygonscan.com/tx/0x',
    'A2A agent card',
    'class="dot alive"',
    'class="dot down"',
    'passed on to <a href="/agent/4300">FID 4300</a>',
    `href="/api/agent/${richFid}"`,
    `<link rel="alternate" type="application/atom+xml" title="What happens to Tideline Research" href="/agent/${richFid}/feed.atom">`,
    '<meta property="og:title" content="Tideline Research (@tideline)">',
  ]) {
    expect(page).toContain(text)
  }
  const { settlements } = (await (await api.get(`/api/agent/${richFid}/settlements`)).json()) as {
    settlements: { chain: string; block_number: number; log_index: number }[]
  }
  const shown = [...page.matchAll(/<tr id="(settlement-[^"]+)"/g)].map((match) => match[1])
  expect(shown).toEqual(settlements.map((row) => `settlement-${row.chain}-${row.block_number}-${row.log_index}`))
})

test.for([
  ['eip191', 'live', 'proven', 'signed with a verified address', 'a key that the registry names'],
  ['jfs', 'live', 'signed', 'a key of an app the account uses', 'nobody looked the keys up in the registry'],
  ['well-known', 'suspended', 'stated', 'published it on a host', 'cannot be seen at the moment'],
] as const)(
  'it shows how a claim by %s is proven, and the commands that check it',
  async ([method, state, verdict, ...said], { task }) => {
    const { pool } = database
    const fid = 900 + ['live proven', 'live signed', 'suspended stated'].indexOf(`${state} ${verdict}`)
    await seedAgent(pool, { fid, handle: null, addresses: [addressOf(task.name)], claimMethod: method })
    await pool.query('update agent set claim_state = $2 where fid = $1', [fid, state])
    await pool.query('update verified_address set verdict = $2 where fid = $1', [fid, verdict])
    const page = await read(`/agent/${fid}`)
    const sectionOf = (name: string) => {
      const from = page.indexOf(`<section aria-labelledby="${name}">`)
      return from < 0 ? '' : page.slice(from, page.indexOf('</section>', from))
    }
    const section = sectionOf('standing') + sectionOf('data')
    const address = `/api/agent/${fid}/proof`
    for (const text of [
      ...said,
      `<a href="${address}">The proof</a>`,
      `${address}\nnpm run verify-proof -- proof.json --rpc-10 `,
    ])
      expect(section).toContain(text)
    expect(section.includes('cannot be seen at the moment')).toBe(state === 'suspended')
  },
)

test('it says nothing of a proof where nobody claims', async () => {
  expect(await read('/agent/7')).not.toMatch(/verify-proof|The proof/)
})

test('it shows on which of the last days a document was alive, in words as well', async () => {
  const { pool } = database
  const fid = 13
  const url = 'https://watched.example/card.json'
  await seedAgent(pool, { fid })
  const seen = {
    first_seen_at: daysAgo(9),
    last_check_at: today,
    last_check_status: 'timeout',
    consecutive_failures: 1,
  }
  const content = { has_content: true, skills: [], tools: [], domain_verified: false, declared: true }
  await insert(pool, 'agent_spec', { ...seen, ...content, fid, kind: 'a2a', url })
  const cut = { skills: ['Map'], details: JSON.stringify({ truncated: { skills: 51 } }) }
  await insert(pool, 'agent_spec', { ...seen, ...content, ...cut, fid, kind: 'openapi', url })
  for (const [ago, alive, checks] of [
    [5, 500, 500],
    [4, 399, 400],
    [3, 0, 99],
  ] as const) {
    const day = daysAgo(ago).toISOString().slice(0, 10)
    await insert(pool, 'spec_day', { fid, day, kind: 'a2a', url, checks, alive })
  }
  const page = await read(`/agent/${fid}`)
  const named = [daysAgo(4), daysAgo(3)].map((at) => dayName(at.toISOString()))
  expect(page).toContain(
    'It was looked at on 3 days and did not always answer on 2 of them: ' +
      `${named[0]}, 399 of 400 checks found it alive; ${named[1]}, 0 of 99 checks found it alive.`,
  )
  expect(page).toContain('alive in 89.9% of checks in 7 days, 89.9% in 30 days') // 899 of 999: cut, not rounded
  expect(page.match(/<svg [^>]*role="img" aria-labelledby="uptime-0-title uptime-0-text"/g)).toHaveLength(1)
  expect(page).not.toContain('uptime-1')
  expect(page).toContain(' · at least 51 skills') // of a list that is cut
})

test('it tells who the agent is elsewhere: labels, identities and code', async () => {
  const page = await read(`/agent/${richFid}`)
  const section = page.slice(page.indexOf('id="accounts"'), page.indexOf('</section>', page.indexOf('id="accounts"')))
  for (const text of [
    '<li title="name, blockscout"><bdi>Tideline: Till</bdi></li>',
    '<li title="generic, blockscout"><bdi>Data oracle</bdi></li>',
    'href="https://app.ens.domains/tideline.eth"',
    '84 followers',
    '<span class="sub">lens</span> <bdi>tideline</bdi>',
    'href="https://github.com/Tideline"',
    '<span class="sub">verified</span>',
    '14 repositories · 1,930 stars · 212 followers · last push ',
    '<li>TypeScript</li><li>Julia</li>',
  ]) {
    expect(section).toContain(text)
  }
})

test('it lists the other agents it has to do with, as they are linked', async () => {
  const page = await read(`/agent/${richFid}`)
  const section = page.slice(page.indexOf('id="edges"'), page.indexOf('</section>', page.indexOf('id="edges"')))
  const edges = [...section.matchAll(/<li>(.*?)<\/li>/gs)].map(([, edge = '']) => edge.replaceAll(/<[^>]*>/g, ''))
  expect(edges).toEqual([
    'Follows and is followed by @ledgerwren ',
    'Got feedback from @moss.eth Base · 3 times',
    'Was paid by @parcelbot Base · 12 times · $4.20',
    'Same host as @northstar ',
    'Passed an identity on to @quill Poly · 1 time',
  ])
  expect(section).toContain(`href="/agent/${richFid + 31}"`)
  const peer = await read(`/agent/${richFid + 4 * 31}`)
  expect(peer.slice(peer.indexOf('id="edges"')).replaceAll(/<[^>]*>/g, '')).toContain('Paid @tideline')
})

test('a token id of 256 bits and an amount beyond 2^53 are shown digit by digit, the amount to the cent and exactly next to it', async () => {
  const page = await read('/agent/7')
  expect(page).toContain(`#${largestId}</bdi>`)
  expect(page).toContain('title="9007199254.740993 USD">$9,007,199,254<span class="cents">.74</span></data></td>')
})

test('what others wrote is text, and leads only to http', async () => {
  const page = await read('/agent/7')
  expect(page).toContain('&lt;b&gt;Ada&lt;/b&gt;')
  expect(page).toMatch(/<img src="\/picture\/7\?v=[\w-]{8}" alt=""/)
  expect(page).not.toContain('pictures.example')
  expect(strangeScripts(page)).toEqual([])
  expect(page).not.toMatch(/href="javascript|<b>Ada|<i>x|<img src=x|\sstyle=|\son\w+=/)
})

test('it answers who stands behind it, whether it is alive, what it does and what it earned, in this order', async () => {
  const page = await read(`/agent/${richFid}`)
  const headings = [...page.matchAll(/<h2 id="([a-z-]+)"/g)].map((match) => match[1] as string)
  expect(headings.slice(0, 4)).toEqual(['standing', 'specs', 'abilities', 'money'])
  expect(headings.at(-1)).toBe('data')
})

test('the one chart has the last 30 UTC days, empty ones too, with payments of every kind', async () => {
  const rowsOf = (page: string) =>
    [
      ...page
        .slice(page.indexOf('class="values"'), page.indexOf('</details>'))
        .matchAll(/<tr><th scope="row">(.*?)<\/tr>/gs),
    ].map(([, row = '']) => textOf(row).trim())
  const day = (days: number) => dayName(daysAgo(days).toISOString())
  const page = await read('/agent/7')
  expect(page.match(/<rect class="/g)).toHaveLength(30)
  expect(page).toContain(`<title>${day(10)}, $0.000011, 2 payments</title>`) // shown as a tooltip
  expect(rowsOf(page)).toEqual([
    `${day(29)} $0.000003 1 payment`,
    `${day(10)} $0.000011 2 payments`,
    `${day(5)} $0.000005 1 payment`,
    `${day(3)} $9,007,199,254.74 1 payment`,
    `${day(1)} $0.000002 1 payment`,
    `${day(0)} $0.000001 1 payment`,
  ])
  expect(page).toContain('<a href="/api/agent/7/income.csv">each payment as CSV</a>')
  expect(rowsOf(await read('/agent/7?range=7d'))).toHaveLength(4)
  expect(rowsOf(await read('/agent/7?range=90d'))).toHaveLength(7)
  expect(rowsOf(await read('/agent/7?chain=Celo'))).toEqual([])
  const { points } = (await (
    await api.get('/api/agent/7/income/timeseries?interval=month&since=2020-01-01T00:00:00Z')
  ).json()) as {
    points: { payments: number }[]
  }
  expect(points.reduce((sum, { payments }) => sum + payments, 0)).toBe(8)
  expect(await read('/agent/7?range=all')).toContain('in 8 payments over')
})

test('its page, the list, the leaderboard and its card have one figure for 30 days, counted to the hour; other sums name their first day', async () => {
  const all = await earnedBy(database.pool, [7, richFid])
  const stored = all.get(7)
  const month = cents(stored?.last30d ?? '')
  expect(earnedOn(await read('/agent/7')).slice(0, 2)).toEqual([
    `earned in 30 days: ${month}`,
    'payments in 30 days: 8',
  ])
  expect(textOf(await read('/?q=7&sort=most-earned'))).toContain(`${month} earned in 30 days,`)
  await refreshRankings({ pool: database.pool, now: () => new Date(), settlementOverloads: 'spec' })
  const ranked = (await read('/leaderboard?period=30d')).split('<li class="agent ranked">')
  for (const [fid, { last30d, payments30d }] of all) {
    const row = textOf(ranked.find((one) => one.includes(`href="/agent/${fid}"`)) ?? '')
    expect(row).toContain(` ${payments30d} payments ${cents(last30d)} paid `)
  }
  const agent = (await (await api.get('/api/agent/7')).json()) as Profile
  expect(cardDrawing({ agent, earned: stored, serviceName: 'x' })).toContain(`>${month} earned in 30 days, `)
  // A payment of the day before its first is not in the chart.
  const since = `payments since ${dayName(daysAgo(29).toISOString())}`
  expect(earnedOn(await read('/agent/7?self=with'))[1]).toBe(`${since}: 7`)
  expect(earnedOn(await read('/agent/7?chain=Base'))[1]).toBe(`${since} on Base: 7`)
  expect(earnedOn(await read('/agent/7?range=all&chain=Base'))[1]).toBe('payments of all time on Base: 8')
})

test('below the chart stand the kinds of payments, each with its number and sum', async () => {
  const kinds = textOf((await read('/agent/7')).split('aria-label="Income by kind"')[1] ?? '')
  expect(kinds).toContain(' Signed authorization (v, r, s) 7 $9,007,199,254.74 ')
  expect(kinds).toContain(' Signed authorization (bytes) 1 $0.000005 ')
})

test('the amount in the middle is the one of the series', async () => {
  const { points } = (await (
    await api.get(`/api/agent/${richFid}/timeseries?interval=month&since=${daysAgo(29).toISOString()}`)
  ).json()) as { points: { median_usdc: number | null }[] }
  expect(points.some(({ median_usdc }) => median_usdc !== null)).toBe(true)
  expect(textOf(await read(`/agent/${richFid}`))).toMatch(
    / Usually paid \$[0-9.]+ is the median settlement of the last 30 days, those to itself included /,
  )
})

test('every settlement is reached by turning pages', async () => {
  const seen: string[] = []
  let path: string | undefined = `/agent/${richFid}?chain=Base`
  while (path !== undefined) {
    const page: string = await read(path)
    const shown = [...page.matchAll(/<tr id="(settlement-[^"]+)"/g)].map((match) => match[1] as string)
    seen.push(...shown)
    path = /rel="next" href="([^"#]+)/.exec(page)?.[1]?.replaceAll('&amp;', '&')
  }
  expect(new Set(seen).size).toBe(60)
  expect(seen.length).toBe(60)
  expect((await api.get(`/agent/${richFid}?after=zzz`)).status).toBe(404)
})

test('the SQL at the end of the page gives the numbers of its beginning', async () => {
  const { pool } = database
  for (const fid of [7, richFid]) {
    const page = await read(`/agent/${fid}`)
    const [, sql = ''] = /By SQL, from a mirror<\/summary><pre[^>]*><code>([^<]+)<\/code>/.exec(page) ?? []
    const { rows } = await pool.query<{ payments: string; amount_usdc: string }>(sql)
    const [row] = rows
    const facts = textOf(page.slice(page.indexOf('id="money"')))
    expect(facts).toContain(`earned of all time ${cents(row?.amount_usdc ?? '')} payments of all time`)
    expect(facts).toMatch(new RegExp(`payments of all time, from [0-9,]+ payers? ${row?.payments} `))
  }
})

test('what an agent paid itself is told apart, and what strangers wrote stays short', async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 12, displayName: 'x'.repeat(10_000), bio: 'y'.repeat(10_000), addresses: [one, other] })
  for (let id = 0; id < 200; id++) {
    await seedRegistration(pool, {
      chain: 'celo',
      id: 9_000 + id,
      owner: one,
      uri: `https://x.example/${'z'.repeat(900)}`,
    })
    await seedHolding(pool, { fid: 12, chain: 'celo', id: 9_000 + id, by: one, unsolicited: id > 100 })
    await insert(pool, 'registration_document', {
      chain: 'celo',
      agent_id: String(9_000 + id),
      uri_status: 'ok',
      updated_at: today,
      name: 'n'.repeat(2_000),
      description: 'd'.repeat(10_000),
      services: JSON.stringify(
        Array.from({ length: 30 }, () => ({ name: 's'.repeat(900), endpoint: null, version: 'v'.repeat(900) })),
      ),
    })
  }
  await pool.query('update agent set current_total = 20000 where fid = 12')
  await sumUpIncome(pool, [12])
  const page = await read('/agent/12')
  // Half of what it received came from itself. The default figure is that of the list and of the card.
  const since = dayName(daysAgo(29).toISOString())
  expect(earnedOn(page)).toEqual([
    'earned in 30 days: $1.50',
    'payment in 30 days: 1',
    'earned of all time: $1.50',
    'payment of all time, from 1 payer: 1',
  ])
  expect(earnedOn(await read('/agent/12?self=with'))).toEqual([
    `earned since ${since}: $3.00`,
    `payments since ${since}: 2`,
    'earned of all time: $3.00',
    'payments of all time, from 2 payers: 2',
  ])
  expect(page.match(/>to itself</g)).toHaveLength(1)
  expect(page).toContain('registrations that nobody here asked for</summary>')
  expect(page).toContain('of 20,000.')
  expect(page.length).toBeLessThan(60_000)
})

test('an agent without anything has a page that says so', async () => {
  const page = await read('/agent/8')
  expect(page).toContain('No gasless USDC payment has reached')
  expect(page).toContain('This agent holds no ERC-8004 identity now.')
  expect(textOf(page)).not.toMatch(/registered [^,]*, seen/)
  expect(page).not.toMatch(/undefined|\[object|NaN/)
})

test.each([
  ['/agent/999', 404],
  ['/agent/0', 400],
  ['/agent/x', 400],
])('%s is a page for people with the status of the API', async (path, status) => {
  const response = await api.get(path)
  expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await response.text()).toContain('<h1>There is no such page</h1>')
})

test('less than nothing is told so to the cent and exactly', () => {
  expect([cents('-0.500000'), dollars('-0.500000'), dollars('-12.5')]).toEqual(['−$0.50', '−$0.50', '−$12.50'])
})
