import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressList } from '../../../api/schemas/addresses/addresses.ts'
import { addressOwnersAnswer, agentStateAnswer } from '../../../api/schemas/agents/as-of.ts'
import { addressExplanation } from '../../../api/schemas/agents/explain.ts'
import { storeUntimedSets } from '../../../enrichment/socialindex/fids.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { chainRows } from '../../support/chain/rows.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, seedAgent, seedChainState, seedVerification } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
const address = addressOf('swept')
const day = (number: number) => new Date(Date.UTC(2026, 2, number))
const iso = (number: number) => day(number).toISOString()

// An account of whose address a list said without a time, on the tenth; another that verified it on the fifth.
beforeAll(async () => {
  api = await startApi(database)
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 9_000, finalized: 9_000, at: day(20) })
  await chainRows(pool).transfer({ chain: 'base', id: 1 }, null, address, day(3))
  await seedAgent(pool, { fid: 10 })
  await seedAgent(pool, { fid: 11 })
  await storeUntimedSets(pool, { sets: [{ fid: 10, addresses: [address] }], askedAt: day(10), now: day(10) })
  await seedVerification(pool, { fid: 11, address, verifiedAt: day(5) })
})
afterAll(() => api.stop())

const get = async (path: string) => JSON.parse(await (await api.get(path)).text())
const owners = async (query: string) =>
  addressOwnersAnswer
    .parse(await get(`/api/by-address/${address}/owners${query}`))
    .owners.map(({ fid, from, to }) => [fid, from, to])

test('an address that was seen without a time is nobody’s before, and last in the order of times', async () => {
  expect(await owners(`?as_of=${iso(9)}`)).toEqual([[11, iso(5), null]])
  const both = [
    [11, iso(5), null],
    [10, null, null],
  ]
  expect(await owners(`?as_of=${iso(11)}`)).toEqual(both)
  expect(await owners('')).toEqual(both)
  expect(await get(`/api/by-address/${address}`)).toMatchObject({ kind: 'agent', fid: 11 })
})

test('what it held counts from when it was seen, and nobody is told when that began', async () => {
  const held = async (query: string) => {
    const { addresses, chains } = agentStateAnswer.parse(await get(`/api/agent/10/state${query}`))
    return [addresses, chains.find(({ chain }) => chain === 'base')?.registrations]
  }
  expect(await held(`?as_of=${iso(9)}`)).toEqual([[], []])
  const now = [[{ address, from: null, to: null }], [{ erc8004_id: 1, held_by: address, from: null, to: null }]]
  expect(await held(`?as_of=${iso(11)}`)).toEqual(now)
  expect(await held('')).toEqual(now)
})

/** What a time that nobody has said could be shown as: a year before 2026, or no time at all. */
const unsaid = /\b(19\d\d|20[01]\d|202[0-5])\b|Infinity|Invalid/
/** Text of a page without what stands in tags. */
const visible = async (page: Response) => (await page.text()).replaceAll(/<[^>]*>/g, ' ')

test('its time is null where it is shown, in SQL too', async () => {
  const { verifications } = addressExplanation.parse(await get(`/api/by-address/${address}/explain`))
  expect(verifications.map(({ fid, verified_at }) => [fid, verified_at])).toEqual([
    [10, null],
    [11, iso(5)],
  ])
  const { addresses } = addressList.parse(await get('/api/agent/10/addresses'))
  expect(addresses).toMatchObject([{ address, verified_at: null }])
  for (const path of [`/explain?q=${address}`, `/address/${address}`, '/owner/10', '/agent/10']) {
    const page = await api.get(path)
    expect([path, page.status, unsaid.exec(await visible(page))?.[0]]).toEqual([path, 200, undefined])
  }
  const { rows } = await database.pool.query('select verified_at, counts_from from directory.addresses where fid = 10')
  expect(rows).toEqual([{ verified_at: null, counts_from: day(10) }])
  const fids = async (at: Date) =>
    (await database.pool.query('select fid from directory.fids_of_address_as_of($1, $2) order by 1', [address, at]))
      .rows
  expect(await fids(day(9))).toEqual([{ fid: 11 }])
  expect(await fids(day(11))).toEqual([{ fid: 10 }, { fid: 11 }])
  const asOf = async (at: Date) =>
    (await database.pool.query('select held_from from directory.agent_as_of(10, $1)', [at])).rows
  expect([await asOf(day(9)), await asOf(day(11))]).toEqual([[], [{ held_from: day(10) }]])
})
