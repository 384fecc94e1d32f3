import { afterEach, beforeEach, expect, test } from 'vitest'
import { hubAt, publicHubs } from '../../../config/hosts.ts'
import { agentAddresses } from '../../../db/queries/addresses/addresses.ts'
import { followedHub } from '../../../db/queries/sources/hub-standing.ts'
import { type Hub, startHub } from '../../../devnet/hub/server.ts'
import { HubState } from '../../../devnet/hub/state.ts'
import { appKeyOf, walletOf } from '../../../devnet/world/keys.ts'
import { readConfig } from '../../../enrichment/config.ts'
import { hour, minute } from '../../../ops/time.ts'
import { operatorOf, witnessUrls } from '../../../social/hub-operators.ts'
import { type Scene, startScene } from '../../support/chain/scene.ts'

// A second hub that is no use must cost nothing: it is a default, and nobody here runs it.

const fid = 7
const wallet = walletOf('second hub', 'wallet')
let scene: Scene
let other: Hub
beforeEach(async () => {
  other = await startHub(new HubState())
  scene = await startScene({ otherHub: other.url })
})
afterEach(async () => {
  await scene.stop()
  await other.stop()
})

const always = { times: Number.POSITIVE_INFINITY }
/** Ways in which a second hub knows nothing of the account. */
const useless: Record<string, () => unknown> = {
  'is not there': () => other.stop(),
  'is behind': () => Object.assign(other.state.told, { delaySeconds: 3_600 }),
  'does not say how old it is': () => other.faults.add({ kind: 'wrong-schema' }, { ...always, path: '/v1/info' }),
  'answers 404': () => other.faults.add({ kind: 'status', status: 404 }, always),
  'answers 404 but about itself': () =>
    other.faults.add({ kind: 'status', status: 404 }, { ...always, path: '/v1/verif' }),
  'answers with a web page': () => other.faults.add({ kind: 'html' }, always),
  'answers with a web page but about itself': () =>
    other.faults.add({ kind: 'html' }, { ...always, path: '/v1/verif' }),
  'has an old head': () => {
    for (let block = 0; block < 1_000; block++)
      scene.hub.state.addAccount({ fid: 1_000 + block, custody: wallet.address })
    Object.assign(other.state.told, { delaySeconds: 1 })
  },
  'knows less of the network': () => {
    scene.hub.state.told.accounts = 1_000_000
    Object.assign(other.state.told, { delaySeconds: 1 })
  },
}

test.for(Object.entries(useless))(
  'while a second hub %s, nothing is lost, disputed or followed, and nobody alarmed',
  async ([, fail]) => {
    await fail()
    scene.hub.state.addAccount({ fid, custody: wallet.address, appKey: appKeyOf('second hub', 'app') })
    scene.hub.state.addVerification(fid, wallet.address, { privateKey: wallet.privateKey, at: scene.clock.now() })
    await scene.rows.transfer({ chain: 'base', id: 1 }, null, wallet.address, scene.clock.pass(minute))
    await scene.settle()
    for (let hours = 0; hours < 8; hours++) {
      scene.clock.pass(hour)
      await scene.job.run()
    }
    const [address] = (await agentAddresses(scene.database.pool, fid)) ?? []
    expect(address).toMatchObject({ address: wallet.address, disputed: false, witnesses: [] })
    expect(await followedHub(scene.database.pool)).toBe(scene.hub.url)
    expect(await scene.job.hubDoubt()).toBeUndefined()
    expect(scene.job.failures).toEqual([])

    // Nor is it followed when the first one is away: what failed is told once a look, and the first is followed again.
    scene.hub.faults.add({ kind: 'status', status: 502 }, always)
    for (let minutes = 0; minutes < 20; minutes++) {
      scene.clock.pass(minute)
      await scene.job.run()
    }
    expect(await followedHub(scene.database.pool)).toBe(scene.hub.url)
    expect(scene.job.failures.length).toBeLessThanOrEqual(20)
    expect(scene.job.failures.filter((line) => !line.includes(new URL(scene.hub.url).host))).toEqual([])
    scene.hub.faults.clear()
    for (let minutes = 0; minutes < 20; minutes++) {
      scene.clock.pass(minute)
      await scene.job.run()
    }
    expect(await scene.job.hubDoubt()).toBeUndefined()
    expect(await agentAddresses(scene.database.pool, fid)).toHaveLength(1)
  },
)

test('a hub that did not answer is left alone for ten seconds: many accounts do not wait for it one after the other', async () => {
  other.faults.add({ kind: 'status', status: 502 }, always)
  for (let account = 0; account < 20; account++) {
    const { address, privateKey } = walletOf('second hub', `${account}`)
    scene.hub.state.addAccount({ fid: 50 + account, custody: address, appKey: appKeyOf('second hub', `${account}`) })
    scene.hub.state.addVerification(50 + account, address, { privateKey, at: scene.clock.now() })
    await scene.rows.transfer({ chain: 'base', id: account }, null, address, scene.clock.pass(1_000))
  }
  await scene.settle()
  expect(other.requests.length).toBeLessThan(10)
  const { rows } = await scene.database.pool.query(
    `select count(*)::int as n from source_state where source = 'social_witnesses' and last_outcome = 'silent'`,
  )
  expect(rows).toEqual([{ n: 20 }])
})

test('the hubs of an installation that names none are of different operators, told with their source, and asked gently', () => {
  const { hub, otherHubs } = readConfig({})
  expect([hub, ...otherHubs]).toEqual(publicHubs)
  expect(otherHubs.map(({ url }) => url)).toEqual(witnessUrls(publicHubs.map(({ url }) => url)))
  expect(new Set(publicHubs.map(({ url }) => operatorOf(url))).size).toBe(publicHubs.length)
  expect(publicHubs.length).toBeGreaterThan(1)
  for (const { source, requestsPerSecond, url } of publicHubs) {
    expect(new URL(source).protocol).toBe('https:')
    expect(requestsPerSecond).toBeLessThanOrEqual(4)
    expect(readConfig({ HUB_URL: `https://hub.example,${url}` }).otherHubs).toEqual([hubAt(url)])
  }
})
