import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressSubjectAnswer } from '../../api/schemas/addresses/by-address.ts'
import { profileLimits } from '../../config/limits.ts'
import { failure, startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, birth, seedAgent, seedRegistration, seedVerification } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database)
})
afterAll(() => api.stop())

const read = async (address: string) => {
  const response = await api.get(`/api/by-address/${address}`)
  expect(response.status).toBe(200)
  return addressSubjectAnswer.parse(await response.json())
}

test('an address an agent verifies is that agent, whatever the case it is written in', async () => {
  const address = addressOf('verified')
  await seedAgent(database.pool, {
    fid: 1,
    handle: 'ada',
    displayName: 'Ada',
    addresses: [address],
    claimMethod: 'jfs',
  })
  const agent = { kind: 'agent', fid: 1, handle: 'ada', display_name: 'Ada', claimed: true }
  expect(await read(address)).toEqual(agent)
  expect(await read(`0x${address.slice(2).toUpperCase()}`)).toEqual(agent)
})

test('of several agents that verify one address the claimed counts, then the newest verification, then the lowest fid', async () => {
  const { pool } = database
  const address = addressOf('shared')
  const later = new Date(birth.getTime() + 1_000)
  for (const fid of [12, 11, 10, 13]) await seedAgent(pool, { fid, claimMethod: fid === 13 ? 'eip191' : null })
  await seedVerification(pool, { fid: 12, address, verifiedAt: later })
  await seedVerification(pool, { fid: 11, address, verifiedAt: later })
  await seedVerification(pool, { fid: 10, address })
  await seedVerification(pool, { fid: 13, address })
  expect(await read(address)).toMatchObject({ fid: 13 })

  const unclaimed = addressOf('shared, unclaimed')
  await seedVerification(pool, { fid: 10, address: unclaimed })
  await seedVerification(pool, { fid: 12, address: unclaimed, verifiedAt: later })
  await seedVerification(pool, { fid: 11, address: unclaimed, verifiedAt: later })
  expect(await read(unclaimed)).toMatchObject({ fid: 11 })
})

test('an address that holds tokens without an account lists what it holds now, chain by chain', async () => {
  const { pool } = database
  const address = addressOf('holder')
  await seedRegistration(pool, { chain: 'gnosis', id: 3, owner: address, block: 7 })
  await seedRegistration(pool, { chain: 'ethereum', id: 20, owner: address, block: 8 })
  await seedRegistration(pool, { chain: 'ethereum', id: 0, owner: address, block: 9 })
  await seedRegistration(pool, { chain: 'base', id: 4, owner: addressOf('next holder') })
  await seedRegistration(pool, { chain: 'base', id: 5, owner: null })
  const deployed_at = '2026-03-01T00:00:00.000Z'
  expect(await read(`0x${address.slice(2).toUpperCase()}`)).toEqual({
    kind: 'address-only',
    address,
    registrations: [
      { chain: 'ethereum', erc8004_id: 0, block_number: 9, deployed_at },
      { chain: 'ethereum', erc8004_id: 20, block_number: 8, deployed_at },
      { chain: 'gnosis', erc8004_id: 3, block_number: 7, deployed_at },
    ],
    registrations_total: 3,
    next_cursor: null,
  })
})

test('a verification that ended, or of an account outside the index, makes no agent', async () => {
  const { pool } = database
  const ended = addressOf('ended')
  const outside = addressOf('outside')
  await seedAgent(pool, { fid: 30 })
  await seedVerification(pool, { fid: 30, address: ended, endedAt: new Date() })
  await seedVerification(pool, { fid: 31, address: outside })
  for (const address of [ended, outside, addressOf('nobody')]) {
    const response = await api.get(`/api/by-address/${address}`)
    expect(await failure(response)).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
  }
})

test('a holder of more than a page says how many there are, and a cursor leads through all of them', async () => {
  const { pool } = database
  const address = addressOf('platform')
  const held = profileLimits.registrationsOfAddress + 3
  await pool.query(
    `insert into registration (id, chain, agent_id, owner, burned, registered_block, registered_at, registered_tx,
                               acquired_block, acquired_at, updated_block, updated_at)
     select 'held-' || n, case n % 2 when 0 then 'celo' else 'base' end, 1000 + n, $1, false, 1, now(), '', 1, now(), 1, now()
       from generate_series(1, $2::int) n`,
    [Buffer.from(address.slice(2), 'hex'), held],
  )
  const page = async (query: string) => {
    const response = await api.get(`/api/by-address/${address}${query}`)
    const body = addressSubjectAnswer.parse(await response.json())
    if (body.kind !== 'address-only') throw new Error('an agent')
    return { ...body, link: response.headers.get('link') }
  }
  const first = await page('')
  expect([first.registrations.length, first.registrations_total]).toEqual([held - 3, held])
  expect(first.link).toContain(`cursor=${first.next_cursor}`)
  const last = await page(`?cursor=${first.next_cursor}`)
  expect([last.registrations.length, last.registrations_total, last.next_cursor]).toEqual([3, held, null])
  const ids = [...first.registrations, ...last.registrations].map((one) => one.erc8004_id)
  expect(new Set(ids).size).toBe(held)
  expect((await page('?cursor=')).registrations).toEqual(first.registrations)
  const other = await api.get(`/api/by-address/${addressOf('holder')}?cursor=${first.next_cursor}`)
  expect(await failure(other)).toMatchObject({ status: 404 })
})
