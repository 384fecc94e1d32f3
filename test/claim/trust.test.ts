import { keccak256, toBytes, toHex } from 'viem'
import { sign } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accountOf, funder } from '../../devnet/chain/chain.ts'
import { addAppKey, removeAppKey } from '../../devnet/chain/farcaster.ts'
import { farcasterEpoch, makeMessage } from '../../devnet/hub/messages.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { blockHashOf } from '../../devnet/hub/verifications.ts'
import { claimDigest } from '../../trust/verification-claim.ts'
import { failure } from '../support/api/api.ts'
import {
  appKeyOf,
  type Claimant,
  type ClaimStage,
  eip191Claim,
  jfsClaim,
  post,
  startClaimStage,
  transferAccount,
} from '../support/api/claims.ts'
import { until } from '../support/until.ts'
import { liesAbout } from '../trust/lies.ts'

let stage: ClaimStage
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())

const notVerified = { status: 422, error: 'ERR_ADDRESS_NOT_VERIFIED' }

/** A key that signs messages. */
function signerOf(text: string) {
  const { publicKey, secret } = appKeyOf(text)
  return { publicKey, privateKey: toHex(secret) }
}

describe.each([
  ['given away', 't'],
  ['recovered', 'r'],
] as const)('an account that was %s', (_, kind) => {
  test('cannot be claimed by whoever had it, until its new owner verifies the address with a key of his own', async () => {
    const claimant = await stage.claimant()
    await transferAccount(stage, claimant.fid, kind)
    const refused = await failure(await post(stage.api, await eip191Claim(stage, claimant)))
    expect(refused).toMatchObject({ ...notVerified, fid: claimant.fid, detail: expect.stringContaining('transferred') })
    const at = new Date(Date.now() + 60_000)
    const { privateKey } = claimant
    stage.hub.state.addVerification(claimant.fid, claimant.address, { privateKey, at })
    const withOldKey = await failure(await post(stage.api, await eip191Claim(stage, claimant)))
    expect(withOldKey).toMatchObject({ ...notVerified, detail: expect.stringContaining('app key from before') })
    const appKey = signerOf(`new owner's key after ${kind}`)
    await stage.chain.execute(funder, addAppKey(BigInt(claimant.fid), appKey.publicKey))
    stage.hub.state.addVerification(claimant.fid, claimant.address, { privateKey, at, appKey })
    expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
  })

  test('cannot be claimed with an app key of before, and can with one that was added since', async () => {
    const claimant = await stage.claimant()
    await transferAccount(stage, claimant.fid, kind)
    const refused = await failure(await post(stage.api, jfsClaim(stage, claimant)))
    expect(refused).toMatchObject({
      status: 422,
      error: 'ERR_JFS_KEY_INACTIVE',
      detail: expect.stringContaining('transferred'),
    })
    const appKey = appKeyOf(`key after ${kind}`)
    await stage.chain.execute(funder, addAppKey(BigInt(claimant.fid), appKey.publicKey))
    expect((await post(stage.api, jfsClaim(stage, { ...claimant, appKey }))).status).toBe(200)
  })
})

test('a key that the registry has removed claims by what it signed before, and by nothing that it signs since', async () => {
  const claimant = await stage.claimant()
  const { fid, address, privateKey, appKey } = claimant
  // Blocks and messages tell time by seconds, and who signed in the second of the removal signed too late.
  const signed = Date.now() / 1_000
  await until('a block is later than the second in which the claimant signed', async () => {
    await stage.chain.client.mine({ blocks: 1 })
    return Number((await stage.chain.client.getBlock()).timestamp) > signed
  })
  const { blockNumber } = await stage.chain.execute(funder, removeAppKey(BigInt(fid), appKey.publicKey))
  const { timestamp } = await stage.chain.client.getBlock({ blockNumber })
  expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
  for (const seconds of [0, 60]) {
    const at = new Date((Number(timestamp) + seconds) * 1_000)
    stage.hub.state.addVerification(fid, address, { privateKey, at })
    const refused = await failure(await post(stage.api, await eip191Claim(stage, claimant)))
    expect(refused).toMatchObject({ ...notVerified, fid, detail: expect.stringContaining('not any more') })
  }
})

