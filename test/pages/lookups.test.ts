import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApi, type TestApi } from '../support/api/api.ts'
import { strangeScripts, textOf } from '../support/api/markup.ts'
import { richFid, seedShowcase } from '../support/api/showcase.ts'
import { testDatabase } from '../support/database.ts'
import {
  addressOf,
  birth,
  hashOf,
  insert,
  seedAgent,
  seedRegistration,
  seedSettlement,
  seedVerification,
} from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const rich = addressOf('showcase 0')
const self = addressOf('pays itself')

beforeAll(async () => {
  const now = Date.now()
  await seedShowcase(database.pool, now)
  await seedVerification(database.pool, { fid: 77, address: self })
  const own = { chain: 'celo', recipient: self, payer: self, block: 7, at: new Date(now - 1_000) } as const
  for (const sender of ['facilitator', 'another sender']) {
    const address = Buffer.from(addressOf(sender).slice(2), 'hex')
    await insert(database.pool, 'facilitator_sender', { address, name: 'Mill & Till', source: 'x402scan' })
  }
  const another = {
    chain: 'base',
    recipient: addressOf('another recipient'),
    block: 9_000_000,
    at: new Date(now - 500),
    amount: 7_770_000n,
  } as const
  await seedSettlement(database.pool, { ...another, facilitator: addressOf('another sender') })
  await seedSettlement(database.pool, own)
  await seedSettlement(database.pool, { ...own, recipient: rich, logIndex: 3, amount: 9_007_199_254_740_993n })
  api = await startApi(database, { now: () => now })
})
afterAll(() => api.stop())

const read = async (path: string) => {
  const response = await api.get(path)
  expect([path, response.status]).toEqual([path, 200])
  return response.text()
}

test('an address tells whose it is, what it holds, what it was paid and paid', async () => {
  const page = await read(`/address/${rich.toUpperCase().replace('0X', '0x')}`)
  expect(page).toContain(`<link rel="canonical" href="https://agents.example/address/${rich}">`)
  const text = textOf(page)
  expect(text).toContain(`It leads to the agent with FID ${richFid}.`)
  expect(text).toContain('61 settlements received')
  expect(text).toContain('Eth #100 since')
  expect(page).toContain(`<a href="/agent/${richFid}"><bdi>@tideline</bdi></a>`)
  const payer = textOf(await read(`/address/${self}`))
  expect(payer).toContain('FID 77 since')
  expect(payer).toContain('to itself')
  expect(payer).toContain('$9,007,199,254.74 ')
})

test('an address nobody knows has a page that says so, and a malformed one has none', async () => {
  const text = textOf(await read(`/address/${addressOf('unheard of')}`))
  expect(text).toContain('No account is known to verify this address.')
  expect(text).toContain('No gasless USDC settlement to this address is known.')
  expect((await api.get('/address/0x12')).status).toBe(400)
})

