import { type Hex, keccak256, toBytes, toHex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { accountOf } from '../../devnet/chain/chain.ts'
import { startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { failure } from '../support/api/api.ts'
import { appKeyOf, type Claimant, type ClaimStage, freshNonce, post, startClaimStage } from '../support/api/claims.ts'
import { type ChainRows, chainRows } from '../support/chain/rows.ts'

// What links a host to an account has to be worth what a verified address has to be worth.

const path = '/.well-known/agent-directory.json'
let stage: ClaimStage
let claimant: Claimant
let rows: ChainRows
beforeAll(async () => {
  stage = await startClaimStage()
  rows = chainRows(stage.database.pool)
})
afterAll(() => stage.stop())
beforeEach(async () => {
  claimant = await stage.claimant()
  stage.clock.now += 601_000 // a new window of the limiter: the host is always the same
})

/** Sends a claim by a manifest that is right. */
function claim(api = stage.api) {
  const { fid, address } = claimant
  const { name: host } = stage.host
  stage.host.pages.set(path, { body: { service: 'agent-directory', host, fid, addresses: [address] } })
  return post(api, { method: 'well-known', fid, host, nonce: freshNonce() })
}

/** Says in the account's profile that the host is its own, with a key that the registry never had for the FID. */
function madeUp(key = appKeyOf(`made up by a hub for ${claimant.fid}`)) {
  const account = stage.hub.state.accounts.get(claimant.fid)!
  const signer = { publicKey: key.publicKey, privateKey: toHex(key.secret) }
  stage.hub.state.accounts.set(claimant.fid, { ...account, signer })
  stage.hub.state.setProfile(claimant.fid, { url: `https://${stage.host.name}` })
  stage.hub.state.accounts.set(claimant.fid, {
    ...stage.hub.state.accounts.get(claimant.fid)!,
    signer: account.signer,
  })
}
const notLinked = { status: 422, error: 'ERR_FID_MISMATCH' }

test('a profile that a key of nobody signed links nothing, unless the operator takes the hub’s word', async () => {
  madeUp()
  expect(await failure(await claim())).toMatchObject(notLinked)
  const stated = await stage.another({ verificationProof: 'stated' })
  expect((await claim(stated)).status).toBe(200)
})

test.for(['text', 'hash', 'signature', 'fid', 'network'])(
  'a profile whose %s was changed links nothing',
  async (what) => {
    stage.hub.state.setProfile(claimant.fid, {
      url: what === 'text' ? 'https://elsewhere.example' : `https://${stage.host.name}`,
    })
    const { userData } = stage.hub.state.accounts.get(claimant.fid)!
    const message = userData.get('USER_DATA_TYPE_URL')!
    const lie = {
      text: {
        data: { ...message.data, userDataBody: { type: 'USER_DATA_TYPE_URL', value: `https://${stage.host.name}` } },
      },
      hash: { hash: `0x${'ab'.repeat(20)}` },
      signature: { signature: Buffer.alloc(64, 7).toString('base64') },
      fid: { data: { ...message.data, timestamp: message.data.timestamp + 1 } },
      network: { data: { ...message.data, network: 'FARCASTER_NETWORK_DEVNET' } },
    }[what]
    userData.set('USER_DATA_TYPE_URL', { ...message, ...lie } as typeof message)
    for (const rpc of [stage.chain.rpc, null]) {
      const api = await stage.another({ rpc })
      expect(await failure(await claim(api))).toMatchObject(notLinked)
    }
  },
)

test('a profile that another hub does not know links nothing', async () => {
  const state = new HubState(() => new Date(stage.clock.now))
  const other = await startHub(state)
  onTestFinished(() => other.stop())
  const own = stage.hub.state.accounts.get(claimant.fid)!
  state.addAccount({ fid: claimant.fid, custody: own.custody, appKey: own.signer })
  const known = state.accounts.get(claimant.fid)!
  for (const [key, message] of own.verifications) known.verifications.set(key, message)
  const api = await stage.another({ otherHubs: [other.url] })
  stage.hub.state.setProfile(claimant.fid, { url: `https://${stage.host.name}` })
  const refused = await failure(await claim(api))
  expect(refused).toMatchObject({ ...notLinked, detail: expect.stringContaining('another hub') })
  for (const [key, message] of own.userData) known.userData.set(key, message)
  expect((await claim(api)).status).toBe(200)
})

/** Seeds a registration of the host that an address holds on a chain. */
async function registered(holder: string, chain: 'arbitrum' | 'base' | 'optimism' = 'base', id: number = claimant.fid) {
  const token = { chain, id } as const
  await rows.transfer(token, null, holder as Hex, new Date('2026-01-01T00:00:00Z'))
  await rows.setUri(token, `http://${stage.host.name}/agent.json`, new Date('2026-01-02T00:00:00Z'))
}

test('a registration of an address for which only the hub speaks links nothing, nor one that it passed on', async () => {
  const liar = accountOf(`stranger of ${claimant.fid}`).address.toLowerCase()
  const key = appKeyOf(`a hub's own for ${claimant.fid}`)
  const appKey = { publicKey: key.publicKey, privateKey: toHex(key.secret) }
  const privateKey = keccak256(toBytes(`stranger of ${claimant.fid}`))
  stage.hub.state.addVerification(claimant.fid, liar, { privateKey, appKey })
  await registered(liar)
  expect(await failure(await claim())).toMatchObject(notLinked)
  const token = { chain: 'base', id: claimant.fid } as const
  const uri = `http://${stage.host.name}/agent.json`
  await rows.transfer(token, liar as Hex, claimant.address, new Date('2026-01-05T00:00:00Z'))
  await stage.database.pool.query('update registration set agent_uri = $1 where agent_id = $2', [uri, token.id])
  expect(await failure(await claim())).toMatchObject(notLinked)
  await rows.setUri(token, uri, new Date('2026-01-06T00:00:00Z'))
  expect((await claim()).status).toBe(200)
})

test('a registration of a contract wallet links on the chain that its verification names alone', async () => {
  const { address } = accountOf(`wallet of ${claimant.fid}`)
  await stage.chain.client.setCode({ address, bytecode: '0x631626ba7e60e01b60005260206000f3' }) // says yes
  stage.hub.state.addVerification(claimant.fid, address, { contractChain: 10, privateKey: claimant.privateKey })
  await registered(address, 'base')
  expect(await failure(await claim())).toMatchObject(notLinked)
  await registered(address, 'optimism')
  expect((await claim()).status).toBe(200)
})

test('registrations that a stranger sends, however many, do not hide the one that links the host', async () => {
  const stranger = accountOf('one who sends registrations').address.toLowerCase()
  const firstId = claimant.fid * 10_000
  for (let id = firstId; id < firstId + 51; id++) {
    await registered(stranger, 'arbitrum', id)
    await rows.transfer({ chain: 'arbitrum', id }, stranger, claimant.address, new Date('2026-01-05T00:00:00Z'))
  }
  expect(await failure(await claim())).toMatchObject(notLinked)
  await registered(claimant.address)
  expect((await claim()).status).toBe(200)
})

test('registrations at a contract wallet’s address on other chains do not hide the one that links the host', async () => {
  const { address } = accountOf(`wallet of ${claimant.fid}`)
  await stage.chain.client.setCode({ address, bytecode: '0x631626ba7e60e01b60005260206000f3' }) // says yes
  stage.hub.state.addVerification(claimant.fid, address, { contractChain: 10, privateKey: claimant.privateKey })
  const firstId = claimant.fid * 10_000
  for (let id = firstId; id < firstId + 51; id++) await registered(address, 'arbitrum', id)
  await registered(address, 'optimism')
  expect((await claim()).status).toBe(200)
})
