import { validations } from '@farcaster/core'
import { ed25519 } from '@noble/curves/ed25519.js'
import { hexToBytes, recoverAddress } from 'viem'
import { expect, test } from 'vitest'
import { HubState } from '../../devnet/hub/state.ts'
import { appKeyOf, walletOf } from '../../devnet/world/keys.ts'
import { checkEnvelope, messageHash, signedBy } from '../../trust/envelope.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { encodeMessageData, type VerificationAdd } from '../../trust/message-data.ts'
import { type Asked, judgeVerification } from '../../trust/verdict.ts'
import { checkKeyClaim, claimDigest } from '../../trust/verification-claim.ts'
import { liesAbout } from './lies.ts'
import {
  first,
  firstBytes,
  firstDigest,
  oldest,
  reaction,
  reactionBytes,
  second,
  secondDigest,
  zeroV,
} from './vectors.ts'

const mainnet = 1
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const read = (json: unknown) => readHubMessage(json) ?? expect.fail('not read')
const addIn = (json: unknown) => read(json).data.body as VerificationAdd & { kind: 'verification_add' }
const asked = (of: typeof first | typeof second, now = new Date('2026-01-01T00:00:00Z')): Asked => {
  return { fid: of.data.fid, address: of.data.verificationAddAddressBody.address, now }
}

test.each([
  ['a verification of 2024', first, firstBytes],
  ['a reaction', reaction, reactionBytes],
])('the bytes of %s are rebuilt from its JSON', (_, json, bytes) => {
  expect(hexOf(read(json).dataBytes)).toBe(bytes)
  expect(checkEnvelope(read(json))).toBe('held')
})

test.each([
  ['late Hubble', first, firstDigest],
  ['Snapchain', second, secondDigest],
])('a message in the form of %s is signed by its key and by its address', async (_, json, digest) => {
  const add = addIn(json)
  expect(checkEnvelope(read(json))).toBe('held')
  expect(claimDigest(json.data.fid, add, mainnet)).toBe(digest)
  expect(await checkKeyClaim(json.data.fid, add, mainnet)).toBe('held')
  expect((await judgeVerification(read(json), asked(json))).verdict).toBe('signed')
  expect((await judgeVerification(read(json), asked(json), { key: 'held' })).verdict).toBe('proven')
})

test('a message of 2,048 bytes is judged, and one of 2,049 is refused whatever its signature says', async () => {
  const fid = 7
  const { address } = walletOf('bounds', 'wallet')
  const hub = new HubState()
  hub.addAccount({ fid, custody: address, appKey: appKeyOf('bounds', 'app') })
  const signedWith = (bytes: number) =>
    hub.addVerification(fid, address, { contractChain: 10, walletSignature: `0x${'11'.repeat(bytes)}` })
  const most = 2_048 - (read(signedWith(1_800)).dataBytes.length - 1_800)
  for (const [bytes, envelope, verdict] of [
    [most, 'held', 'proven'],
    [most + 1, 'failed', 'forged'],
  ] as const) {
    const message = read(signedWith(bytes))
    expect(message.dataBytes).toHaveLength(2_048 + bytes - most)
    expect(messageHash(message.dataBytes)).toEqual(new Uint8Array(message.hash))
    expect(signedBy(message.signature, message.hash, message.signer)).toBe(true)
    const said = { fid, address: address.toLowerCase(), now: new Date() }
    expect(await judgeVerification(message, said, { key: 'held', wallet: 'held' })).toMatchObject({ envelope, verdict })
  }
})

test('the oldest form of the body gives the hash that was published', () => {
  const { fid, timestamp, address, blockHash, signature: ethSignature, hash } = oldest
  const verificationAddEthAddressBody = { address, ethSignature, blockHash }
  const json = {
    ...first,
    hash,
    data: { ...first.data, fid, timestamp, verificationAddAddressBody: null, verificationAddEthAddressBody },
  }
  expect(`0x${hexOf(messageHash(read(json).dataBytes))}`).toBe(hash)
})