describe('the word of a hub alone', () => {
  /** An account whose app key only the hub knows and not the registry, as a hub could make up itself. */
  async function madeUp() {
    const account = accountOf('never verified anything')
    const fid = 9_000 + Math.floor(Math.random() * 1e6)
    const key = appKeyOf(`a hub's own ${fid}`)
    stage.hub.state.addAccount({
      fid,
      custody: account.address,
      appKey: { publicKey: key.publicKey, privateKey: toHex(key.secret) },
    })
    return { fid, account, address: account.address.toLowerCase() as `0x${string}` }
  }

  test('claims nothing when the address did not sign', async () => {
    const { fid, account, address } = await madeUp()
    stage.hub.state.addVerification(fid, address)
    const claim = await eip191Claim(stage, { ...(await stage.claimant()), fid, account, address })
    expect(await failure(await post(stage.api, claim))).toMatchObject(notVerified)
  })

  test('claims nothing with a key that the registry never had for the FID', async () => {
    const claimant = await stage.claimant()
    const { fid } = await madeUp()
    stage.hub.state.addVerification(fid, claimant.address, { privateKey: claimant.privateKey })
    const refused = await failure(await post(stage.api, await eip191Claim(stage, { ...claimant, fid })))
    expect(refused).toMatchObject({ ...notVerified, detail: expect.stringContaining('never registered') })
  })

  test('is enough where the operator says so', async () => {
    const api = await stage.another({ verificationProof: 'stated' })
    const { fid, account, address } = await madeUp()
    stage.hub.state.addVerification(fid, address)
    const claim = await eip191Claim(stage, { ...(await stage.claimant()), fid, account, address })
    expect((await post(api, claim)).status).toBe(200)
  })
})

describe('VERIFICATION_PROOF=stated', () => {
  test('says whose word is enough, and nothing of custody: a former owner’s app key claims nothing', async () => {
    const api = await stage.another({ verificationProof: 'stated' })
    const claimant = await stage.claimant()
    await transferAccount(stage, claimant.fid)
    const at = new Date(Date.now() + 60_000)
    const { privateKey } = claimant
    stage.hub.state.addVerification(claimant.fid, claimant.address, { privateKey, at })
    const refused = await failure(await post(api, await eip191Claim(stage, claimant)))
    expect(refused).toMatchObject({ ...notVerified, detail: expect.stringContaining('app key from before') })
  })

  test.each([
    ['TESTNET', 2],
    ['DEVNET', 3],
    ['NONE', 0],
  ])('a message that all signed for another network is nobody’s word: %s', async (name, network) => {
    const api = await stage.another({ verificationProof: 'stated' })
    const claimant = await stage.claimant()
    const { verifications, signer } = stage.hub.state.accounts.get(claimant.fid)!
    const [key, { data }] = [...verifications][0]!
    const { type, fid, timestamp, verificationAddAddressBody: body } = data
    const claim = {
      address: toBytes(claimant.address),
      blockHash: toBytes(blockHashOf(claimant.address)),
      verificationType: 0,
      chainId: 0,
    }
    const hash = claimDigest(fid, claim, network)
    const claimSignature = Buffer.from(toBytes(await sign({ hash, privateKey: claimant.privateKey, to: 'hex' })))
    const elsewhere = {
      network: `FARCASTER_NETWORK_${name}`,
      verificationAddAddressBody: { ...(body as object), claimSignature: claimSignature.toString('base64') },
    }
    const unixMs = (timestamp + farcasterEpoch) * 1000
    verifications.set(key, makeMessage(type, { fid, signer, unixMs }, elsewhere))
    expect((await post(api, await eip191Claim(stage, claimant))).status).toBe(500)
  })
})

test('without a node of the registries’ chain, signatures that hold are enough', async () => {
  const api = await stage.another({ rpc: null })
  const claimant = await stage.claimant()
  expect((await post(api, await eip191Claim(stage, claimant))).status).toBe(200)
})

