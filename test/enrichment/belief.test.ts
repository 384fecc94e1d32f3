import { afterEach, beforeEach, expect, test } from 'vitest'
import { startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { createHealth } from '../../enrichment/health.ts'
import { wallet } from '../support/chain/rows.ts'
import { type Scene, startScene } from '../support/chain/scene.ts'
import { startJob } from '../support/enrichment-job.ts'
import { runMain } from '../support/mains.ts'

// A hub that has lost its data answers every request without an error; its empty answers must not end stored facts.

let scene: Scene
beforeEach(async () => {
  scene = await startScene()
  scene.register(7)
  scene.hub.state.setProfile(7, { username: 'ada', displayName: 'Ada' })
  scene.hub.state.addVerification(7, wallet(1))
  await scene.rows.transfer({ chain: 'base', id: 1 }, null, wallet(1), scene.clock.pass(60_000))
  await scene.settle()
})
afterEach(() => scene.stop())

const hour = 3_600_000
const listed = { agent_status: 'active', verified_addresses: [wallet(1)] }

async function hours(count: number, job = scene.job) {
  for (let passed = 0; passed < count; passed++) {
    scene.clock.pass(hour)
    await job.run()
  }
}

/** Changes what the hub reports of itself from now on: accounts, delay behind the network, syncing. */
function tell(hub: { state: HubState }, about: { accounts?: number; delaySeconds?: number; isSyncing?: boolean }) {
  Object.assign(hub.state.told, about)
}

test('a verified set that an answer empties ends with a second answer an hour later, and not before', async () => {
  scene.hub.state.removeVerification(7, wallet(1))
  scene.hub.state.forgetEvents()
  await hours(25)
  expect(await scene.agent(7)).toMatchObject(listed)
  await hours(3)
  expect(await scene.agent(7)).toMatchObject({ agent_status: 'historical', verified_addresses: [] })
})

test('an answer that knows the set again takes the doubt away', async () => {
  scene.hub.state.removeVerification(7, wallet(1))
  scene.hub.state.forgetEvents()
  await hours(25)
  scene.hub.state.addVerification(7, wallet(1), { at: new Date('2026-03-01T00:00:00Z') })
  await hours(10)
  expect(await scene.agent(7)).toMatchObject(listed)
  expect((await scene.database.pool.query('select from emptied_account')).rowCount).toBe(0)
})

test('a signed removal needs no second word', async () => {
  scene.hub.state.removeVerification(7, wallet(1))
  await scene.settle()
  expect(await scene.agent(7)).toMatchObject({ agent_status: 'historical' })
})

test('a hub that is not believed is not asked, and the time of the last attempt stays what it was', async () => {
  const attempt = async () => {
    const { rows } = await scene.database.pool.query(
      `select last_attempt_at, last_outcome, failures from source_state where source = 'socialindex' and subject = 'fid:7'`,
    )
    return rows[0]
  }
  const before = await attempt()
  expect(before).toMatchObject({ last_attempt_at: expect.any(Date), last_outcome: 'ok' })
  tell(scene.hub, { isSyncing: true })
  await hours(30)
  expect(await attempt()).toEqual({ ...before, last_outcome: 'postponed' })
  tell(scene.hub, { isSyncing: false })
  await hours(27)
  expect((await attempt()).last_attempt_at.getTime()).toBeGreaterThan(before.last_attempt_at.getTime())
})

const doubts = [
  ['that is syncing', { isSyncing: true }, /says that it is syncing/],
  ['whose head is behind', { delaySeconds: 900 }, /newest block is 900 s old/],
  ['whose accounts fell by more than a tenth', { accounts: 899_999 }, /899999 accounts, and 1000000 were known before/],
] as const
test.each(doubts)('a hub %s is not believed, which readiness says, and is believed again', async (_, about, words) => {
  tell(scene.hub, { accounts: 1_000_000 })
  await hours(1)
  scene.hub.state.removeVerification(7, wallet(1))
  scene.hub.state.setProfile(7, { displayName: 'Nobody' })
  tell(scene.hub, about)
  await hours(30)
  expect(await scene.agent(7)).toMatchObject(listed)
  const { rows } = await scene.database.pool.query('select display_name from agent')
  expect(rows).toEqual([{ display_name: 'Ada' }])
  const health = createHealth({ failing: () => undefined, pool: scene.database.pool, hubDoubt: scene.job.hubDoubt })
  expect(await health.notReady()).toMatch(words)

  tell(scene.hub, { accounts: 1_000_000, delaySeconds: 3, isSyncing: false })
  await hours(27)
  expect(await scene.agent(7)).toMatchObject({ agent_status: 'historical' })
  expect(await health.notReady()).toBeUndefined()
})

test('totals that fell for good are an operator’s to accept, in a process of its own; a late head is not', async () => {
  tell(scene.hub, { accounts: 1_000_000 })
  await hours(1)
  tell(scene.hub, { accounts: 500_000, delaySeconds: 900 })
  await hours(2)
  const env = { DATABASE_URL: scene.database.url, HUB_URL: scene.hub.url }
  const accept = () => runMain('enrichment/main.ts', ['--accept-hub-totals'], { env })
  expect(await accept()).toMatchObject({
    code: 1,
    stderr: 'the hub stays unbelieved: its newest block is 900 s old\n',
  })
  tell(scene.hub, { delaySeconds: 3 })
  await hours(2)
  expect(await scene.job.hubDoubt()).toMatch(/500000 accounts, and 1000000 were known before; if that is true: npm run/)
  const { code, stdout } = await accept()
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, hub: scene.hub.url, accounts: 500_000 })
  expect(await scene.job.hubDoubt()).toBeUndefined()
  scene.hub.state.removeVerification(7, wallet(1))
  await hours(2)
  expect(await scene.agent(7)).toMatchObject({ agent_status: 'historical' })
  expect(await scene.job.hubDoubt()).toBeUndefined()
})

test('another hub that knows nothing of the network is not believed from its first answer on', async () => {
  tell(scene.hub, { accounts: 1_000_000 })
  await hours(1)
  const empty = await startHub(new HubState(scene.clock.now))
  const { database, clock } = scene
  const job = await startJob({ database, clock, env: { HUB_URL: empty.url } })
  await hours(30, job)
  expect(await scene.agent(7)).toMatchObject(listed)
  expect(await job.hubDoubt()).toMatch(/knows 0 accounts/)
  await job.close()
  await empty.stop()
})
