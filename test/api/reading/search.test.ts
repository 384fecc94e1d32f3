import { afterAll, beforeAll, expect, test } from 'vitest'
import type { z } from 'zod'
import { facetsAnswer, searchAnswer } from '../../../api/schemas/directory/search.ts'
import { deriveWords } from '../../../db/queries/agents/agent-words.ts'
import { runJoin } from '../../derive/passes.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { chainRows } from '../../support/chain/rows.ts'
import { testDatabase } from '../../support/database.ts'
import {
  addressOf,
  dropAgents,
  hashOf,
  insert,
  type SeedAgent,
  seedAgent,
  seedHolding,
  seedSearched,
  seedSettlement,
  seedVerification,
} from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
let now = Date.now()

interface Said {
  readonly name?: string
  readonly description?: string
  readonly services?: { name: string; endpoint: string; declared?: { [list: string]: string[] } }[]
  readonly skills?: string[]
  readonly tools?: string[]
  readonly isDead?: boolean
  readonly unsolicited?: boolean
}

async function add({ said = {}, ...agent }: SeedAgent & { said?: Said }) {
  const { pool } = database
  await seedAgent(pool, agent)
  const { name, description, services, skills, tools, isDead = false, unsolicited = false } = said
  if (name || description || services) {
    await seedHolding(pool, {
      fid: agent.fid,
      chain: 'base',
      id: agent.fid,
      by: addressOf(`${agent.fid}`),
      unsolicited,
    })
    await document(agent.fid, { name, description, services })
  }
  if (skills || tools) {
    await insert(pool, 'agent_spec', {
      fid: agent.fid,
      kind: 'a2a',
      url: `https://${agent.fid}.example`,
      declared: true,
      has_content: true,
      skills: skills ?? [],
      tools: tools ?? [],
      domain_verified: false,
      first_seen_at: new Date(),
      last_alive_at: new Date(),
      last_check_at: new Date(),
      last_check_status: isDead ? 'timeout' : 'ok',
      consecutive_failures: isDead ? 2 : 0,
    })
  }
  await deriveWords(pool, [agent.fid])
}

const document = (id: number, { name, description, services }: Said) =>
  insert(database.pool, 'registration_document', {
    chain: 'base',
    agent_id: String(id),
    uri_status: 'ok',
    name: name ?? null,
    description: description ?? null,
    services: JSON.stringify(services ?? []),
    updated_at: new Date(),
  })

beforeAll(async () => {
  api = await startApi(database, { now: () => now })
  await add({ fid: 1, handle: 'weaver', displayName: 'Weaver of Maps' })
  await add({ fid: 2, handle: 'mapmaker', said: { name: 'Cartographer', description: 'Draws maps for ships at sea.' } })
  await add({ fid: 3, handle: 'sailor', claimMethod: 'jfs', said: { description: 'Reads maps for ships at sea.' } })
  await add({ fid: 4, handle: 'forge', said: { skills: ['translate invoices', 'maps'], tools: ['render_tiles'] } })
  await add({ fid: 5, handle: 'ghost', displayName: 'Saillor', said: { skills: ['translate poems'], isDead: true } })
  await add({ fid: 6, handle: 'port', said: { services: [{ name: 'A2A', endpoint: 'https://harbour.example/a2a' }] } })
  await add({ fid: 7, handle: 'victim', said: { name: 'Spammer Casino', unsolicited: true } })
  await add({ fid: 42, handle: 'fortytwo', addresses: [addressOf('42')], displayName: '4207 sails' })
  await add({ fid: 4207, handle: 'quiet', oli: 'DeFi Trader' })
  await add({ fid: 8, handle: 'maps', said: { description: 'nothing' } })
})
afterAll(() => api.stop())

async function find(q: string, more = ''): Promise<z.infer<typeof searchAnswer>> {
  const response = await api.get(`/api/search?q=${encodeURIComponent(q)}${more}`)
  expect([q, response.status]).toEqual([q, 200])
  return searchAnswer.parse(await response.json())
}
const fids = async (q: string, more = '') => (await find(q, more)).agents.map(({ fid }) => fid)

