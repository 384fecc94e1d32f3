import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentBatch } from '../../api/schemas/agents/profile.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedAgent, seedVerification } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database)
  for (let fid = 1; fid <= 120; fid++) {
    await seedAgent(database.pool, {
      fid,
      addresses: [addressOf(`agent ${fid}`)],
      claimMethod: fid === 7 ? 'jfs' : null,
    })
  }
  await seedVerification(database.pool, { fid: 7, address: addressOf('agent 3') })
})
afterAll(() => api.stop())

const read = async (query: string) => {
  const response = await api.get(`/api/agents?${query}`)
  expect(response.status).toBe(200)
  return agentBatch.parse(await response.json())
}

test('profiles come in the order asked, each once, equal to those asked for one by one', async () => {
  const { agents, ...rest } = await read(
    `fids=5,3,5,999&addresses=${addressOf('agent 9').toUpperCase().replace('0X', '0x')},${addressOf('nobody')},${addressOf('agent 5')}`,
  )
  expect(agents.map(({ fid }) => fid)).toEqual([5, 3, 9])
  expect(rest).toEqual({ count: 3, not_found: [999, addressOf('nobody')], ignored: [] })
  expect(agents[0]).toEqual(await (await api.get('/api/agent/5')).json())
})

test('an address that several verify leads to whom by-address names', async () => {
  expect((await read(`addresses=${addressOf('agent 3')}`)).agents.map(({ fid }) => fid)).toEqual([7])
})

test('what is past the hundredth, or unreadable, is ignored and named', async () => {
  const fids = Array.from({ length: 105 }, (_, n) => n + 1)
  const body = await read(`fids=x,99999999999999999999,${fids.join(',')}&addresses=0x12`)
  expect([body.count, body.not_found]).toEqual([100, []])
  expect(body.ignored).toEqual(['x', '99999999999999999999', '101', '102', '103', '104', '105', '0x12'])
  expect(await read('')).toEqual({ count: 0, agents: [], not_found: [], ignored: [] })
})

test('every value of a list as long as a URL may be is answered or named, none of them cut', async () => {
  const beyond = Array.from({ length: 1_900 }, (_, n) => String(1_000_001 + n))
  const body = await read(`fids=${[...Array.from({ length: 100 }, (_, n) => n + 1), ...beyond].join(',')}`)
  expect([body.count, body.not_found]).toEqual([100, []])
  expect(body.ignored).toEqual(beyond)
})
