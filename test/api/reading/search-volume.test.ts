import { beforeAll, expect, test } from 'vitest'
import type { Queryable } from '../../../db/pool.ts'
import {
  discoveryGroups,
  discoveryPage,
  discoverySorts,
  discoveryTotal,
} from '../../../db/queries/directory/discovery.ts'
import { discoveryFacets } from '../../../db/queries/directory/facets.ts'
import { searchAgents } from '../../../db/queries/directory/search.ts'
import { testDatabase } from '../../support/database.ts'
import { blocksRead, planned } from '../../support/recording.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { seedSearched } from '../../support/seed.ts'

// Rows that a search reads among many agents; timings would show a difference only among more.

const agents = 20_000
const everyone = { chain: null, claimed: null, spec: null, codehost: null }
const words = [
  'trade',
  'scout',
  'oracle',
  'mint',
  'relay',
  'audit',
  'swap',
  'vault',
  'quill',
  'ember',
  'atlas',
  'pixel',
]
const word = (n: string) => `(array[${words.map((text) => `'${text}'`).join(', ')}])[1 + (${n}) % ${words.length}]`

const totalAt = async (change: number) => ({ total: 0, change })
const totals = { early: () => totalAt(0), totalAt, leftOut: () => {} }

const database = testDatabase()
beforeAll(async () => {
  await database.pool.query(`
    alter table agent disable trigger user;
    alter table verified_address disable trigger user;
    insert into agent (fid, handle, chains, verified_addresses, claimed, agent_status, registered_at, listed_at, search, changed_at)
    select n, handle, '{base}', array[decode(md5('of ' || n) || '00000000', 'hex')], n % 9 = 0, 'active', now(), now(), handle || ' of everybody', now()
      from (select n, ${word('n')} || n as handle from generate_series(1, ${agents}) n) one;
    update agent set claim_method = 'jfs', claimed_at = now() where claimed;
    insert into verified_address (fid, address, verified_at) select fid, verified_addresses[1], now() from agent;
    insert into agent_words (fid, names, skills, descriptions, pieces)
    select fid, handle, skill, description,
           json_build_array(json_build_object('field', 'handle', 'text', handle), json_build_object('field', 'skill', 'text', skill),
                            json_build_object('field', 'description', 'text', description))
      from (select fid, handle, ${word('fid / 12')} || ' skill' || fid % 700 as skill,
                   'Settles what ' || ${word('fid / 144')} || ' number ' || fid % 3000 || ' leaves, for whoever pays' as description
              from agent) said`)
  await seedSearched(database.pool)
  await database.pool.query(`
    update searched_agent
       set declared = array['active:' || (fid % 2 = 0), 'x402:' || (fid % 4 > 1), case when fid % 1000 = 0 then 'trust:rare' else 'trust:model' end],
           most_feedback = fid % 100`)
  await database.pool.query('vacuum (analyze) agent, agent_words, searched_agent, verified_address')
})

test.each([
  ['a word in names', 'quill', 200],
  ['two words', 'quill skill17', 1],
  ['a word of a description', '2999', 1],
  ['a phrase', '"skill17"', 20],
  ['a handle', '@quill8', 1],
  ['a FID', 'FID 4207', 1],
  ['a slip', 'quil8', 1],
  ['a beginning of words', 'quill19', 80],
  ['nothing there is', 'zzzzzz', 0],
  ['an address', `0x${'ab'.repeat(20)}`, 0],
])('%s is found by indexes alone', async (_, q, least) => {
  const { answer, plan } = await planned(database.pool, (db) =>
    searchAgents(db, { q, parts: null, filter: everyone, limit: 20, offset: 0 }),
  )
  expect(answer.total).toBeGreaterThanOrEqual(least)
  expect(plan.join('\n')).not.toMatch(/Seq Scan on (agent|agent_words|searched_agent|verified_address)/)
})

test.each([
  ['everybody', agents],
  ['quill', Math.floor(agents / 12)],
])('agents with %s in a name are counted without reading an agent or its words', async (q, least) => {
  const answer = await discoveryGroups(database.pool, q)
  const groups = JSON.parse(answer.groups) as { n: number }[]
  expect(groups.reduce((sum, { n }) => sum + n, 0)).toBeGreaterThanOrEqual(least)
  const count = (db: Queryable) => discoveryGroups(db, q)
  expect(await rowsRead(database.pool, count, ['agent', 'agent_words'])).toBeLessThan(10)
})