test('filters narrow what words find, and each is counted with the others applied', async () => {
  expect(await fids('maps', '&skill=Translate%20Invoices')).toEqual([4])
  await database.pool.query('update agent_spec set consecutive_failures = 1 where fid = 4')
  expect(await fids('translate', '&alive=true')).toEqual([])
  expect(await fids('ships', '&claimed=claimed')).toEqual([3])
  expect(await fids('maps', '&protocol=mcp')).toEqual([])
  expect(await fids('maps', '&alive=perhaps')).toEqual([])
  const sold = JSON.stringify([{ service_name: 'Tiles', tags: ['maps', 'Tiles'] }])
  await database.pool.query('update agent_spec set consecutive_failures = 0, resources = $1 where fid = 4', [sold])
  const count = async (query: string) => {
    const response = await api.get(`/api/discovery/facets${query}`)
    return facetsAnswer.parse(await response.json())
  }
  expect(await count('')).toEqual({
    counted: 10,
    complete: true,
    chain: [],
    claimed: [
      { value: 'claimed', count: 1 },
      { value: 'unclaimed', count: 9 },
    ],
    protocol: [{ value: 'a2a', count: 2 }],
    skill: [
      { value: 'maps', count: 1 },
      { value: 'translate invoices', count: 1 },
      { value: 'translate poems', count: 1 },
    ],
    sells: [
      { value: 'maps', count: 1 },
      { value: 'tiles', count: 1 },
    ],
    alive: [{ value: 'true', count: 1 }],
    paid_30d: [{ value: 'true', count: 0 }],
  })
  expect(await count('?skill=maps&protocol=a2a')).toMatchObject({
    claimed: [{ value: 'unclaimed', count: 1 }],
    protocol: [{ value: 'a2a', count: 1 }],
    skill: [{ count: 1 }, { count: 1 }, { count: 1 }],
  })
  expect(await count('?q=ships')).toMatchObject({ counted: 0 })
  expect(await count('?q=ships&of=search')).toMatchObject({ counted: 2, skill: [] })
  expect(await count('?protocol=fax')).toMatchObject({ claimed: [], protocol: [{ count: 2 }] })
  expect(await count('?alive=perhaps')).toMatchObject({ counted: 0, claimed: [] })
  expect(await count('?sells=tiles')).toMatchObject({ protocol: [{ count: 1 }], sells: [{}, {}] })
  const page = await (await api.get('/?sells=tiles', { headers: { accept: 'text/html' } })).text()
  expect(page).toMatch(/Sells[\s\S]*href="\/\?sells=tiles&amp;sells=maps"/)
  for (const filter of ['protocol=a2a', 'skill=maps', 'sells=tiles', 'alive=true']) {
    const { total } = (await (await api.get(`/api/discovery?${filter}`)).json()) as { total: number }
    expect([filter, total]).toEqual([filter, filter === 'protocol=a2a' ? 2 : 1])
  }
})

test('what registrations declare is found as what was read on hosts, by words, by the filter and in its counts', async () => {
  const service = { name: 'MCP', endpoint: 'https://dock.example/mcp' }
  const declared = {
    skills: ['Mooring'],
    domains: ['shipping/ports'],
    tools: ['haul_rope'],
    prompts: ['hail'],
    resources: ['chart'],
  }
  await add({ fid: 11, handle: 'dock', said: { services: [{ ...service, declared }] } })
  await add({ fid: 12, handle: 'pier', said: { services: [{ ...service, declared }], unsolicited: true } })
  for (const word of ['mooring', 'shipping/ports', 'haul_rope', 'hail', 'chart'])
    expect([word, await fids(word)]).toEqual([word, [11]])
  expect((await find('mooring')).agents[0]?.matched).toEqual([{ field: 'skill', snippet: 'Mooring' }])
  expect((await find('haul_rope')).agents[0]?.matched).toEqual([{ field: 'tool', snippet: 'haul_rope' }])
  for (const skill of ['mooring', 'Shipping/Ports']) {
    const { total } = (await (await api.get(`/api/discovery?skill=${encodeURIComponent(skill)}`)).json()) as {
      total: number
    }
    expect([skill, total]).toEqual([skill, 1])
  }
  const facets = facetsAnswer.parse(await (await api.get('/api/discovery/facets?q=dock')).json())
  expect(facets.skill).toEqual([
    { value: 'mooring', count: 1 },
    { value: 'shipping/ports', count: 1 },
  ])
  await dropAgents(database.pool, 'fid in (11, 12)')
})

