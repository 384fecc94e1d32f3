import { afterAll, beforeAll, expect, test } from 'vitest'
import { searchAnswer } from '../../../api/schemas/directory/search.ts'
import { deriveWords } from '../../../db/queries/agents/agent-words.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { insert, seedAgent } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi

beforeAll(async () => {
  api = await startApi(database)
})
afterAll(() => api.stop())

const find = async (q: string, filters = '') =>
  searchAnswer.parse(await (await api.get(`/api/search?q=${encodeURIComponent(q)}${filters}`)).json())
const fids = async (q: string, filters = '') => (await find(q, filters)).agents.map(({ fid }) => fid)

test('what documents say besides is found, and what is sold is a filter, wherever it stands', async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 9, handle: 'stall' })
  const of = { fid: 9, declared: true, tools: [], domain_verified: false, consecutive_failures: 0 }
  const at = { first_seen_at: new Date(), last_alive_at: new Date(), last_check_at: new Date() }
  const skills = ['natural_language_processing/summarization']
  const details = {
    interfaces: [{ name: 'Lighthouse' }],
    skills: [{ name: skills[0], id: 'sum-1', tags: ['brevity'] }],
  }
  const sold = { service_name: 'Tide Tables', tags: ['Almanac'] }
  const specs = [
    { kind: 'a2a', url: 'https://9.example/card', has_content: true, skills, details: JSON.stringify(details) },
    { kind: 'x402', url: 'https://9.example/pay', has_content: false, skills: [], resources: JSON.stringify([sold]) },
  ]
  for (const spec of specs) await insert(pool, 'agent_spec', { ...of, ...at, last_check_status: 'ok', ...spec })
  await deriveWords(pool, [9])
  const words = ['lighthouse', 'brevity', 'tide', 'almanac', 'summarization', 'language', skills[0]!]
  for (const word of words) expect(await fids(word), word).toEqual([9])
  expect((await find('almanac')).agents[0]?.matched).toEqual([{ field: 'detail', snippet: 'Almanac' }])
  expect((await find('summarization')).agents[0]?.matched).toEqual([{ field: 'skill', snippet: skills[0] }])
  for (const sells of ['tide%20tables', 'ALMANAC']) {
    for (const path of ['discovery?', 'search?q=stall&']) {
      const answer = await (await api.get(`/api/${path}sells=${sells}`)).json()
      expect((answer as { agents: { fid: number }[] }).agents.map(({ fid }) => fid)).toEqual([9])
    }
  }
  expect(await fids('stall', '&sells=brevity')).toEqual([])
})

test('an agent is alive when what one of its documents describes answers; of a card alone that is said', async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 10, handle: 'deaf' })
  const at = { first_seen_at: new Date(), last_alive_at: new Date(), last_check_at: new Date() }
  const read = { has_content: true, last_check_status: 'ok', consecutive_failures: 0, skills: [], tools: [] }
  const card = { fid: 10, kind: 'a2a', url: 'https://10.example/card', declared: true, domain_verified: false }
  await insert(pool, 'agent_spec', { ...card, ...read, ...at, answers: 'timeout', answers_since: new Date() })
  await deriveWords(pool, [10])
  const alive = () => fids('deaf', '&alive=true')
  const counted = async () => {
    const { alive } = (await (await api.get('/api/discovery/facets?q=deaf')).json()) as { alive: unknown }
    return alive
  }
  expect(await alive()).toEqual([])
  expect(await fids('deaf', '&alive=false')).toEqual([10])
  expect(await counted()).toEqual([{ value: 'true', count: 0 }])
  const page = await (await api.get('/agent/10')).text()
  expect(page).toContain('readable, but what it describes does not answer: timeout')
  expect(page).not.toContain('class="dot alive"')
  const { agent_specs } = (await (await api.get('/api/agent/10')).json()) as { agent_specs: { documents: unknown[] } }
  expect(agent_specs.documents).toMatchObject([{ readable: true, answers: { code: 'timeout', latency_ms: null } }])
})

test.each(['ok', 'payment_required', 'auth_required', null])('an agent that answers %s is alive', async (answers) => {
  await database.pool.query('update agent_spec set answers = $1 where fid = 10', [answers])
  expect(await fids('deaf', `&alive=true&limit=${answers?.length ?? 3}`)).toEqual([10])
})
