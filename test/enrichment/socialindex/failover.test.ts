import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claimProof } from '../../../api/schemas/claims/proof.ts'
import { stats } from '../../../api/schemas/directory/stats.ts'
import { agentAddresses } from '../../../db/queries/addresses/addresses.ts'
import { followedHub } from '../../../db/queries/sources/hub-standing.ts'
import { type Hub, startHub } from '../../../devnet/hub/server.ts'
import { HubState } from '../../../devnet/hub/state.ts'
import { appKeyOf, walletOf } from '../../../devnet/world/keys.ts'
import { minute } from '../../../ops/time.ts'
import { startApi } from '../../support/api/api.ts'
import { type Scene, startScene } from '../../support/chain/scene.ts'
import { insert } from '../../support/seed.ts'

// Two hubs of HUB_URL: what happens when the first one cannot be followed any more.

const fid = 7
const wallet = walletOf('failover', 'wallet')
const second = walletOf('failover', 'second')
let scene: Scene
let other: Hub
beforeEach(async () => {
  other = await startHub(new HubState())
  scene = await startScene({ otherHub: other.url })
  // The same network, as another hub sees it; what each says of itself is its own.
  Object.assign(other.state, { accounts: scene.hub.state.accounts, shards: scene.hub.state.shards })
  Object.assign(other.state.told, { delaySeconds: 1 })
  scene.hub.state.addAccount({ fid, custody: wallet.address, appKey: appKeyOf('failover', 'app') })
  scene.hub.state.addVerification(fid, wallet.address, { privateKey: wallet.privateKey })
  await scene.rows.transfer({ chain: 'base', id: 1 }, null, wallet.address, scene.clock.pass(minute))
  await scene.settle()
  expect(await followedHub(scene.database.pool)).toBe(scene.hub.url)
})
afterEach(async () => {
  await scene.stop()
  await other.stop()
})

async function passing(minutes: number) {
  for (let passed = 0; passed < minutes; passed += 1) {
    scene.clock.pass(minute)
    await scene.job.run()
  }
}
const verified = async () => (await agentAddresses(scene.database.pool, fid))?.map(({ address }) => address).sort()
const both = [wallet.address, second.address].sort()
const roles = async () =>
  (await scene.database.pool.query('select url, witness from hub_standing order by witness')).rows

const hostOf = ({ url }: Hub) => new URL(url).host
/** A claim as the API would have stored it. */
async function claim() {
  const at = scene.clock.now()
  const key = { fid, method: 'eip191', nonce: 'nonce' }
  const said = JSON.stringify({ nonce: 'nonce', timestamp: at.toISOString(), chain_id: 10, signature: '0x00' })
  const proof = { proof: said, proof_sha256: Buffer.alloc(32), signer: wallet.address }
  const { pool } = scene.database
  await insert(pool, 'claim', {
    ...key,
    ...proof,
    received_at: at,
    claimed_at: at,
    verified_addresses: [wallet.address],
  })
  await insert(pool, 'claim_event', { ...key, kind: 'claimed', at, evidence: '{}' })
}

/** Which hub is followed, as everybody is told. */
async function told() {
  const api = await startApi(scene.database)
  const said = stats.parse(await (await api.get('/api/stats')).json())
  const status = await (await api.get('/status')).text()
  await claim()
  const proof = claimProof.parse(await (await api.get(`/api/agent/${fid}/proof`)).json())
  await api.stop()
  return {
    proof: proof.sources.map(({ operator, witness }) => ({ operator, witness })),
    metrics: scene.job.hubFollowed(),
    stats: [said.hub?.host, said.hub?.believed],
    status: status.includes(`The social network is read from ${hostOf(other)}.`),
  }
}

describe.each<[string, () => void, () => void]>([
  [
    'is behind',
    () => Object.assign(scene.hub.state.told, { delaySeconds: 3_600 }),
    () => Object.assign(scene.hub.state.told, { delaySeconds: 1 }),
  ],
  [
    'does not answer',
    () => scene.hub.faults.add({ kind: 'status', status: 502 }, { times: Number.POSITIVE_INFINITY }),
    () => scene.hub.faults.clear(),
  ],
])('while the first hub %s', (_, fail, mend) => {
  test('the next one whose events agree is followed, and the first again when it is well', async () => {
    fail()
    await passing(15)
    expect(await followedHub(scene.database.pool)).toBe(other.url)
    expect(await scene.job.hubDoubt()).toBeUndefined()
    expect(await told()).toEqual({
      metrics: hostOf(other),
      stats: [hostOf(other), true],
      status: true,
      proof: [
        { operator: hostOf(other), witness: false },
        { operator: hostOf(scene.hub), witness: true },
      ],
    })
    expect(await roles()).toEqual([
      { url: other.url, witness: false },
      { url: scene.hub.url, witness: true },
    ])
    scene.hub.state.addVerification(fid, second.address, { privateKey: second.privateKey })
    await passing(1)
    expect(await verified()).toEqual(both)
    mend()
    await passing(31)
    expect(await followedHub(scene.database.pool)).toBe(scene.hub.url)
  })

  test('another one that does not know what was read is not followed', async () => {
    const blank = new HubState(scene.clock.now)
    Object.assign(other.state, { shards: blank.shards })
    fail()
    await passing(15)
    expect(await followedHub(scene.database.pool)).toBe(scene.hub.url)
    Object.assign(other.state, { shards: scene.hub.state.shards, accounts: blank.accounts }) // no account, all events
    await passing(15)
    expect(await followedHub(scene.database.pool)).toBe(scene.hub.url)
  })
})