test('names, descriptions, skills, tools and services are found, and where is said', async () => {
  const matched = async (q: string) => (await find(q)).agents.map(({ fid, matched: places }) => [fid, places])
  expect(await matched('cartographer')).toEqual([[2, [{ field: 'name', snippet: 'Cartographer' }]]])
  expect(await matched('invoices')).toEqual([[4, [{ field: 'skill', snippet: 'translate invoices' }]]])
  expect(await matched('render_tiles')).toEqual([[4, [{ field: 'tool', snippet: 'render_tiles' }]]])
  expect(await matched('harbour.example')).toMatchObject([[6, [{ field: 'service' }]]])
  expect(await matched('trader')).toEqual([[4207, [{ field: 'tag', snippet: 'DeFi Trader' }]]])
  expect((await matched('ships'))[0]).toEqual([3, [{ field: 'description', snippet: 'Reads maps for ships at sea.' }]])
})

test('names come before skills, skills before descriptions; at equal rank the claimed first', async () => {
  // 8: the handle is the word. 1: a name. 4: a skill. 3 and 2: descriptions, of which 3 is claimed. 2 has it in its handle too.
  expect(await fids('maps')).toEqual([8, 1, 4, 3, 2])
  expect(await fids('ships sea')).toEqual([3, 2])
})

test('exactly a handle, a FID or an address comes first', async () => {
  expect((await fids('@weaver'))[0]).toBe(1)
  expect((await fids('WEAVER'))[0]).toBe(1)
  for (const q of ['4207', 'FID 4207', 'fid:4207', '#4207']) expect([q, (await fids(q))[0]]).toEqual([q, 4207])
  expect((await find('FID 42')).agents[0]).toMatchObject({ fid: 42, matched: [{ field: 'fid', snippet: '42' }] })
  expect(await fids('4207')).toEqual([4207, 42]) // the agent with that FID, then the one with the word in its name
  expect(await fids(addressOf('42').toUpperCase().replace('0X', '0x'))).toEqual([42])
  expect(await fids('9'.repeat(40))).toEqual([])
})

test('who was paid in a transaction is found by its hash, among names alone or everywhere', async () => {
  await seedSettlement(database.pool, { chain: 'base', recipient: addressOf('42'), block: 77 })
  const hash = hashOf('tx base 77')
  const paid = { fid: 42, matched: [{ field: 'transaction', snippet: hash }] }
  expect((await find(hash)).agents).toMatchObject([paid])
  expect((await find(hash, '&in=name')).agents).toMatchObject([paid])
  expect(await fids(hash, '&in=skill')).toEqual([])
  expect(await fids(hash, '&claimed=claimed')).toEqual([])
  expect(await fids(hashOf('tx base 78'))).toEqual([])
})

test('parts of names and names with a slip are found after words; short words bear none', async () => {
  expect(await fids('artograph')).toEqual([2])
  expect(await fids('cartografer')).toEqual([2])
  expect(await fids('weavr')).toEqual([1])
  expect(await fids('prt')).toEqual([])
  expect(await fids('sailor')).toEqual([3, 5])
  expect(await fids('@sailor')).toEqual([3]) // @ with an existing handle lists that agent alone
  expect(await fids('@weavr')).toEqual([1])
})

test('what an account says of itself is found, behind what its documents say, and is said to be its bio', async () => {
  const { pool } = database
  await add({ fid: 60, handle: 'sky', bio: 'Tomorrow’s weather for farmers, and disputes about hail.' })
  await add({ fid: 61, handle: 'judge', said: { description: 'Settles a dispute over weather.' } })
  await add({ fid: 62, handle: 'rain', claimMethod: 'jfs', bio: 'weather weather weather weather weather weather' })
  now += 120_000
  expect(await fids('weather')).toEqual([61, 62, 60])
  expect(await fids('weather', '&in=description')).toEqual([61, 62, 60])
  expect(await fids('weather', '&in=name,skill')).toEqual([])
  expect((await find('farmers')).agents).toMatchObject([{ fid: 60, matched: [{ field: 'bio' }] }])
  const facets = await api.get('/api/discovery/facets?q=weather&of=search')
  expect(facetsAnswer.parse(await facets.json())).toMatchObject({ counted: 3 })
  const page = await (await api.get('/?q=disputes')).text()
  expect(page).toContain('href="/agent/60"')
  expect(page).toContain('bio: <bdi>')
  const { total } = (await (await api.get('/api/discovery?q=weather')).json()) as { total: number }
  expect(total).toBe(0)
  await dropAgents(pool, 'fid between 60 and 62')
})