test('both body names at once, equal, are one verification', async () => {
  const { claimSignature: ethSignature, ...body } = { ...first.data.verificationAddAddressBody }
  const both = { ...first.data.verificationAddAddressBody, ethSignature }
  const json = {
    ...first,
    data: { ...first.data, verificationAddAddressBody: both, verificationAddEthAddressBody: { ...body, ethSignature } },
  }
  expect((await judgeVerification(read(json), asked(first))).verdict).toBe('signed')
})

test('a signature that ends in v = 0 is one of its key', async () => {
  const claim = {
    address: hexToBytes(zeroV.address as `0x${string}`),
    blockHash: hexToBytes(zeroV.blockHash as `0x${string}`),
    claimSignature: hexToBytes(zeroV.signature as `0x${string}`),
    verificationType: 0,
    chainId: 0,
    protocol: 0,
  }
  expect(claimDigest(zeroV.fid, claim, mainnet)).toBe(zeroV.digest)
  expect(await checkKeyClaim(zeroV.fid, claim, mainnet)).toBe('held')
})

test('another fid, and a chain id of zero in the domain, recover somebody else', async () => {
  const add = addIn(first)
  const signature = `0x${hexOf(add.claimSignature)}` as const
  const asWallet = claimDigest(first.data.fid, { ...add, verificationType: 1, chainId: 0 }, mainnet)
  expect(await recoverAddress({ hash: asWallet, signature })).toBe('0xDCf4F9de2d59530e4AD30897BdBa7F4de65f0989')
  expect(await recoverAddress({ hash: claimDigest(1, add, mainnet), signature })).toBe(
    '0x55577D35A5c43d6b01F869b55E23cA8AF563d050',
  )
})

test('the reference implementation agrees with both verdicts', async () => {
  for (const json of [first, second]) {
    const { address, claimSignature, blockHash } = addIn(json)
    const body = { address, claimSignature, blockHash, verificationType: 0, chainId: 0, protocol: 0 }
    const valid = await validations.validateVerificationAddEthAddressSignature(body, json.data.fid, mainnet)
    expect(valid.isOk()).toBe(true)
    const other = await validations.validateVerificationAddEthAddressSignature(body, json.data.fid + 1, mainnet)
    expect(other.isOk()).toBe(false)
    expect(await checkKeyClaim(json.data.fid + 1, addIn(json), mainnet)).toBe('failed')
  }
})

test('a key of small order, which signs everything, signs nothing', () => {
  const identity = ed25519.Point.ZERO.toBytes()
  const anything = new Uint8Array(64)
  anything.set(identity)
  expect(ed25519.verify(anything, new Uint8Array(20), identity, { zip215: true })).toBe(true)
  expect(signedBy(anything, new Uint8Array(20), identity)).toBe(false)
})

const lies = liesAbout(second, first)

test.each(lies)('%s proves nothing', async (name, json) => {
  // Also if the hub lies about the key: whether the key is held is looked up on the chain.
  const answers = { key: name.includes('key') ? ('failed' as const) : ('held' as const) }
  const { verdict } = await judgeVerification(readHubMessage(json), asked(second), answers)
  if (name === 'bytes of another message') return expect(verdict).toBe('proven') // the fields themselves are true
  expect(['stated', 'forged']).toContain(verdict)
})

test('a message from the future is refused, one from ten minutes ahead is not', async () => {
  const signedAt = (1_609_459_200 + second.data.timestamp) * 1000
  const at = async (now: number) => (await judgeVerification(read(second), asked(second, new Date(now)))).verdict
  expect(await at(signedAt - 600_000)).toBe('signed')
  expect(await at(signedAt - 600_001)).toBe('forged')
})

test('the same fields written otherwise are not called forged', async () => {
  // A zero that is written out is the same content and another hash.
  const bytes = Buffer.concat([encodeMessageData(read(second).data), Buffer.from('4800', 'hex')])
  const json = { ...second, hash: `0x${hexOf(messageHash(bytes))}` }
  const judged = await judgeVerification(read(json), asked(second), { key: 'held' })
  expect(judged).toEqual({ verdict: 'stated', envelope: 'unknown', claim: 'held', key: 'held' })
})

test('a key that the registry never had makes a verification stated', async () => {
  expect(await judgeVerification(read(second), asked(second), { key: 'failed' })).toMatchObject({
    verdict: 'stated',
    key: 'failed',
  })
})
