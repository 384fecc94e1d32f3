import { beforeAll, expect, test } from 'vitest'
import { readingLimits } from '../../../config/limits.ts'
import { actingTerms } from '../../../db/queries/registrations/acting.ts'
import { type RegistrationFilter, registrationFilters } from '../../../db/queries/registrations/filters.ts'
import { registrationsPage } from '../../../db/queries/registrations/page.ts'
import { subgraphList } from '../../../db/queries/subgraph/list.ts'
import { testDatabase } from '../../support/database.ts'
import { rowsRead } from '../../support/rows-read.ts'

// Rows that a page of all registrations reads among many, whatever is asked for; timings would show a difference only among
// more.

const registrations = 20_000
const most = { walked: 200, matched: 400 }
const limit = 20

const database = testDatabase()
beforeAll(async () => {
  const { pool } = database
  await pool.query(`
    alter table registration disable trigger user;
    insert into registration (id, chain, agent_id, owner, burned, registered_block, registered_at, registered_tx, acquired_block,
                              acquired_at, updated_block, updated_at)
    select 'base-' || n, case when n % 3 = 0 then 'celo' else 'base' end, n, '\\x00', false, n, now(), '\\x00', n, now(), n, now()
      from generate_series(1, ${registrations}) n;
    insert into searched_registration (chain, agent_id, registered_at, updated_at, active_at, moved_at, name, description, feedback_count, terms)
    select chain, agent_id, time.registered_at, time.updated_at, time.registered_at, time.updated_at,
           'agent ' || md5(agent_id::text), 'does this and that with ' || md5(chain || agent_id), case when agent_id % 50 = 0 then agent_id % 400 else 0 end,
           array_to_tsvector(array['chain:' || chain, 'owner:0x' || md5((agent_id % 3000)::text) || '00000000',
                                   'active:' || (agent_id < ${registrations / 2}), 'x402:' || (agent_id >= ${registrations / 2}),
                                   'skill:' || agent_id % 900, 'trust:' || agent_id % 2])
      from registration
     cross join lateral (
       select timestamptz '2026-01-01' + agent_id::int * interval '1 minute' as registered_at,
              timestamptz '2026-02-01' + (agent_id * 7919 % ${registrations})::int * interval '1 minute' as updated_at) time`)
  await pool.query('vacuum (analyze) registration, searched_registration')
})

const nothing = Object.fromEntries(Object.keys(registrationFilters).map((name) => [name, null]))

test.each<[string, Partial<RegistrationFilter>, number]>([
  ['all', {}, limit],
  ['those of a chain', { chain: ['celo'] }, limit],
  ['those of two chains', { chain: ['celo', 'base'] }, limit],
  ['half of all, far from the beginning', { active: true }, 0],
  ['two words that many have and nobody together', { active: true, x402: true }, 0],
  ['a rare word', { skill: ['17'] }, limit],
  ['a rare word of another half', { skill: ['17'], active: true }, 11],
  ['a name', { name: 'c4ca4238a0b923820dcc509a6f75849b' }, 1],
  ['a part that many have', { name: 'agent' }, limit],
  ['a part that no index has', { name: '~' }, 0],
  ['a description', { description: 'ffffffffffff' }, 0],
  ['common words in an order that nobody uses', { description: 'that and this' }, 0],
  ['such words in a name', { name: 'gent age' }, 0],
  ['such words and much feedback', { description: 'that and this', min_feedback: '1' }, 0],
  ['much feedback', { min_feedback: '350' }, limit],
  ['more feedback than anybody has', { min_feedback: '400' }, 0],
  ['a time beyond all', { updated_since: '2030-01-01T00:00:00.000Z' }, 0],
])('a page of %s reads few rows of many', async (_, filter, least) => {
  const wanted = { ...nothing, ...filter } as unknown as RegistrationFilter
  const installation = { registries: {}, baseUrl: '' } as never
  let count = 0
  const read = await rowsRead(
    database.pool,
    async (db) => {
      const page = await registrationsPage(db, {
        filter: wanted,
        sort: 'newest',
        limit,
        after: undefined,
        installation,
        most,
      })
      count = page.count
    },
    ['searched_registration', 'registration', 'registration_document'],
  )
  expect(count).toBeGreaterThanOrEqual(least)
  // Looked at in turn, once more to know where that ended, looked up by index, read again by place; and the page.
  expect(read).toBeLessThanOrEqual(2 * most.walked + 2 * most.matched + 4 * limit)
})