describe('a second hub', () => {
  /** An API that asks another hub, which knows what the claimant's FID verifies or does not. */
  type About = 'knows' | 'lacks' | 'lacks, and is behind' | 'forges' | 'answers 404' | 'shows a web page'
  async function asking(claimant: Claimant, about: About) {
    const other = await lacking(claimant)
    const { state } = other
    const account = stage.hub.state.accounts.get(claimant.fid)!
    const own = state.accounts.get(claimant.fid)!
    if (about === 'knows') for (const [key, message] of account.verifications) own.verifications.set(key, message)
    if (about === 'forges') {
      for (const [key, message] of account.verifications) {
        own.verifications.set(key, { ...message, signature: Buffer.alloc(64, 1).toString('base64') })
      }
    }
    if (about === 'lacks, and is behind') state.told.delaySeconds = 3_600
    const always = { times: Number.POSITIVE_INFINITY, path: '/v1/verif' }
    if (about === 'answers 404') other.faults.add({ kind: 'status', status: 404 }, always)
    if (about === 'shows a web page') other.faults.add({ kind: 'html' }, always)
    return stage.another({ otherHubs: [other.url] })
  }
  /** A hub that knows the claimant's account and nothing that it verifies. */
  async function lacking({ fid }: Claimant): Promise<Hub> {
    const other = await startHub(new HubState(() => new Date(stage.clock.now)))
    hubs.push(other)
    const { custody, signer } = stage.hub.state.accounts.get(fid)!
    other.state.addAccount({ fid, custody, appKey: signer })
    return other
  }
  const hubs: Hub[] = []
  afterAll(() => Promise.all(hubs.map((hub) => hub.stop())))

  test('that lacks the verification contradicts a claim; one that knows it, is behind, forges or is away does not', async () => {
    const claimant = await stage.claimant()
    const contradicted = await failure(await post(await asking(claimant, 'lacks'), await eip191Claim(stage, claimant)))
    expect(contradicted).toMatchObject({ ...notVerified, detail: expect.stringContaining('another hub') })
    for (const about of ['knows', 'lacks, and is behind', 'forges', 'answers 404', 'shows a web page'] as const) {
      const api = await asking(claimant, about)
      expect((await post(api, await eip191Claim(stage, claimant))).status, about).toBe(200)
    }
    const stated = await stage.another({ otherHubs: [(await lacking(claimant)).url], verificationProof: 'stated' })
    expect(await failure(await post(stated, await eip191Claim(stage, claimant)))).toMatchObject(notVerified)
    const away = await stage.another({ otherHubs: ['http://127.0.0.1:9'] })
    expect((await post(away, await eip191Claim(stage, claimant))).status).toBe(200)
  })
})

test('a forged message among true ones makes the whole answer no answer', async () => {
  const claimant = await stage.claimant()
  const message = stage.hub.state.addVerification(claimant.fid, accountOf('second').address, {
    privateKey: claimant.privateKey,
  })
  expect(message.signature).not.toBe('')
  // The message is signed by the FID's key, the address's signature is somebody else's.
  expect(await failure(await post(stage.api, await eip191Claim(stage, claimant)))).toEqual({
    status: 500,
    error: 'ERR_INTERNAL',
  })
})

test('whatever a hub makes of a true message, it claims nothing', async () => {
  const claimant = await stage.claimant()
  const { verifications } = stage.hub.state.accounts.get(claimant.fid)!
  const other = accountOf('also verified')
  const options = { privateKey: keccak256(toBytes('also verified')) }
  const truths = [...verifications]
  stage.hub.state.addVerification(claimant.fid, other.address, options)
  const [key, message] = truths[0]!
  const another = [...verifications.values()].at(-1)!
  verifications.clear()
  const lies = liesAbout(message as never, another as never)
  expect(lies.length).toBeGreaterThanOrEqual(30)
  for (const [name, lie] of lies) {
    if (name === 'bytes of another message') continue // the fields themselves are true
    verifications.set(key, lie as never)
    expect([name, (await post(stage.api, await eip191Claim(stage, claimant))).status]).not.toEqual([name, 200])
  }
  verifications.set(key, message)
  expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
})