test.each(discoverySorts)('a page by %s far from the beginning reads hardly an agent before it', async (sort) => {
  const { pool } = database
  for (const filter of [{}, { chain: ['base'], claimed: false }, { q: 'everybody' }, { q: 'everybody', spec: false }]) {
    const page = { sort, limit: 30, from: { offset: 3_000 }, fields: null }
    const far = (db: Queryable) => discoveryPage(db, { q: null, ...everyone, ...filter }, page, totals)
    expect((await far(pool)).count).toBe(30)
    expect(await rowsRead(pool, far, ['agent'])).toBeLessThan(agents / 40)
  }
})

test('who sells something is found without reading what others sell', async () => {
  const { pool } = database
  await pool.query(`
    alter table agent_spec disable trigger user;
    insert into agent_spec (fid, kind, url, declared, has_content, skills, tools, domain_verified, first_seen_at, last_check_at,
                            last_check_status, consecutive_failures, resources)
    select fid, 'x402', 'https://' || fid || '.example/', true, true, '{}', '{}', false, now(), now(), 'ok', 0,
           json_build_array(json_build_object('service_name', 'Shop ' || fid % 5000, 'tags', json_build_array('Everything')),
                            json_build_object('service_name', null, 'tags', '[]'::json))
      from agent`)
  await pool.query('vacuum (analyze) agent, agent_spec')
  for (const [sells, found, most] of [
    ['shop 17', 4, 10],
    ['nothing', 0, 10],
    ['everything', 30, agents],
  ] as const) {
    const page = { sort: 'newest', limit: 30, from: { offset: 0 }, fields: null } as const
    const sellers = (db: Queryable) => discoveryPage(db, { q: null, ...everyone, sells: [sells] }, page, totals)
    expect([sells, (await sellers(pool)).count]).toEqual([sells, found])
    expect(await rowsRead(pool, sellers, ['agent_spec'])).toBeLessThanOrEqual(most)
  }
})

test('agents registered on some days are found without reading all', async () => {
  const { pool } = database
  await pool.query(`update agent set registered_at = timestamptz '2025-01-01' + fid * interval '1 hour'`)
  await pool.query('vacuum (analyze) agent')
  const filter = {
    ...everyone,
    q: null,
    registered_since: '2025-03-01T00:00:00Z',
    registered_until: '2025-03-02T00:00:00Z',
  }
  const page = { sort: 'newest', limit: 30, from: { offset: 0 }, fields: null } as const
  const days = (db: Queryable) => discoveryPage(db, filter, page, totals)
  expect((await days(pool)).count).toBe(24)
  expect(await rowsRead(pool, days, ['agent'])).toBeLessThan(100)
})

test('of a word that everybody says, the few that a filter leaves are all found and counted', async () => {
  const { pool } = database
  const few = [7, 8, 19_989, 19_999]
  await pool.query(`update agent set chains = '{gnosis}' where fid = any ($1)`, [few])
  await seedSearched(pool)
  const rare = { ...everyone, chain: ['gnosis'] }
  await pool.query('vacuum (analyze) agent')
  const search = (db: Queryable) => searchAgents(db, { q: 'whoever', parts: null, filter: rare, limit: 20, offset: 0 })
  const found = await search(pool)
  expect((JSON.parse(found.rows) as { fid: number }[]).map(({ fid }) => fid).sort((a, b) => a - b)).toEqual(few)
  expect(await rowsRead(pool, search, ['agent'])).toBeLessThan(agents / 10)
  const claimed = few.filter((fid) => fid % 9 === 0).length
  for (const [q, isSearch] of [
    ['whoever', true],
    ['everybody', false],
    [null, false],
  ] as const) {
    const counts = JSON.parse(await discoveryFacets(pool, { ...rare, q }, isSearch)) as Record<string, unknown>
    expect([q, isSearch, counts.complete, counts.claimed]).toEqual([
      q,
      isSearch,
      false,
      [
        ...(claimed > 0 ? [{ value: 'claimed', count: claimed }] : []),
        { value: 'unclaimed', count: few.length - claimed },
      ],
    ])
    expect(counts.chain).toContainEqual({ value: 'Gnosis', count: few.length })
  }
})

