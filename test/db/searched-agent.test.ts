import { beforeEach, expect, test } from 'vitest'
import { readMigrations } from '../../db/migration-files.ts'
import { differencesOfSearched } from '../support/agent-model.ts'
import { testDatabase } from '../support/database.ts'
import { seedAgent } from '../support/seed.ts'
import { until } from '../support/until.ts'

// searched_agent says of each agent what its rows in agent and agent_words say, whoever writes those.

const database = testDatabase()
beforeEach(() => database.pool.query('truncate agent, agent_words'))

const say = (fid: number, names: string) =>
  database.pool.query(
    `insert into agent_words (fid, names, skills, descriptions, pieces) values ($1, $2, '', '', '[]')
         on conflict (fid) do update set names = excluded.names`,
    [fid, names],
  )
const searched = async () => {
  const { rows } = await database.pool.query(
    `select fid, search, combination, document::text from searched_agent order by fid`,
  )
  return rows
}

test('an agent and its words are there with the statement that writes them, and go with the agent', async () => {
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
  await pool.query('delete from agent')
  expect(await searched()).toEqual([])
})

test('counts of settlements, which move all the time, write nothing there', async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 1, handle: 'ada' })
  const version = async () => (await pool.query('select xmin, ctid from searched_agent')).rows
  const before = await version()
  await pool.query('update agent set settlements_30d = 7, settlements_all = 8, search = search')
  await pool.query(`update agent_words set pieces = '[{}]'`)
  expect(await version()).toEqual(before)
})

test('agents of an installation that is upgraded are there, and who changed meanwhile as it is now', async () => {
  const { pool } = database
  await pool.query('alter table agent disable trigger user; alter table agent_words disable trigger user')
  for (const fid of [1, 2, 3]) await seedAgent(pool, { fid, handle: `old${fid}` })
  for (const fid of [1, 2]) await say(fid, `Word ${fid}`)
  await pool.query('alter table agent enable trigger user; alter table agent_words enable trigger user')
  await pool.query(`update agent set search = 'new2' where fid = 2`)
  const { fill } = await fillSteps()
  for (let times = 0; times < 2; times++) await pool.query(fill)
  expect(await differencesOfSearched(pool)).toEqual([])
  expect((await searched()).map(({ search }) => search)).toEqual(['old1\n\n', 'new2', 'old3\n\n'])
})

test('an agent that is deleted while the rows of an upgrade are inserted leaves none behind', async () => {
  const { pool } = database
  await pool.query('alter table agent disable trigger user')
  for (const fid of [1, 2]) await seedAgent(pool, { fid, handle: `old${fid}` })
  await pool.query('alter table agent enable trigger user')
  const { fill, indexes, gone } = await fillSteps()
  const deleting = await pool.connect()
  try {
    await deleting.query('begin; delete from agent where fid = 1')
    await pool.query(fill)
    const upgraded = (async () => {
      for (const index of indexes) await pool.query(index)
      await pool.query(gone)
    })()
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%index concurrently%'`
    await until('the index waits', async () => (await pool.query(waiting)).rowCount === 1)
    await deleting.query('commit')
    await upgraded
  } finally {
    deleting.release()
  }
  expect((await searched()).map(({ fid }) => fid)).toEqual([2])
})

/** SQL of the migrations that fill the table in an upgrade: they insert, build indexes, and delete what is gone. */
async function fillSteps() {
  const files = await readMigrations(new URL('../../db/migrations/', import.meta.url))
  const of = (name: string) => files.find((file) => file.name === name)!
  return {
    fill: of('1711_searched_agent_rows.sql').sql,
    indexes: of('1712_searched_agent_indexes.sql').outside!,
    gone: of('1713_searched_agent_gone.sql').sql,
  }
}