test('a page of the subgraph by what files of many say reads few of a chain', async () => {
  const { pool } = database
  await pool.query(`
    insert into registration_document (chain, agent_id, uri_sha256, uri_status, supported_trust, tried_uri_sha256, updated_at)
    select chain, agent_id, '\\x00', 'ok', json_build_array(agent_id % 2), '\\x00', now() from registration`)
  await pool.query('vacuum (analyze) registration_document')
  const file = { supportedTrusts_contains: ['1'] }
  const list = {
    entity: 'Agent',
    wanted: new Map([['chainId', new Map()]]),
    scopes: { kind: 'chain', rows: [['base']], each: false },
    where: { registrationFile_not: null, registrationFile_: file },
    orderBy: 'updatedAt',
    isDescending: true,
    first: 100,
    skip: 0,
    most: 1_000,
    mostBytes: 1_000_000,
  } as const
  let count = 0
  const read = await rowsRead(
    pool,
    async (db) => {
      count = (await subgraphList(db, list))?.length ?? 0
    },
    ['searched_registration', 'registration', 'registration_document'],
  )
  expect(count).toBe(100)
  // Every second fits: a few hundred are looked at, each found and then looked up in three tables, and a hundred shown.
  expect(read).toBeLessThanOrEqual(4 * 500 + 3 * 100)
})

test('who was named an operator again and again is looked up for each registration without all that was said of it', async () => {
  const { pool } = database
  const operator = `0x${'0f'.repeat(20)}`
  const named = 3_000
  await pool.query(
    `insert into registration_operator (id, chain, owner, operator, approved, block_number, log_index, block_timestamp, tx_hash)
     select 'base-' || n, 'base', '\\x00', $1, n < $2, n, 0, timestamptz '2026-01-01' + n * interval '1 minute', '\\x00'
       from generate_series(1, $2::int) n`,
    [Buffer.from(operator.slice(2), 'hex'), named],
  )
  await pool.query('vacuum (analyze) registration_operator')
  const filter = { ...nothing, operator } as unknown as RegistrationFilter
  const installation = { registries: {}, baseUrl: '' } as never
  const page = { filter, sort: 'newest', limit, after: undefined, installation, most } as const
  const read = await rowsRead(pool, (db) => registrationsPage(db, page), ['registration_operator'])
  expect(read).toBeLessThanOrEqual(readingLimits.operatorEvents + 1 + most.walked)
})

test('of an operator of very many holders no holder is looked up before its registrations are', async () => {
  const { pool } = database
  const operator = `0x${'0e'.repeat(20)}`
  const owners = readingLimits.operatorEvents + 500
  await pool.query('update registration set owner = int4send(agent_id::int) where agent_id <= $1', [owners])
  await pool.query(
    `insert into registration_operator (id, chain, owner, operator, approved, block_number, log_index, block_timestamp, tx_hash)
     select 'many-' || agent_id, chain, owner, $1, true, 1, 0, now(), '\\x00' from registration where agent_id <= $2`,
    [Buffer.from(operator.slice(2), 'hex'), owners],
  )
  await pool.query('vacuum (analyze) registration, registration_operator')
  const found = await actingTerms(pool, [operator])
  expect([...found]).toEqual([[operator, null]])
  expect(await rowsRead(pool, (db) => actingTerms(db, [operator]), ['registration'])).toBe(0)
  const filter = { ...nothing, operator } as unknown as RegistrationFilter
  const installation = { registries: {}, baseUrl: '' } as never
  const page = { filter, sort: 'newest', limit, after: undefined, installation } as const
  const read = await rowsRead(pool, (db) => registrationsPage(db, page), ['searched_registration', 'registration'])
  // Each is looked up as it is looked at, and the last of them to know where that ended.
  expect(read).toBeLessThanOrEqual(3 * readingLimits.registrationsLookedUp)
})

test.each([
  ['ab', 0],
  ['a b', 1],
  ['xbyyax', 4], // of a letter before, and of one behind, it may be axb
  ['abcd', 2],
  ['Ab cD', 3],
  ['träumer', 5],
  ['a long part of a text with many words, of which every one would be another list to read', 12],
])('a text with the part %o has the %d trigrams by which it is looked up', async (part, count) => {
  const { rows } = await database.pool.query(
    `select cardinality(trigrams_inside($1)) as count, show_trgm('some' || $1 || 'thing') @> trigrams_inside($1) as inside,
            show_trgm($1) @> trigrams_inside($1) as alone`,
    [part],
  )
  expect(rows).toEqual([{ count, inside: true, alone: true }])
})