test('of a word that everybody says, and a filter that few fit, the words of those few are read', async () => {
  const { pool } = database
  const claimed = Array.from({ length: 20 }, (_, n) => 1_000 * (n + 1))
  await pool.query('alter table searched_agent set (autovacuum_enabled = off)')
  await pool.query('update agent set claimed = fid = any ($1)', [claimed])
  await seedSearched(pool)
  await pool.query('vacuum (analyze) agent')
  const filter = { ...everyone, claimed: true }
  const search = (db: Queryable) => searchAgents(db, { q: 'whoever', parts: null, filter, limit: 50, offset: 0 })
  const found = JSON.parse((await search(pool)).rows) as { fid: number }[]
  expect(found.map(({ fid }) => fid).sort((a, b) => a - b)).toEqual(claimed)
  expect(await rowsRead(pool, search, ['searched_agent'])).toBeLessThan(agents / 10)
})

test('the facets of a word that everybody says, and of a filter that few fit, read no agent twice', async () => {
  const filter = { ...everyone, q: 'whoever', claimed: true }
  expect(await blocksRead(database.pool, (db) => discoveryFacets(db, filter, true))).toBeLessThan(agents / 10)
})

test.each([
  ['protocol', { protocol: ['mcp'] }],
  ['skill', { skill: ['skill7'] }],
  ['alive', { alive: true }],
])(
  'the facets of a search by %s ask the descriptions of agents that are found, not of all for each count',
  async (_, asked) => {
    const { pool } = database
    await pool.query(`
    insert into agent_spec (fid, kind, url, declared, has_content, skills, tools, domain_verified, first_seen_at,
                            last_alive_at, last_check_at, last_check_status, consecutive_failures)
    select fid, case when fid % 2 = 0 then 'mcp' else 'a2a' end, 'https://' || fid || '.example', true, true,
           array['skill' || fid % 100], '{}', false, now(), case when fid % 3 = 0 then now() end, now(), 'ok', 0
      from agent on conflict do nothing`)
    await pool.query('vacuum (analyze) agent_spec')
    const filter = { ...everyone, q: 'whoever', ...asked }
    expect(await rowsRead(pool, (db) => discoveryFacets(db, filter, true), ['agent_spec'])).toBeLessThan(4 * agents)
  },
)

test('parts of names are looked for where too few say the word whole, and not where more do than are shown', async () => {
  const { pool } = database
  await pool.query(`update agent_words set descriptions = 'Falcon ' || fid where fid <= 300`)
  await pool.query(`update agent set search = handle || 'falconer' where fid > 1000`)
  await seedSearched(pool)
  await pool.query('vacuum (analyze) agent, agent_words, searched_agent')
  const search = (q: string) => (db: Queryable) =>
    searchAgents(db, { q, parts: null, filter: everyone, limit: 20, offset: 0 })
  expect((await search('falconer')(pool)).total).toBe(200)
  expect(await rowsRead(pool, search('falcon'), ['agent'])).toBeLessThan(1_000)
})

test('of a slip in a word of many, no more names are compared than are ranked', async () => {
  const { pool } = database
  await pool.query(`update agent_words set names = names || ' Harbor' where fid % 4 = 0`)
  await seedSearched(pool)
  await pool.query('vacuum (analyze) agent_words, searched_agent')
  const search = (db: Queryable) =>
    searchAgents(db, { q: 'harbour', parts: null, filter: everyone, limit: 20, offset: 0 })
  const facets = (db: Queryable) => discoveryFacets(db, { ...everyone, q: 'harbour' }, true)
  expect((await search(pool)).total).toBe(200)
  for (const run of [search, facets]) expect(await rowsRead(pool, run, ['agent_words'])).toBeLessThan(agents / 4)
})

test.each([
  ['few declare', { trust: ['rare'] }, agents / 1_000],
  ['half declare', { active: true }, agents / 2],
  ['half declare, with other words', { x402: false, active: true }, agents / 4],
  ['few have so much feedback for', { min_feedback: '95' }, agents / 20],
  ['nobody declares', { trust: ['none'] }, 0],
])('agents by what %s are counted in rows of the search, and found by what is there', async (_, declares, count) => {
  const { pool } = database
  const filter = { ...everyone, q: null, ...declares }
  const others = ['agent', 'agent_holding', 'registration%', 'searched_registration']
  let total = -1
  const read = await rowsRead(pool, async (db) => ({ total } = await discoveryTotal(db, filter)), others)
  expect({ total, read }).toEqual({ total: count, read: 0 })
  if (count > agents / 20) return
  const page = { sort: 'newest', limit: 20, from: { offset: 0 }, fields: null } as const
  let found = -1
  const looked = await rowsRead(pool, async (db) => ({ count: found } = await discoveryPage(db, filter, page, totals)))
  expect(found).toBe(Math.min(20, count))
  // Found by index, each looked up once by its FID; and the page.
  expect(looked).toBeLessThanOrEqual(2 * count + 2 * 20)
})