test('a word is found in singular and plural, and where nobody says it whole in words that begin so', async () => {
  const { pool } = database
  await add({ fid: 70, handle: 'a70', said: { description: 'Writes forecasts for agencies, never for boxes.' } })
  await add({ fid: 71, handle: 'a71', bio: 'A forecast of an agency, in one box' })
  await add({ fid: 72, handle: 'a72', claimMethod: 'jfs', said: { description: 'Forecaster' } })
  now += 120_000
  for (const q of ['forecast', 'forecasts', 'Agency', 'agencies', 'box', 'boxes']) {
    expect([q, await fids(q)]).toEqual([q, [70, 71]])
  }
  expect(await fids('"forecast of an agencies"')).toEqual([71])
  // Nobody says it whole: whoever says a word that begins so, by where they say it.
  expect(await fids('forec')).toEqual([72, 70, 71])
  expect(await fids('forec agen')).toEqual([70, 71])
  expect(await fids('forec -agency')).toEqual([72])
  expect(await fids('forecasts -boxes')).toEqual([72])
  expect(await fids('forec', '&in=skill')).toEqual([])
  expect(await fids('forec', '&claimed=claimed')).toEqual([72])
  expect((await find('forec')).agents[0]).toMatchObject({ matched: [{ field: 'description', snippet: 'Forecaster' }] })
  const counted = async (query: string) =>
    facetsAnswer.parse(await (await api.get(`/api/discovery/facets?of=search&q=${query}`)).json()).counted
  expect(await counted('forec')).toBe(3)
  expect(await counted('fo')).toBe(2) // names alone, forge and fortytwo: two letters begin too many words
  // A filter that leaves nobody who says it whole does not make parts of words of it.
  expect(await fids('forecast', '&claimed=claimed')).toEqual([])
  await dropAgents(pool, 'fid between 70 and 72')
})

test('operators of searching are understood, and nothing that people type is refused', async () => {
  expect((await fids('maps -ships')).sort()).toEqual([1, 4, 8])
  expect(await fids('"ships at sea"')).toEqual([3, 2])
  expect(await fids('invoices or cartographer')).toEqual([2, 4])
  for (const q of ['"', '((', '&|!', '-', "it's", ':*', '\\', '%', '@', '<->', 'a & !', '😀']) await find(q)
  expect(await find('')).toMatchObject({ q: null, total: 0, agents: [] })
})

test('in says where to look; unknown places alone match nothing', async () => {
  expect(await fids('maps', '&in=skill')).toEqual([4])
  expect(await fids('maps', '&in=description,skill')).toEqual([4, 3, 2])
  expect(await fids('maps', '&in=description,colour')).toEqual([3, 2])
  expect((await fids('maps', '&in=name')).slice(0, 2)).toEqual([8, 1])
  expect(await fids('maps', '&in=colour')).toEqual([])
  expect(await fids('maps', '&in=skill&in=description')).toEqual([4])
})

test('documents that do not answer, and tokens that strangers sent, say nothing', async () => {
  expect(await fids('poems')).toEqual([])
  expect(await fids('casino')).toEqual([])
})

test('pages follow each other without an overlap, two hundred hits at most', async () => {
  const { pool } = database
  for (let fid = 10_000; fid < 10_230; fid++) await seedAgent(pool, { fid, handle: `lantern${fid}` })
  await deriveWords(
    pool,
    Array.from({ length: 230 }, (_, n) => 10_000 + n),
  )
  const seen: number[] = []
  for (let page = 1; page <= 5; page++) {
    const body = await find('lantern', `&limit=50&page=${page}`)
    expect([body.total, body.count]).toEqual([200, page <= 4 ? 50 : 0])
    seen.push(...body.agents.map(({ fid }) => fid))
  }
  expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => 10_000 + n))
})

