import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agentAddresses } from '../../db/queries/addresses/addresses.ts'
import { startHubGrpc } from '../../devnet/hub/grpc.ts'
import { makeMessage } from '../../devnet/hub/messages.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { appKeyOf, walletOf } from '../../devnet/world/keys.ts'
import { storeVerifiedSet } from '../../enrichment/socialindex/fids.ts'
import { day, hour, minute } from '../../ops/time.ts'
import { operatorOf, witnessUrls } from '../../social/hub-operators.ts'
import { type Scene, startScene } from '../support/chain/scene.ts'

// Two hubs as witnesses of the same message, and the dispute when they disagree.

const fid = 7
const appKey = appKeyOf('witnesses', 'app')
const wallet = walletOf('witnesses', 'wallet')
let scene: Scene
let other: Hub
let grpc: Awaited<ReturnType<typeof startHubGrpc>>
beforeEach(async () => {
  const state = new HubState()
  other = await startHub(state)
  grpc = await startHubGrpc(state)
  scene = await startScene({ otherHub: other.url, hubGrpc: grpc.url })
  for (const hub of [scene.hub, other]) hub.state.addAccount({ fid, custody: wallet.address, appKey })
})
afterEach(async () => {
  await scene.stop()
  grpc.stop()
  await other.stop()
})

/** Adds a verification to the followed hub, and the same message to the other one if `byBoth`; its agent is listed. */
async function verified({ byBoth }: { byBoth: boolean }) {
  const options = { privateKey: wallet.privateKey, at: scene.clock.now() }
  scene.hub.state.addVerification(fid, wallet.address, options)
  if (byBoth) other.state.addVerification(fid, wallet.address, options)
  await scene.rows.transfer({ chain: 'base', id: 1 }, null, wallet.address, scene.clock.pass(minute))
  await scene.settle()
}
async function pass(ms: number) {
  scene.clock.pass(ms)
  await scene.job.run()
}
const shown = async () => {
  const [address, ...rest] = (await agentAddresses(scene.database.pool, fid)) ?? []
  expect(rest).toEqual([])
  return address && { disputed: address.disputed, witnesses: address.witnesses.map(({ has }) => has) }
}
const outcomes = async () => {
  const { rows } = await scene.database.pool.query(
    "select last_outcome from source_state where source = 'social_witnesses'",
  )
  return rows.map((row) => row.last_outcome)
}

test('both have it: nothing is disputed, and both stand behind it', async () => {
  await verified({ byBoth: true })
  expect(await shown()).toEqual({ disputed: false, witnesses: [true] })
})

test('who reads what another hub said learns its host, and no key that an operator wrote into its address', async () => {
  await scene.stop()
  const { host } = new URL(other.url)
  scene = await startScene({ otherHub: `http://user:key@${host}`, hubGrpc: grpc.url })
  scene.hub.state.addAccount({ fid, custody: wallet.address, appKey })
  await verified({ byBoth: true })
  const [address] = (await agentAddresses(scene.database.pool, fid)) ?? []
  expect(address?.witnesses).toMatchObject([{ hub: host, has: true }])
})

test('a handle is the followed hub’s word until the other one says the same', async () => {
  await verified({ byBoth: true })
  const named = async () => {
    await pass(7 * hour)
    const { rows } = await scene.database.pool.query('select handle, handle_assurance from directory.agents')
    return rows.flatMap(({ handle, handle_assurance }) => [handle, handle_assurance])
  }
  scene.hub.state.setProfile(fid, { username: 'ada.eth' })
  expect(await named()).toEqual(['ada.eth', 'stated'])
  other.state.setProfile(fid, { username: 'ada.eth' })
  expect(await named()).toEqual(['ada.eth', 'signed'])
  Object.assign(other.state.told, { isSyncing: true })
  expect(await named()).toEqual(['ada.eth', 'signed'])
  scene.hub.state.setProfile(fid, { username: 'bob.eth' })
  expect(await named()).toEqual(['bob.eth', 'stated'])
})

describe('the second one lacks it', () => {
  test('and still does when both are asked again: disputed, still listed, until it knows it', async () => {
    await verified({ byBoth: false })
    expect(await shown()).toEqual({ disputed: false, witnesses: [false] })
    await pass(4 * minute)
    expect(await shown()).toEqual({ disputed: false, witnesses: [false] })
    await pass(10 * minute)
    expect(await shown()).toEqual({ disputed: true, witnesses: [false] })
    expect(await scene.agent(fid)).toMatchObject({ agent_status: 'active', verified_addresses: [wallet.address] })
    const message = [...scene.hub.state.accounts.get(fid)!.verifications.values()][0]!
    other.state.accounts.get(fid)!.verifications.set('late', message)
    await pass(10 * minute)
    expect(await shown()).toEqual({ disputed: false, witnesses: [true] })
  })

  test('and has another message about the same address: that is not the same', async () => {
    await verified({ byBoth: false })
    other.state.addVerification(fid, wallet.address, {
      privateKey: wallet.privateKey,
      at: new Date(scene.clock.now().getTime() - day),
    })
    await pass(10 * minute)
    await pass(10 * minute)
    expect(await shown()).toEqual({ disputed: true, witnesses: [false] })
  })
})

