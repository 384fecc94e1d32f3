import { afterEach, beforeEach, expect, test } from 'vitest'
import { verificationKey } from '../../../devnet/hub/account.ts'
import type { NewEvent } from '../../../devnet/hub/events.ts'
import { type Message, makeMessage } from '../../../devnet/hub/messages.ts'
import { type AppKey, appKeyOf, walletOf } from '../../../devnet/world/keys.ts'
import { minute } from '../../../ops/time.ts'
import { type Scene, startScene } from '../../support/chain/scene.ts'

// Ends of verifications that nobody signed, as events tell them, and what the hub's own list says of them.

const fid = 7
const own = appKeyOf('unsigned ends', 'app')
const wallet = walletOf('unsigned ends', 'wallet')
let scene: Scene
let message: Message
beforeEach(async () => {
  scene = await startScene()
  scene.hub.state.addAccount({ fid, custody: wallet.address, appKey: own })
  message = scene.hub.state.addVerification(fid, wallet.address, { privateKey: wallet.privateKey })
  await scene.rows.transfer({ chain: 'base', id: 1 }, null, wallet.address, scene.clock.pass(minute))
  await scene.settle()
  scene.clock.pass(60 * minute)
})
afterEach(() => scene.stop())

const home = () => scene.hub.state.accounts.get(fid)!.shard
const append = (shard: number, ...events: NewEvent[]) =>
  scene.hub.state.shards.get(shard)!.append(scene.clock.now().getTime(), events)
const merge = (message: Message, ...deletedMessages: Message[]): NewEvent => ({
  type: 'HUB_EVENT_TYPE_MERGE_MESSAGE',
  mergeMessageBody: { message, deletedMessages },
})
const removal = (signer: AppKey) => {
  const body = { verificationRemoveBody: { address: wallet.address, protocol: 'PROTOCOL_ETHEREUM' } }
  const signing = { fid, signer, unixMs: scene.clock.now().getTime() }
  return makeMessage('MESSAGE_TYPE_VERIFICATION_REMOVE', signing, body)
}
const letGo = () => scene.hub.state.accounts.get(fid)!.verifications.delete(verificationKey('ethereum', wallet.address))
const isLive = async () => {
  const { rows } = await scene.database.pool.query('select from verified_address where ended_at is null')
  return rows.length === 1
}
const asked = () => scene.hub.requests.filter((path) => path.includes('verificationsByFid')).length

const ends: [string, () => NewEvent][] = [
  ['a pruning', () => ({ type: 'HUB_EVENT_TYPE_PRUNE_MESSAGE', pruneMessageBody: { message } })],
  ['a revocation', () => ({ type: 'HUB_EVENT_TYPE_REVOKE_MESSAGE', revokeMessageBody: { message } })],
  ['a removal by a stranger’s key', () => merge(removal(appKeyOf('unsigned ends', 'stranger')), message)],
  ['a removal whose hash does not fit', () => merge({ ...removal(own), hash: `0x${'12'.repeat(20)}` }, message)],
]

test.each(ends)(
  '%s ends nothing that the hub lists still, and the account is asked about at once',
  async (_, event) => {
    append(home(), event())
    const before = asked()
    await scene.settle()
    expect(await isLive()).toBe(true)
    expect(asked()).toBeGreaterThan(before)
    letGo()
    for (const minutes of [26 * 60, 75]) {
      scene.clock.pass(minutes * minute)
      await scene.job.run()
    }
    expect(await isLive()).toBe(false)
  },
)

test('another shard’s copy of a verification, and the pruning of it, change nothing', async () => {
  append(3 - home(), merge(message), ends[0]![1]())
  await scene.settle()
  expect(await isLive()).toBe(true)
})

test.each(ends.slice(0, 2))('%s that the hub’s list confirms ends it', async (_, event) => {
  letGo()
  append(home(), event())
  const before = asked()
  await scene.settle()
  expect(await isLive()).toBe(false)
  expect(asked()).toBe(before + 1)
})

test('while the hub does not say, nothing ends, and the account is asked about until it does', async () => {
  letGo()
  append(home(), ends[0]![1]())
  scene.hub.faults.add({ kind: 'status', status: 500 }, { times: 2, path: 'verificationsByFid' })
  await scene.settle()
  expect(await isLive()).toBe(true)
  scene.clock.pass(5 * minute)
  await scene.job.run()
  scene.clock.pass(75 * minute)
  await scene.job.run()
  expect(await isLive()).toBe(false)
})

test('a removal by the key that verified ends it at once, whatever the hub lists', async () => {
  append(home(), merge(removal(own), message))
  await scene.settle()
  expect(await isLive()).toBe(false)
})
