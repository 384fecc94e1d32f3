import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Message } from '../../devnet/hub/messages.ts'
import { appKeyOf, walletOf } from '../../devnet/world/keys.ts'
import { judgeKeyMessage } from '../../enrichment/proofs/key-messages.ts'
import { networkEpoch } from '../../trust/message-data.ts'
import { type Scene, startScene } from '../support/chain/scene.ts'
import { keyAddMessage, keyRemoveMessage } from '../trust/key-adds.ts'
import { first, second } from '../trust/vectors.ts'

// Messages of mainnet, served by a local hub: the verdict on their signatures is stored with them, forged ones are not.

const { fid } = first.data
const address = first.data.verificationAddAddressBody.address
const other = second.data.verificationAddAddressBody.address
let scene: Scene
beforeEach(async () => {
  scene = await startScene()
  scene.register(fid)
})
afterEach(() => scene.stop())

const give = (message: object) =>
  scene.hub.state.accounts.get(fid)!.verifications.set(JSON.stringify(message), message as Message)
const tell = (message: object, deletedMessages: object[] = []) =>
  scene.hub.state.shards.get((fid % 2) + 1)!.append(scene.clock.now().getTime(), [
    {
      type: 'HUB_EVENT_TYPE_MERGE_MESSAGE',
      mergeMessageBody: { message: message as Message, deletedMessages: deletedMessages as Message[] },
    },
  ])
const mint = (id: number, to: string) => scene.rows.transfer({ chain: 'base', id }, null, to, scene.clock.pass(60_000))
const rows = async (text: string) => (await scene.database.pool.query(text)).rows
const kept = () => rows('select type, verdict, envelope, claim, message from farcaster_message order by message_time')
const open = () =>
  rows(`select '0x' || encode(address, 'hex') as address, verdict, encode(message_hash, 'hex') as hash, verification_type
          from verified_address where ended_at is null order by verified_at`)

const signed = { verdict: 'signed', envelope: 'held', claim: 'held' }
const forged = { ...second, signature: first.signature }

test('a verification of a holder is kept whole, with what its signatures are worth', async () => {
  give(first)
  await mint(1, address)
  await scene.settle()
  const { type } = first.data
  expect(await kept()).toEqual([{ type, ...signed, message: first }])
  const hash = first.hash.slice(2)
  expect(await open()).toEqual([{ address, verdict: 'signed', hash, verification_type: 0 }])
})

test('a key that is added off the chain has to be one that the network takes', async () => {
  const appKey = appKeyOf('messages', 'app')
  const { account, address: custody } = walletOf('messages', 'custody')
  const at = scene.clock.now()
  const now = Math.floor(at.getTime() / 1_000) - networkEpoch
  const days = 86_400
  for (const [bounds, isTaken] of [
    [{}, true],
    [{ ttl: 1, deadline: now }, true],
    [{ ttl: 90 * days }, true],
    [{ ttl: 90 * days + 1 }, false],
    [{ ttl: 0 }, false],
    [{ deadline: now - 1 }, false],
    [{ scopes: [1, 11] }, false],
  ] as const) {
    const judged = await judgeKeyMessage(fid, await keyAddMessage({ fid, appKey }, account, at, bounds))
    expect([bounds, judged?.signer]).toEqual([bounds, isTaken ? custody : undefined])
  }
  const message = await keyAddMessage({ fid, appKey }, account, at)
  expect(await judgeKeyMessage(fid + 1, message)).toBeUndefined()
})

test('a key that is removed off the chain is so by whom the network takes it from', async () => {
  const appKey = appKeyOf('messages', 'app')
  const otherKey = appKeyOf('messages', 'other')
  const { account, address: custody } = walletOf('messages', 'custody')
  const at = scene.clock.now()
  const now = Math.floor(at.getTime() / 1_000) - networkEpoch
  const judged = async (...[by, bounds]: [typeof account | undefined, { deadline?: number; signer?: typeof appKey }]) =>
    (await judgeKeyMessage(fid, await keyRemoveMessage({ fid, appKey }, by, at, bounds)))?.signer
  expect(await judged(account, {})).toBe(custody)
  expect(await judged(account, { signer: otherKey })).toBe(custody)
  expect(await judged(account, { deadline: now - 1 })).toBeUndefined()
  expect(await judged(undefined, {})).toBeNull()
  expect(await judged(undefined, { signer: otherKey })).toBeUndefined()
  const message = await keyRemoveMessage({ fid, appKey }, account, at)
  expect(await judgeKeyMessage(fid + 1, message)).toBeUndefined()
})

test('a verification in an event is kept, and so is the message that ends it', async () => {
  await mint(1, address)
  await scene.settle()
  tell(first)
  tell(second)
  scene.hub.state.accounts.get(fid)!.verifications.set('', first as Message)
  give(second)
  await scene.settle()
  expect((await open()).map(({ verdict }) => verdict)).toEqual(['signed', 'signed'])
  scene.clock.pass(60_000)
  const remove = {
    ...first,
    data: {
      type: 'MESSAGE_TYPE_VERIFICATION_REMOVE',
      fid,
      network: 'FARCASTER_NETWORK_MAINNET',
      timestamp: scene.clock.now().getTime() / 1_000 - 1_609_459_200,
      verificationRemoveBody: { address, protocol: 'PROTOCOL_ETHEREUM' },
    },
    hash: `0x${'12'.repeat(20)}`,
  }
  tell(remove, [first])
  await scene.settle()
  expect((await open()).map((row) => row.address)).toEqual([address, other]) // its hash does not fit
  scene.hub.state.accounts.get(fid)!.verifications.delete('')
  scene.clock.pass(1_000)
  const again = { ...remove, hash: `0x${'34'.repeat(20)}` }
  tell(again, [first])
  await scene.settle()
  expect((await open()).map((row) => row.address)).toEqual([other])
  expect((await kept()).at(-1)).toMatchObject({ verdict: 'stated', envelope: 'unknown', message: again })
})

test('a forged verification spoils the answer that it stands in', async () => {
  give(first)
  await mint(1, address)
  await mint(2, other)
  await scene.settle()
  give(forged)
  scene.hub.state.accounts.get(fid)!.verifications.delete(JSON.stringify(first))
  scene.clock.pass(26 * 3_600_000)
  expect(await scene.job.pass('socialindex')).toEqual(['bad_answer'])
  expect((await open()).map((row) => row.address)).toEqual([address])
  expect(await kept()).toHaveLength(1)
})

test('a forged verification in an event is not taken, and a forged removal ends nothing', async () => {
  give(first)
  await mint(1, address)
  await scene.settle()
  tell(forged)
  tell({ ...first, data: { ...first.data, type: 'MESSAGE_TYPE_VERIFICATION_REMOVE' } })
  await scene.settle()
  expect((await open()).map((row) => row.address)).toEqual([address])
})

test('one whose bytes cannot be rebuilt is stated, and a message that the database cannot take stops nobody', async () => {
  await mint(1, address)
  await scene.settle()
  tell({ ...first, hash: `0x${'00'.repeat(20)}` })
  tell({ ...second, note: 'with a \0 in it' })
  scene.register(7)
  scene.hub.state.addVerification(7, `0x${'7'.repeat(40)}`)
  await scene.settle()
  expect((await open()).map((row) => [row.address, row.verdict])).toContainEqual([address, 'stated'])
  expect((await open()).map((row) => row.address)).toContain(`0x${'7'.repeat(40)}`)
  expect((await open()).map((row) => row.address)).not.toContain(other)
})
