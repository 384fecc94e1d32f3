import { afterAll, beforeAll, expect, test } from 'vitest'
import { facilitatorList } from '../../../api/schemas/income/facilitators.ts'
import { ensureFacilitatorRows, facilitatorListSource, facilitators } from '../../../db/facilitator-list.ts'
import { facilitatorList as readFacilitators } from '../../../db/queries/income/facilitators.ts'
import { storeSenders } from '../../../db/queries/sources/facilitators.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, birth, seedChainState, seedSettlement } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database)
})
afterAll(() => api.stop())

const read = async () => facilitatorList.parse(await (await api.get('/api/facilitators')).json())
const sendersOf = (name: string) => facilitators.find((one) => one.name === name)?.senders as string[]

test('the published list names each account once, in lowercase', () => {
  const senders = facilitators.flatMap((one) => one.senders)
  expect(senders.filter((one) => !/^0x[0-9a-f]{40}$/.test(one))).toEqual([])
  expect(new Set(senders).size).toBe(senders.length)
  expect(senders).toHaveLength(128)
})

test('facilitators stand with first and last use, counts and volume of what their accounts sent in final blocks', async () => {
  const { pool } = database
  const [first, second] = sendersOf('PayAI') as [string, string]
  const recipient = addressOf('seller')
  const paid = { recipient, amount: 1_250_000n }
  const at = (minutes: number) => new Date(birth.getTime() + minutes * 60_000)
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 1_000 })
  await seedChainState(pool, { chain: 'polygon', indexed: 1_000, finalized: 500 })
  await seedSettlement(pool, { ...paid, chain: 'base', facilitator: first, block: 1, at: at(1) })
  await seedSettlement(pool, {
    ...paid,
    chain: 'base',
    facilitator: second,
    block: 2,
    at: at(2),
    selector: '0xcf092995',
  })
  await seedSettlement(pool, { ...paid, chain: 'polygon', facilitator: first, block: 3, at: at(3) })
  await seedSettlement(pool, { ...paid, chain: 'polygon', facilitator: first, block: 501, at: at(4) })
  await seedSettlement(pool, { ...paid, chain: 'base', facilitator: addressOf('nobody known'), block: 5, at: at(5) })
  while ((await rollUpSettlements({ pool })) > 0);

  const { count, facilitators: listed } = await read()
  expect(count).toBe(facilitators.length)
  expect(listed[0]).toEqual({
    name: 'PayAI',
    senders: sendersOf('PayAI')
      .toSorted()
      .map((address) => ({ address, source: facilitatorListSource })),
    chains: ['base', 'polygon'],
    settlements: 3,
    volume_usdc: 3.75,
    by_kind: {
      eip3009_vrs: { settlements: 2, volume_usdc: 2.5 },
      eip3009_bytes: { settlements: 1, volume_usdc: 1.25 },
    },
    first_used_at: at(1).toISOString(),
    last_used_at: at(3).toISOString(),
  })
  const unused = listed.slice(1)
  expect(unused.map(({ name }) => name)).toEqual(unused.map(({ name }) => name).toSorted())
  expect(unused.every(({ settlements, first_used_at }) => settlements === 0 && first_used_at === null)).toBe(true)
})

test('an account has the name its first source gave it, and loses it when that source names it no more', async () => {
  const { pool } = database
  const taken = sendersOf('Dexter')[0] as string
  const fresh = addressOf('fresh sender')
  await storeSenders(pool, 'facilitator.example', [
    { address: taken, name: 'Somebody' },
    { address: fresh, name: 'Somebody' },
  ])
  const named = async () =>
    JSON.parse((await readFacilitators(pool)).rows).find(({ name }: { name: string }) => name === 'Somebody')?.senders
  expect(await named()).toEqual([{ address: fresh, source: 'facilitator.example' }])
  await ensureFacilitatorRows(pool)
  expect(await named()).toHaveLength(1)
  await storeSenders(pool, 'facilitator.example', [])
  expect(await named()).toBeUndefined()
})