test('a transaction shows its settlements, whatever the chain is called, and its agents', async () => {
  const hash = hashOf('tx celo 7')
  for (const chain of ['celo', 'Celo', '42220']) {
    const page = await read(`/tx/${chain}/${hash}`)
    expect(page.match(/<tr id="settlement-celo-7-/g)).toHaveLength(2)
    expect(page).toContain(`<link rel="canonical" href="https://agents.example/tx/celo/${hash}">`)
    expect(textOf(page)).toContain('Paid: @tideline')
  }
  for (const path of [`/tx/base/${hash}`, `/tx/nowhere/${hash}`, '/tx/celo/0x12']) {
    expect([path, (await api.get(path)).status]).toEqual([path, 404])
  }
  // An archived transaction cannot be told from one that never was: the page says so.
  const unknown = await (await api.get(`/tx/base/${hash}`, { headers: { accept: 'text/html' } })).text()
  expect(textOf(unknown)).toContain('where years ago are archived, theirs are in the files of /exports alone.')
})

test('a transaction is found without its chain, and names who is known: agents and facilitators, who have a page', async () => {
  const hash = hashOf('tx celo 7')
  const page = await read(`/tx/${hash}`)
  expect(page).toContain(`<link rel="canonical" href="https://agents.example/tx/celo/${hash}">`)
  expect(page).toContain(`<a href="/agent/${richFid}"><bdi>@tideline</bdi></a> <a class="hex" href="/address/${rich}"`)
  expect(page).toContain('<a href="/facilitator/Mill%20%26%20Till"><bdi>Mill &amp; Till</bdi></a>')
  for (const path of [`/tx/${hashOf('nothing')}`, '/tx/0x12', '/facilitator/nobody']) {
    expect([path, (await api.get(path)).status]).toEqual([path, 404])
  }
  const found = textOf(await read(`/?q=${hash}`))
  expect(found).toMatch(/2 settlements in the transaction .* When .* @tideline .* 1 agent/)
  const sender = textOf(await read('/facilitator/Mill%20%26%20Till'))
  expect(sender).toContain('Addresses it sends from')
  expect(sender).toContain('as x402scan says')
  expect(sender).toMatch(/Newest settlements .*? Transaction .*? \$7\.77 Base .*? Celo /)
  // Who is the subject of a page is not named in each of its rows.
  const own = await read(`/address/${rich}`)
  expect(
    own.match(/<td> ?<a class="hex" href="\/address\/[^"]+" title="[^"]+">[^<]+<\/a><\/td>/g)?.length,
  ).toBeGreaterThan(0)
})

test('an account has a portfolio whether it is an agent or not', async () => {
  const text = textOf(await read(`/owner/${richFid}`))
  expect(text).toContain('Tideline Research')
  expect(text).toContain('address 1 identities held 3')
  const other = await read('/owner/77')
  expect(textOf(other)).toContain('This account is not listed as an agent.')
  expect(other).toContain('href="/explain?q=77"')
  expect(other).not.toContain('/api/agent/77/state')
  expect((await api.get('/owner/123456')).status).toBe(404)
})

test('an account with very many addresses has figures that say of how many they are', async () => {
  const own = Array.from({ length: 11 }, (_, n) => addressOf(`of many ${n}`)).sort()
  for (const [n, address] of own.entries()) {
    await seedVerification(database.pool, { fid: 78, address })
    if (n < 2) await seedRegistration(database.pool, { chain: 'base', id: 7_800 + n, owner: address })
  }
  const [figures = '', ...sections] = (await read('/owner/78')).split('<section aria-labelledby="a0x')
  expect(textOf(figures)).toMatch(/ addresses 11 identities held 2 .* are figures of 10 of 11 verified addresses\. $/)
  expect(sections).toHaveLength(10)
  expect(textOf(await read(`/owner/${richFid}`))).not.toContain('are figures of')
})

test('the explanation is a list of steps, with what to do next', async () => {
  const form = await read('/explain')
  expect(form).toContain('<h1>Why am I not listed?</h1>')
  const listed = textOf(await read(`/explain?q=FID%20${richFid}`))
  expect(listed).toMatch(/Claimed by eip191 since [0-9]{1,2} \w+ [0-9]{4}/)
  expect(listed).toContain('It is listed')
  const page = await read('/explain?q=77')
  expect(page.match(/<li class="(done|open)">/g)).toEqual([
    '<li class="done">',
    '<li class="open">',
    '<li class="open">',
    '<li class="open">',
  ])
  expect(textOf(page)).toContain('Next: register an agent with a verified address')
  expect(page).toContain('<a href="/claim?fid=77">Claim it here</a>')
  expect(textOf(await read(`/explain?q=${self}`))).toContain('Verified by FID 77')
  for (const handle of ['@tideline', 'TideLine']) {
    expect(await read(`/explain?q=${handle}`)).toContain(`<a href="/agent/${richFid}">Its page</a>`)
  }
  for (const other of ['tidelin', '%3Cscript%3E']) {
    expect(await read(`/explain?q=${other}`)).toContain('That is neither a FID nor an address.')
  }
})

test('of an account that left the directory nothing is shown, and its FID is not refused', async () => {
  await insert(database.pool, 'unlisted', { fid: 79, since: birth })
  for (const q of ['79', 'FID%2079']) {
    const page = await read(`/explain?q=${q}`)
    expect(textOf(page)).toContain('Nothing is shown here of FID 79.')
    expect(page).not.toMatch(/aria-invalid|neither a FID/)
  }
})

test('the network’s series add up to what the API says, per chain and range', async () => {
  for (const query of ['', '?range=7d&chain=Base', '?range=90d', '?range=all']) {
    const page = await read(`/network${query}`)
    const [, asked] = /href="(\/api\/timeseries\?[^"]+)"/.exec(page) ?? []
    const series = (await (await api.get((asked as string).replaceAll('&amp;', '&'))).json()) as {
      points: { settlements: number }[]
    }
    const sum = series.points.reduce((total, { settlements }) => total + settlements, 0)
    const [, said] = /in ([0-9,]+) settlements? over/.exec(page) ?? []
    expect([query, said]).toEqual([query, sum.toLocaleString('en-US')])
    expect(sum).toBeGreaterThan(0)
  }
  const growth = (await (await api.get('/api/growth?interval=month&since=2020-01-01T00:00:00Z')).json()) as {
    points: { agents: number; claims: number }[]
  }
  expect(growth.points.reduce((total, { agents }) => total + agents, 0)).toBe(40)
  expect(growth.points.reduce((total, { claims }) => total + claims, 0)).toBe(3)
})

test('of all time, months before anything was paid or listed are left out, all but a few', async () => {
  for (const query of ['range=all', 'range=all&chain=Base']) {
    const page = await read(`/network?${query}`)
    const charts = page.split('<figure').slice(1)
    const bars = charts.map((one) => one.slice(0, one.indexOf('</figure>')).match(/<rect /g)?.length ?? 0)
    expect([query, bars.length, Math.max(...bars) < 12]).toEqual([query, 2, true])
  }
})

test('an address with very many registrations and a name without end stay small and inert', async () => {
  const { pool } = database
  const flood = addressOf('flood')
  await seedAgent(pool, {
    fid: 88,
    handle: '\u202e<script>',
    displayName: `<img src=x onerror=alert(1)>${'x'.repeat(10_000)}`,
    bio: `\u202e${'x'.repeat(10_000)}`,
    addresses: [flood],
  })
  for (let id = 0; id < 60; id++) await seedRegistration(pool, { chain: 'base', id: 5_000 + id, owner: flood })
  await pool.query(
    `insert into registration (id, chain, agent_id, owner, burned, registered_block, registered_at, registered_tx,
                               acquired_block, acquired_at, updated_block, updated_at)
     select 'gnosis-' || n, 'gnosis', n, $1, false, 1, now(), '\\x00', 1, now(), 1, now()
       from generate_series(100000, 119999) n`,
    [Buffer.from(flood.slice(2), 'hex')],
  )
  for (const path of [
    `/address/${flood}`,
    '/owner/88',
    '/explain?q=88',
    '/',
    '/?q=script',
    '/agent/88',
    '/network',
    '/leaderboard',
  ]) {
    const page = await read(path)
    expect([path, page.length < 60_000]).toEqual([path, true])
    expect(strangeScripts(page)).toEqual([])
    expect(page).not.toContain('<img')
    expect(page).not.toContain('\u202e')
  }
})
