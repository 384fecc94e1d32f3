import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { EventReader } from '../../support/api/event-reader.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, insert, seedAgent, seedSettlement } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database)
  await seedAgent(database.pool, { fid: 5, handle: 'paid', addresses: [addressOf('agent')] })
  const address = Buffer.from(addressOf('facilitator').slice(2), 'hex')
  await insert(database.pool, 'facilitator_sender', { address, name: 'Mill & Till', source: 'x402scan' })
  await pay('base', 1)
})
afterAll(() => api.stop())

const pay = (chain: 'base' | 'celo', block: number, recipient = addressOf('paid'), amount = 1_000_000n) =>
  seedSettlement(database.pool, { chain, recipient, block, amount, at: new Date() })
const blocksOf = ({ events }: EventReader) =>
  events.map(({ data }) => (JSON.parse(data) as { block_number: number }).block_number)

/** Opens the stream behind `place`, retrying on 429: the server may not have noticed yet that earlier readers left. */
async function followBehind(place: string): Promise<EventReader> {
  let answer: Response | undefined
  await until('a slot is free', async () => {
    answer = await api.get('/data/settlements.sse', { headers: { 'Last-Event-ID': place } })
    return answer.status !== 429
  })
  return new EventReader(answer as Response)
}

test('settlements are told once each as they come, as the list has them, of the chains asked for', async () => {
  const all = new EventReader(await api.get('/data/settlements.sse'))
  await all.until((text) => text.includes('retry: '))
  const ofCelo = new EventReader(await api.get('/data/settlements.sse?chain=Celo'))
  await ofCelo.until((text) => text.includes('retry: '))
  await pay('base', 2, addressOf('paid'), 9_007_199_254_740_993n)
  await all.untilEvents(1)
  await pay('celo', 3, addressOf('agent'))
  await pay('base', 4)
  await all.untilEvents(3)
  await ofCelo.untilEvents(1)
  expect(blocksOf(all).toSorted()).toEqual([2, 3, 4])
  expect(blocksOf(ofCelo)).toEqual([3])
  expect(all.events.map(({ event }) => event)).toEqual(['settlement', 'settlement', 'settlement'])
  const since = new Date(Date.now() - 600_000).toISOString()
  const { settlements } = (await (await api.get(`/api/settlements?since=${since}`)).json()) as {
    settlements: unknown[]
  }
  const told = all.events.map(({ data }) => JSON.parse(data) as { block_number: number; names: object })
  for (const { names, ...row } of told) expect(settlements).toContainEqual(row)
  const facilitator = { agent: null, facilitator: 'Mill & Till' }
  const nobody = { payer: null, recipient: null, facilitator }
  const known = told.map(({ block_number: block, names }): [number, object] => [block, names])
  expect(Object.fromEntries(known)).toEqual({
    2: nobody,
    3: { ...nobody, recipient: { agent: { fid: 5, handle: 'paid' }, facilitator: null } },
    4: nobody,
  })
  expect(all.text).toContain('"amount_usdc":9007199254.740993,')

  // A reader that reconnects with its Last-Event-ID goes on behind that event.
  const [first] = all.events
  await ofCelo.close()
  const again = await followBehind(first?.id ?? '')
  await again.untilEvents(2)
  expect(blocksOf(again)).toEqual(blocksOf(all).slice(1))
  await all.close()
  await again.close()
})

test('a settlement that is in the place of another after a reorg is told, too', async () => {
  const reader = new EventReader(await api.get('/data/settlements.sse'))
  await reader.until((text) => text.includes('retry: '))
  await pay('base', 5)
  await reader.untilEvents(1)
  await database.pool.query(`update settlement set tx_hash = '\\x05' where chain = 'base' and block_number = 5`)
  await reader.untilEvents(2)
  expect(reader.events.map(({ data }) => JSON.parse(data).tx_hash)[1]).toBe('0x05')
  await reader.close()
})

test('a place of another process is told so', async () => {
  const reader = await followBehind('00000000-1')
  await reader.ended()
  expect(reader.events.map(({ event }) => event)).toEqual(['reset'])
})
