import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentFieldsBatch, profile } from '../../../api/schemas/agents/profile.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import {
  addressOf,
  countSettlements,
  seedAgent,
  seedHolding,
  seedRegistration,
  seedSettlement,
} from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
const names = Object.keys(profile.shape)

beforeAll(async () => {
  api = await startApi(database)
  const { pool } = database
  for (const fid of [1, 2]) {
    const address = addressOf(`of ${fid}`)
    await seedAgent(pool, { fid, addresses: [address], chains: ['base'], claimMethod: 'jfs', bio: 'bio' })
    await seedRegistration(pool, { chain: 'base', id: fid, owner: address })
    await seedHolding(pool, { fid, chain: 'base', id: fid, by: address })
    await seedSettlement(pool, { chain: 'base', recipient: address, block: fid, at: new Date() })
  }
  await countSettlements(pool)
})
afterAll(() => api.stop())

const text = async (path: string) => {
  const response = await api.get(path)
  expect([path, response.status]).toEqual([path, 200])
  return response.text()
}

test('any fields are those of the whole profile, in its order, by itself and in a batch', async () => {
  const whole = JSON.parse(await text('/api/agent/1'))
  const some = fc.subarray(names.filter((name) => name !== 'fid'))
  await fc.assert(
    fc.asyncProperty(some, fc.boolean(), async (wanted, backwards) => {
      const asked = [...(backwards ? wanted.toReversed() : wanted), 'nothing'].join(',')
      const expected = JSON.stringify(
        Object.fromEntries(
          names.filter((name) => name === 'fid' || wanted.includes(name)).map((name) => [name, whole[name]]),
        ),
      )
      expect(JSON.stringify(JSON.parse(await text(`/api/agent/1?fields=${asked}`)))).toBe(expected)
      const batch = agentFieldsBatch.parse(JSON.parse(await text(`/api/agents?fids=2,1&fields=${asked}`)))
      expect(JSON.stringify(batch.agents[1])).toBe(expected)
    }),
    { numRuns: 30, examples: [[[], false]] },
  )
})

test('a field is sent however many unknown ones are named before it', async () => {
  const asked = `${'nothing,'.repeat(400)}handle`
  expect(await text(`/api/agent/1?fields=${asked}`)).toBe(await text('/api/agent/1?fields=handle'))
})

test('without a value it is the whole profile; in another order it is the same answer from memory', async () => {
  expect(await text('/api/agent/1?fields=')).toBe(await text('/api/agent/1'))
  const first = await api.get('/api/agent/2?fields=bio,chains')
  const second = await api.get('/api/agent/2?fields=chains,unknown,bio,fid')
  expect(second.headers.get('etag')).toBe(first.headers.get('etag'))
  expect([first.headers.get('age'), second.headers.get('age')]).toEqual([null, '0'])
})

test('an unknown agent is not found, whatever is asked of it', async () => {
  expect((await api.get('/api/agent/9?fields=handle')).status).toBe(404)
})
