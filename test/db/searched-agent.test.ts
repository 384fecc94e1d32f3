import { beforeEach, expect, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { seedAgent, seedSearched } from '../support/seed.ts'

// searched_agent says of each agent what its rows in agent and agent_words say.

const database = testDatabase()
beforeEach(() => database.pool.query('truncate agent, agent_words, searched_agent'))

const say = (fid: number, names: string) =>
  database.pool.query(
    `insert into agent_words (fid, names, skills, descriptions, pieces) values ($1, $2, '', '', '[]')
         on conflict (fid) do update set names = excluded.names`,
    [fid, names],
  )
const searched = async () => {
  await seedSearched(database.pool)
  const { rows } = await database.pool.query(
    `select fid, search, combination, document::text from searched_agent order by fid`,
  )
  return rows
}

test('an agent and its words are there when they are derived, and go with the agent', async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 1, handle: 'ada' })
  await say(1, 'Ada Lovelace')
  const row = { fid: 1, search: 'ada\n\n', combination: '|f|f|f', document: `'ada':1A 'lovelace':2A` }
  expect(await searched()).toMatchObject([row])
  await pool.query(
    `update agent set search = 'grace', chains = '{base,celo}', claimed = true, claim_method = 'jfs', claimed_at = now(),
                      has_spec = true, has_codehost = true`,
  )
  await say(1, 'Hopper')
  const moved = { search: 'grace', combination: 'base,celo|t|t|t', document: `'hopper':1A` }
  expect(await searched()).toEqual([{ fid: 1, ...moved }])
  await pool.query(`update agent_words set bio = 'Admiral'`)
  expect(await searched()).toMatchObject([{ document: `'admiral':2 'hopper':1A` }])
  await pool.query('delete from agent')
  expect(await searched()).toEqual([])
})

test.each([
  ['"', ''],
  ['Agencies', `'agencies' | 'agency' | 'agencie'`],
  ['match box', `( 'match' | 'matches' ) & ( 'box' | 'boxes' )`],
  ['"swap fees" -loss', `( 'swap' | 'swaps' ) <-> ( 'fees' | 'fee' ) & !( 'loss' | 'losses' )`],
  ['é4', `'é4'`],
])('%s in all forms', async (q, all) => {
  const { rows } = await database.pool.query(
    `select in_all_forms(websearch_to_tsquery('simple', $1), false)::text as all,
            in_all_forms(websearch_to_tsquery('simple', $1), true)::text as beginnings`,
    [q],
  )
  const begun = all.replace(/(?<!!\( [^)]*)'[^']{3,}'/g, '$&:*').replace(`'é4'`, `'é4':*`)
  expect(rows).toEqual([{ all, beginnings: begun }])
})

test('counts of settlements, which move all the time, write nothing there', async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 1, handle: 'ada' })
  const version = async () => (await pool.query('select xmin, ctid from searched_agent')).rows
  const before = await version()
  await pool.query('update agent set settlements_30d = 7, settlements_all = 8, search = search')
  await pool.query(`update agent_words set pieces = '[{}]'`)
  await seedSearched(pool)
  expect(await version()).toEqual(before)
})
