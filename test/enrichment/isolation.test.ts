import { afterEach, beforeEach, expect, test } from 'vitest'
import type { NewEvent } from '../../devnet/hub/events.ts'
import { firstIdBehind } from '../../social/events.ts'
import { wallet } from '../support/chain/rows.ts'
import { type Scene, startScene } from '../support/chain/scene.ts'

// A bad answer about one account or one event delays no other, and is asked for again.

let scene: Scene
beforeEach(async () => {
  scene = await startScene()
  scene.register(...Array.from({ length: 40 }, (_, index) => index + 1))
  for (const fid of [10, 20, 30, 40]) scene.hub.state.addVerification(fid, wallet(fid))
  scene.hub.state.forgetEvents()
})
afterEach(() => scene.stop())

const always = { times: Number.POSITIVE_INFINITY }
const hour = 3_600_000
const asked = (part: string) => scene.hub.requests.filter((path) => path.includes(part)).length

async function verified(): Promise<number[]> {
  const { rows } = await scene.database.pool.query(
    'select fid from verified_address where ended_at is null order by fid',
  )
  return rows.map(({ fid }) => fid)
}
async function position(shard: number): Promise<string> {
  const { rows } = await scene.database.pool.query(
    `select position from source_cursor where source = 'social_events' and shard = $1`,
    [String(shard)],
  )
  return rows[0].position
}
async function passTime(ms: number, times: number) {
  for (let turn = 0; turn < times; turn++) {
    scene.clock.pass(ms)
    await scene.job.run()
  }
}

test.each(['html', 'wrong-schema', 'truncated'] as const)(
  'an account that is answered with %s keeps no other from being swept, and is read once it can be',
  async (kind) => {
    scene.hub.faults.add({ kind: 'status', status: 404 }, { ...always, path: '/user/bulk' })
    scene.hub.faults.add({ kind }, { ...always, path: 'verificationsByFid?fid=20&' })
    await scene.settle()
    expect(await verified()).toEqual([10, 30, 40])
    const { rows } = await scene.database.pool.query(
      `select last_success_at is not null as swept from source_state where source = 'social_sweep'`,
    )
    expect(rows).toEqual([{ swept: true }, { swept: true }])
    scene.hub.faults.clear()
    await passTime(hour, 3)
    expect(await verified()).toEqual([10, 20, 30, 40])
  },
)

test('one 404 on a page of the sweep or of events starts nothing again', async () => {
  scene.register(...Array.from({ length: 400 }, (_, index) => index + 41))
  scene.hub.state.forgetEvents()
  scene.hub.faults.add({ kind: 'status', status: 404 }, { path: 'pageToken' })
  await scene.settle()
  await passTime(60_000, 3)
  expect(asked('/v1/fids')).toBe(7) // three pages in each of two shards, one of them twice
  scene.hub.state.addVerification(50, wallet(50)) // so that the stream has an event after its cursor
  scene.hub.faults.add({ kind: 'status', status: 404 }, { path: '/v1/events', times: 2 }) // one a shard
  await scene.settle()
  await passTime(60_000, 3)
  expect(asked('/v1/fids')).toBe(7)
  expect(await verified()).toContain(50)
})

test('a hub without a route for reads in bulk is asked for it again after an hour', async () => {
  scene.hub.faults.add({ kind: 'status', status: 404 }, { path: '/user/bulk' })
  await scene.settle()
  expect([asked('/user/bulk'), asked('verificationsByFid')]).toEqual([1, 40])
  scene.clock.pass(31 * 24 * hour)
  await scene.job.run()
  expect([asked('/user/bulk'), asked('verificationsByFid')]).toEqual([3, 40])
})

test('an account that is answered badly in bulk is asked for by itself', async () => {
  scene.hub.faults.add({ kind: 'html' }, { ...always, path: '/user/bulk' })
  await scene.settle()
  expect(await verified()).toEqual([10, 20, 30, 40])
})

test('an event of an unknown shape is passed over, and the account that it is about is read', async () => {
  await scene.settle()
  const data = { type: 'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS', fid: 11, timestamp: 1 }
  const shape = { verificationAddAddressBody: { address: '0x12', protocol: 'PROTOCOL_ETHEREUM' } }
  const strange = [
    { type: 'HUB_EVENT_TYPE_MERGE_MESSAGE', mergeMessageBody: { message: { data: { ...data, ...shape } } } },
    { type: 'HUB_EVENT_TYPE_MERGE_MESSAGE', mergeMessageBody: { message: { data: { ...data, timestamp: 'soon' } } } },
    { type: 7, nothing: 'known' },
  ] as unknown as NewEvent[]
  scene.hub.state.addVerification(11, wallet(11))
  scene.hub.state.shards.get(2)?.forget() // what the event said is lost: only a read tells
  scene.hub.state.shards.get(2)?.append(scene.clock.now().getTime(), strange)
  scene.hub.state.addVerification(13, wallet(13))
  await scene.settle()
  expect(await verified()).toEqual([10, 11, 13, 20, 30, 40])
})

test('events that the hub cannot answer are gone round, one by one and then behind their block', async () => {
  await scene.settle()
  const stuck = await position(2)
  scene.hub.faults.add({ kind: 'status', status: 500 }, { ...always, path: `from_event_id=${stuck}&` })
  scene.hub.state.addVerification(11, wallet(11))
  scene.clock.pass(60_000)
  scene.hub.state.addVerification(13, wallet(13))
  await passTime(120_000, 12)
  expect(await verified()).toEqual([10, 11, 13, 20, 30, 40])
  expect(Number(await position(2))).toBeGreaterThan(Number(stuck))
})

test('what the skipped events changed is found behind a sweep that is already past it', async () => {
  scene.register(...Array.from({ length: 400 }, (_, index) => index + 41))
  scene.hub.state.forgetEvents()
  scene.hub.faults.add({ kind: 'status', status: 500 }, { ...always, path: 'shard_id=2&pageSize=100&pageToken' })
  await scene.settle()
  const stuck = Number(await position(2))
  for (const id of [stuck, firstIdBehind(stuck, 1)])
    scene.hub.faults.add({ kind: 'status', status: 500 }, { ...always, path: `from_event_id=${id}&` })
  scene.hub.state.addVerification(11, wallet(11))
  scene.clock.pass(60_000)
  scene.hub.state.addVerification(13, wallet(13))
  await passTime(120_000, 12)
  expect(await verified()).toEqual([10, 13, 20, 30, 40])
  scene.hub.faults.clear()
  await passTime(hour, 3)
  expect(await verified()).toEqual([10, 11, 13, 20, 30, 40])
})