test.each([
  ['is behind', 'stale', () => Object.assign(other.state.told, { delaySeconds: 900 })],
  ['is syncing', 'stale', () => Object.assign(other.state.told, { isSyncing: true })],
  ['does not answer', 'silent', () => other.stop()],
  [
    'shows a forged message',
    'forged',
    () => {
      const message = [...scene.hub.state.accounts.get(fid)!.verifications.values()][0]!
      const signature = Buffer.alloc(64, 1).toString('base64')
      other.state.accounts.get(fid)!.verifications.set('forged', { ...message, signature })
    },
  ],
])('one that %s is no witness, and what it disputed before counts no more', async (_, kind, happens) => {
  await verified({ byBoth: false })
  await pass(10 * minute)
  expect(await shown()).toEqual({ disputed: true, witnesses: [false] })
  await happens()
  await pass(hour)
  expect(await outcomes()).toEqual([kind])
  expect(await shown()).toEqual({ disputed: false, witnesses: [] })
  expect(await scene.agent(fid)).toMatchObject({ agent_status: 'active' })
})

test('a followed hub that may not know it yet does not lack it', async () => {
  await verified({ byBoth: true })
  const { pool } = scene.database
  const { rows } = await pool.query('select observed_at from verified_address where fid = $1', [fid])
  const live = [{ address: walletOf('witnesses', 'second').address.toLowerCase(), verifiedAt: scene.clock.now() }]
  const answer = (afterMs: number) => {
    const askedAt = new Date(rows[0].observed_at.getTime() + afterMs)
    return storeVerifiedSet(pool, { fid, live, askedAt, now: askedAt }, scene.hub.url)
  }
  const said = async () => {
    const word = await pool.query('select has from verification_witness where url = $1', [scene.hub.url])
    return word.rows.map(({ has }) => has)
  }
  expect([await answer(10 * minute), await said()]).toEqual(['unsettled', []])
  expect([await answer(10 * minute + 1_000), await said()]).toEqual(['missing', [false]])
})

test('a signed removal ends it whatever the other hub still shows', async () => {
  await verified({ byBoth: true })
  scene.clock.pass(minute)
  scene.hub.state.removeVerification(fid, wallet.address)
  await scene.settle()
  expect(await scene.agent(fid)).toMatchObject({ agent_status: 'historical', verified_addresses: [] })
})

/** Gives the other hub, over gRPC alone, the removal of the address, signed by `signer`. */
function tell(signer: typeof appKey) {
  const body = { verificationRemoveBody: { address: wallet.address.toLowerCase(), protocol: 'PROTOCOL_ETHEREUM' } }
  const unixMs = scene.clock.now().getTime()
  const message = makeMessage('MESSAGE_TYPE_VERIFICATION_REMOVE', { fid, signer, unixMs }, body)
  other.state.accounts.get(fid)!.removals.set(message.hash, message)
}

test('without a node of Optimism a removal ends it that only the other hub tells, by the very key that verified', async () => {
  await verified({ byBoth: false })
  tell(appKeyOf('witnesses', 'stranger'))
  await pass(10 * minute)
  await pass(10 * minute)
  expect(grpc.asked).toContain(fid)
  expect(await shown()).toEqual({ disputed: true, witnesses: [false] })
  tell(appKey)
  await pass(10 * minute)
  expect(await shown()).toBeUndefined()
  expect(await scene.agent(fid)).toMatchObject({ agent_status: 'historical', verified_addresses: [] })
})

test('a removal whose key nobody can tell, because the node of Optimism is away, changes nothing', async () => {
  await scene.stop()
  scene = await startScene({ otherHub: other.url, hubGrpc: grpc.url, rpc: 'http://127.0.0.1:1' })
  scene.hub.state.addAccount({ fid, custody: wallet.address, appKey })
  await verified({ byBoth: false })
  tell(appKey)
  await pass(10 * minute)
  await pass(10 * minute)
  expect(grpc.asked).toContain(fid)
  expect(await outcomes()).toEqual(['partly'])
  expect(await shown()).toEqual({ disputed: true, witnesses: [false] })
})

test('operators count, not addresses', () => {
  expect(operatorOf('https://snap.farcaster.xyz:3381')).toBe(operatorOf('https://snapchain-api.neynar.com'))
  const followed = 'https://haatz.quilibrium.com'
  const second = 'https://snap.farcaster.xyz:3381'
  const third = 'https://snap.uno.fun:3381'
  const given = [followed, second, 'https://pop.farcaster.xyz:3381', third, `${followed}/v1`]
  expect(witnessUrls(given)).toEqual([second, third])
  expect(witnessUrls([followed])).toEqual([])
})
