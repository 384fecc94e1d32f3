import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Fault } from '../../devnet/hub/faults.ts'
import { wallet } from '../support/chain/rows.ts'
import { type Scene, startScene } from '../support/chain/scene.ts'

let scene: Scene
beforeEach(async () => {
  scene = await startScene()
  scene.register(7)
  scene.hub.state.setProfile(7, { username: 'ada', displayName: 'Ada', bio: 'counts' })
  scene.hub.state.addVerification(7, wallet(1))
  await scene.rows.transfer({ chain: 'base', id: 1 }, null, wallet(1), scene.clock.pass(60_000))
  await scene.settle()
})
afterEach(() => scene.stop())

const hours = (count: number) => scene.clock.pass(count * 3_600_000)

async function everything() {
  const dump = async (table: string) => (await scene.database.pool.query(`select * from ${table} order by 1, 2`)).rows
  return Promise.all(['agent', 'agent_holding', 'agent_change', 'verified_address', 'social_profile'].map(dump))
}
async function attempt() {
  const { rows } = await scene.database.pool.query(
    `select last_attempt_at, last_success_at, last_outcome, failures from source_state
      where subject = 'fid:7' and source = 'socialindex'`,
  )
  return rows[0]
}

const faults: [string, Fault, string][] = [
  ['429 with seconds to wait', { kind: 'rate-limited', retryAfter: 30 }, 'rate_limited'],
  ['429 with a date', { kind: 'rate-limited', retryAfter: 'Sun, 01 Mar 2099 00:00:00 GMT' }, 'rate_limited'],
  ['429 without a word', { kind: 'rate-limited' }, 'rate_limited'],
  ['503 with seconds to wait', { kind: 'status', status: 503, retryAfter: 5 }, 'rate_limited'],
  ['a 500', { kind: 'status', status: 500 }, 'unavailable'],
  ['a 404 for a route that was there', { kind: 'status', status: 404 }, 'refused'],
  ['a 400 that does not say "not found"', { kind: 'status', status: 400 }, 'refused'],
  ['an answer that breaks off', { kind: 'truncated' }, 'unavailable'],
  ['half an answer sent as a whole', { kind: 'half-json' }, 'bad_answer'],
  ['another schema', { kind: 'wrong-schema' }, 'bad_answer'],
  ['a web page', { kind: 'html' }, 'bad_answer'],
  ['an endless answer', { kind: 'huge', bytes: 8 * 1024 * 1024 }, 'bad_answer'],
]

test.each(faults)('%s keeps what is known and moves the time of the attempt', async (_, fault, outcome) => {
  const before = await everything()
  const { last_success_at } = await attempt()
  scene.hub.faults.add(fault, { times: Number.POSITIVE_INFINITY })
  const now = hours(25)
  expect(await scene.job.pass('socialindex')).toEqual([outcome])
  await scene.job.join()
  expect(await everything()).toEqual(before)
  expect(await attempt()).toMatchObject({ last_attempt_at: now, last_success_at, last_outcome: outcome })

  scene.hub.faults.clear()
  scene.hub.state.setProfile(7, { bio: 'counts on' })
  hours(2)
  await scene.settle()
  const { rows } = await scene.database.pool.query('select bio from agent')
  expect(rows).toEqual([{ bio: 'counts on' }])
})

test('one bad answer among several keeps all that the good ones said from being stored', async () => {
  scene.hub.state.forgetEvents()
  scene.hub.state.removeVerification(7, wallet(1))
  scene.hub.state.forgetEvents()
  const before = await everything()
  scene.hub.faults.add({ kind: 'html' }, { path: 'userDataByFid' })
  hours(25)
  expect(await scene.job.pass('socialindex')).toEqual(['bad_answer'])
  expect(await everything()).toEqual(before)
})

test('a true answer that there is nothing ends what was known, once it is given again', async () => {
  scene.hub.state.removeVerification(7, wallet(1))
  scene.hub.state.setProfile(7, { username: '', displayName: '', bio: '' })
  scene.hub.state.forgetEvents()
  hours(25)
  expect(await scene.job.pass('socialindex')).toEqual(['empty'])
  const observedAt = hours(2)
  expect(await scene.job.pass('socialindex')).toEqual(['empty'])
  await scene.job.join()
  expect(await scene.agent(7)).toMatchObject({
    agent_status: 'historical',
    verified_addresses: [],
    holdings: [{ reason: 'verification_removed', released_at: observedAt.getTime() }],
  })
  const { rows } = await scene.database.pool.query('select handle, display_name, bio from agent')
  expect(rows).toEqual([{ handle: null, display_name: null, bio: null }])
})

test('a hub that fails for ever is asked ever less, and an agent sold meanwhile is still followed', async () => {
  scene.hub.faults.add({ kind: 'status', status: 502 }, { times: Number.POSITIVE_INFINITY })
  await scene.rows.transfer({ chain: 'base', id: 1 }, wallet(1), wallet(2), scene.clock.pass(1_000))
  for (let hour = 0; hour < 48; hour++) {
    hours(1)
    await scene.job.run()
  }
  expect(await scene.agent(7)).toMatchObject({ agent_status: 'historical' })
  const { failures } = await attempt()
  expect(failures).toBeGreaterThan(3)
  expect(failures).toBeLessThan(20)
})