test('discovery finds names by q and no words of documents, few and many', async () => {
  const { pool } = database
  const listed = async (q: string, more = '') => {
    const response = await api.get(`/api/discovery?sort=oldest&limit=100&q=${encodeURIComponent(q)}${more}`)
    const { agents, total } = (await response.json()) as { agents: { fid: number }[]; total: number }
    return { fids: agents.map(({ fid }) => fid).sort((a, b) => a - b), total }
  }
  expect(await listed('maps')).toEqual({ fids: [1, 8], total: 2 })
  expect(await listed('9007199254740993')).toEqual({ fids: [], total: 0 }) // beyond Number.MAX_SAFE_INTEGER
  expect(await listed('apmak')).toEqual({ fids: [2], total: 1 })
  for (const q of ['invoices', 'invoices -maps', '@weaver', 'FID 4207']) {
    expect([q, await listed(q)]).toEqual([q, { fids: [], total: 0 }])
  }
  for (const q of ['weaver', addressOf('42')]) expect([q, (await listed(q)).total]).toEqual([q, 1])
  expect((await listed('4207')).fids).toEqual([42, 4207])
  await pool.query(
    `insert into agent (fid, handle, chains, verified_addresses, claimed, agent_status, registered_at, listed_at, search, changed_at)
     select n, 'beacon' || n, case when n % 3 = 0 then '{base}' else '{}' end::text[], '{}', false, 'active', now(), now(), 'beacon' || n, now()
       from generate_series(20001, 21200) n`,
  )
  await seedSearched(pool)
  now += 120_000
  const before = await listed('beacon')
  expect([before.total, before.fids.length]).toEqual([1_200, 100])
  expect((await listed('beacon', '&chain=Base')).total).toBe(400)
  const pages = await Promise.all(Array.from({ length: 12 }, (_, n) => listed('beacon', `&page=${n + 1}`)))
  expect(new Set(pages.flatMap(({ fids }) => fids)).size).toBe(1_200)
})

test('a declared document that asks for payment is alive wherever that is told, and of no protocol before it is read', async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 9, handle: 'toll' })
  await insert(pool, 'agent_spec', {
    fid: 9,
    kind: 'mcp',
    url: 'https://toll.example/mcp',
    declared: true,
    has_content: false,
    skills: [],
    tools: [],
    domain_verified: false,
    first_seen_at: new Date(),
    last_alive_at: new Date(),
    last_check_at: new Date(),
    last_check_status: 'payment_required',
    consecutive_failures: 0,
  })
  now += 120_000
  const listed = async (query: string) => {
    const { agents } = (await (await api.get(`/api/discovery?${query}`)).json()) as { agents: { fid: number }[] }
    return agents.map(({ fid }) => fid).sort()
  }
  expect(await listed('alive=true')).toEqual([4, 9])
  expect(await listed('protocol=mcp')).toEqual([])
  const facets = facetsAnswer.parse(await (await api.get('/api/discovery/facets')).json())
  expect(facets).toMatchObject({ alive: [{ count: 2 }], protocol: [{ value: 'a2a', count: 2 }] })
  expect(await (await api.get('/agent/9')).text()).toContain('class="dot alive"')
  await pool.query('delete from agent_spec where fid = 9')
  await dropAgents(pool, 'fid = 9')
})

test('what an agent is found by follows what happens to it', async () => {
  const { pool } = database
  const write = chainRows(pool)
  const join = async () => {
    const options = { pool, now: () => new Date(now), settlementOverloads: 'spec', lookups: false } as const
    while ((await runJoin(options)) > 0);
    now += 60_000
  }
  const token = { chain: 'base', id: 77_000 } as const
  const holder = addressOf('holder of 77000')
  await seedVerification(pool, { fid: 77, address: holder })
  await write.transfer(token, null, holder, new Date('2026-03-02T00:00:00Z'))
  await document(77_000, { name: 'Telescope keeper', description: 'Watches stars.' })
  await join()
  expect(await fids('telescope')).toEqual([77])
  await pool.query(`update registration_document set name = 'Lens grinder' where agent_id = 77000`)
  await join()
  expect([await fids('telescope'), await fids('grinder')]).toEqual([[], [77]])
  await write.undo(token)
  await join()
  expect(await fids('grinder')).toEqual([])
})
