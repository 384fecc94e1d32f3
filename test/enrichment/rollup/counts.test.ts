import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createPool } from '../../../db/pool.ts'
import { refreshCounts } from '../../../enrichment/periodic/rollup.ts'
import { wallet } from '../../support/chain/rows.ts'
import { type Scene, startScene } from '../../support/chain/scene.ts'

const first = wallet(1)
const second = wallet(2)
const day = 24 * 3_600_000

let scene: Scene
beforeEach(async () => {
  scene = await startScene()
  scene.register(7)
  scene.hub.state.addVerification(7, first)
  await scene.rows.transfer({ chain: 'base', id: 1 }, null, first, scene.clock.pass(1_000))
})
afterEach(() => scene.stop())

const ago = (ms: number) => new Date(scene.clock.now().getTime() - ms)
async function counts() {
  const { rows } = await scene.database.pool.query(
    'select settlements_30d as recent, settlements_all as ever, last_settlement_at as newest from agent',
  )
  return rows[0]
}

test('a new agent has its counts at once', async () => {
  const at = scene.clock.now()
  await scene.rows.settle('base', first, at)
  await scene.settle()
  expect(await counts()).toEqual({ recent: 1, ever: 1, newest: at })
})

test('thirty days are counted to the millisecond, over all chains and addresses', async () => {
  scene.hub.state.addVerification(7, second)
  await scene.settle()
  await scene.rows.settle('base', first, ago(30 * day))
  await scene.rows.settle('celo', second, ago(30 * day - 1))
  await scene.rows.settle('polygon', wallet(3), ago(0))
  await scene.job.counts()
  expect(await counts()).toEqual({ recent: 1, ever: 2, newest: ago(30 * day - 1) })
})

test('windows have the same hours on a server in New York while its clocks change', async () => {
  const { url, pool } = scene.database
  await scene.settle()
  const now = new Date('2026-03-10T12:00Z') // the clocks went forward on 8 March
  const hour = 3_600_000
  await scene.rows.settle('base', first, new Date(now.getTime() - 7 * day + hour / 2))
  await scene.rows.settle('base', first, new Date(now.getTime() - 30 * day + hour / 2))
  await pool.query(`alter database ${new URL(url).pathname.slice(1)} set timezone = 'America/New_York'`)
  const abroad = createPool({ databaseUrl: url, name: 'abroad' })
  onTestFinished(() => abroad.end())
  await refreshCounts({ pool: abroad, now: () => now, settlementOverloads: 'spec' })
  const { rows } = await pool.query('select settlements_7d, settlements_30d from agent')
  expect(rows).toEqual([{ settlements_7d: 1, settlements_30d: 2 }])
})

test('an address verified later brings its history along, and takes it away again', async () => {
  await scene.settle()
  await scene.rows.settle('base', second, ago(day))
  await scene.job.counts()
  expect(await counts()).toMatchObject({ ever: 0, newest: null })
  scene.hub.state.addVerification(7, second)
  await scene.settle()
  await scene.job.counts()
  expect(await counts()).toMatchObject({ recent: 1, ever: 1 })
  scene.clock.pass(1_000)
  scene.hub.state.removeVerification(7, second)
  await scene.settle()
  await scene.job.counts()
  expect(await counts()).toEqual({ recent: 0, ever: 0, newest: null })
})

test('the overloads with a signature in bytes count only where the operator wants them', async () => {
  await scene.settle()
  for (const selector of ['e3ee160e', 'ef55bec6', 'cf092995', '88b7ab63']) {
    await scene.rows.settle('base', first, ago(day), selector)
  }
  await scene.job.counts()
  expect(await counts()).toMatchObject({ ever: 2 })
  await refreshCounts({ pool: scene.database.pool, now: scene.clock.now, settlementOverloads: 'all' })
  expect(await counts()).toMatchObject({ ever: 4 })
})

test('counts that did not move write nothing, and those that did are no change of the agent', async () => {
  await scene.settle()
  await scene.rows.settle('base', first, ago(day))
  const changes = async () => (await scene.database.pool.query('select * from agent_change')).rows
  const version = async () => (await scene.database.pool.query('select ctid::text, changed_at from agent')).rows[0]
  const changesBefore = await changes()
  const before = await version()
  await scene.job.counts()
  const counted = await version()
  expect(counted.ctid).not.toBe(before.ctid)
  expect(counted.changed_at).toEqual(before.changed_at)
  await scene.job.counts()
  expect(await version()).toEqual(counted)
  expect(await changes()).toEqual(changesBefore)
})
