import { ed25519 } from '@noble/curves/ed25519.js'
import * as fc from 'fast-check'
import { createSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { funder } from '../../devnet/chain/chain.ts'
import { addAppKey } from '../../devnet/chain/farcaster.ts'
import { isAssociated } from '../../social/account-association.ts'
import { createWallets } from '../../social/wallets.ts'
import { failure } from '../support/api/api.ts'
import {
  appKeyOf,
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshNonce,
  jfsClaim,
  post,
  startClaimStage,
  tokenOf,
} from '../support/api/claims.ts'
import { fixture } from '../support/fixture.ts'
import { rounds } from '../support/rounds.ts'

const read = (name: string) => fixture(`sources/jfs/${name}`)
/** Forgeries per property, each a request of its own; as many as fit into the time of the suite. */
const numRuns = rounds(40, 150)

let stage: ClaimStage
let claimant: Claimant
beforeAll(async () => {
  stage = await startClaimStage()
  claimant = await stage.claimant()
})
afterAll(() => stage.stop())

/** Checks for a 4xx: the body is neither accepted nor causes an internal error. */
async function expectRefused(body: unknown) {
  const refused = await failure(await post(stage.api, body))
  expect(refused.status).toBeGreaterThanOrEqual(400)
  expect(refused.status).toBeLessThan(500)
  return refused
}

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const hex = (value: bigint, bytes: number) => value.toString(16).padStart(2 * bytes, '0')

test('no signature but the one that was made is taken: twins with high s, v of other conventions, compact forms', async () => {
  const body = await eip191Claim(stage, claimant)
  const r = body.signature.slice(2, 66)
  const s = body.signature.slice(66, 130)
  const v = body.signature.slice(130)
  const parity = Number.parseInt(v, 16) - 27
  const highS = hex(order - BigInt(`0x${s}`), 32)
  const compactTwin = hex(BigInt(`0x${s}`) | (BigInt(1 - parity) << 255n), 32)
  const forgeries = [
    `0x${r}${highS}${hex(BigInt(28 - parity), 1)}`,
    ...[1 - parity, 28 - parity, 29, 30, 35 + parity, 255].map((other) => `0x${r}${s}${hex(BigInt(other), 1)}`),
    `0x${r}${compactTwin}`,
    `0x${r}${compactTwin}00`,
    `0x${r}${s.slice(2)}`,
    `0x${r}${s}${v}00`,
    `0x${s}${r}${v}`,
    `0x${'00'.repeat(64)}1b`,
    `0x${'00'.repeat(32)}${s}${v}`,
    `0x${r}${'00'.repeat(32)}${v}`,
    `0x${hex(order, 32)}${s}${v}`,
    `0x${'ff'.repeat(64)}${v}`,
    `0X${r}${s}${v}`,
    body.signature.slice(2),
  ]
  for (const signature of forgeries) await expectRefused({ ...body, signature })
  expect((await post(stage.api, body)).status).toBe(200)
})

test('v may be 0 or 1 instead of 27 or 28, as some wallets write it', async () => {
  const body = await eip191Claim(stage, claimant)
  const v = Number.parseInt(body.signature.slice(130), 16) - 27
  expect((await post(stage.api, { ...body, signature: `${body.signature.slice(0, 130)}0${v}` })).status).toBe(200)
})

test('no changed bit of a signature, an address or a nonce is taken', { tags: ['rounds'] }, async () => {
  const body = await eip191Claim(stage, claimant)
  await fc.assert(
    fc.asyncProperty(fc.nat(65 * 8 - 1), async (bit) => {
      const bytes = Buffer.from(body.signature.slice(2), 'hex')
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      await expectRefused({ ...body, signature: `0x${bytes.toString('hex')}` })
    }),
    { numRuns },
  )
})

test('no random signature of any length is taken', async () => {
  const body = await eip191Claim(stage, claimant)
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 0, maxLength: 200 }), async (bytes) => {
      await expectRefused({ ...body, signature: `0x${Buffer.from(bytes).toString('hex')}` })
    }),
    { numRuns: 50 },
  )
})

test('no changed character of a token is taken, even where decoders see the same bytes', {
  tags: ['rounds'],
}, async () => {
  const body = jfsClaim(stage, claimant)
  const character = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. !~\n')
  await fc.assert(
    fc.asyncProperty(
      fc.nat(body.jfs.length - 1),
      character,
      fc.constantFrom('replace', 'insert'),
      async (at, put, how) => {
        const jfs = body.jfs.slice(0, at) + put + body.jfs.slice(how === 'replace' ? at + 1 : at)
        if (jfs !== body.jfs) await expectRefused({ ...body, jfs })
      },
    ),
    { numRuns },
  )
  const last = body.jfs.at(-1) as string // the last character carries unused bits
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  for (const twin of alphabet.replace(last, '')) await expectRefused({ ...body, jfs: body.jfs.slice(0, -1) + twin })
  expect((await post(stage.api, body)).status).toBe(200)
})

test('a token with s + L, the twin of its signature, is refused', async () => {
  const body = jfsClaim(stage, claimant)
  const [header, payload, signature] = body.jfs.split('.')
  const bytes = Buffer.from(signature as string, 'base64url')
  const l = 2n ** 252n + 27742317777372353535851937790883648493n
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`)
  const twin = Buffer.concat([bytes.subarray(0, 32), Buffer.from(hex(s + l, 32), 'hex').reverse()])
  const refused = await expectRefused({ ...body, jfs: [header, payload, twin.toString('base64url')].join('.') })
  expect(refused.error).toBe('ERR_SIG_INVALID')
})

test('keys of small order sign nothing, although the registry holds them', async () => {
  const trivial = Buffer.concat([Buffer.from(`01${'00'.repeat(31)}`, 'hex'), Buffer.alloc(32)])
  const smallOrder = [
    `01${'00'.repeat(31)}`,
    `${'00'.repeat(32)}`,
    `ec${'ff'.repeat(30)}7f`,
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ]
  for (const key of smallOrder) {
    await stage.chain.execute(funder, addAppKey(BigInt(claimant.fid), `0x${key}`))
    const token = jfsClaim(stage, claimant, { header: { key: `0x${key}` } }).jfs.split('.')
    const jfs = [token[0], token[1], trivial.toString('base64url')].join('.')
    expect((await expectRefused({ method: 'jfs', fid: claimant.fid, jfs })).error).toBe('ERR_SIG_INVALID')
  }
})

test('real tokens of mini apps are good signatures and no claims', async () => {
  const vectors = read('app_key.vectors.json')
  expect(vectors).not.toEqual([])
  for (const one of vectors) {
    const segment = (text: unknown) => Buffer.from(JSON.stringify(text)).toString('base64url')
    const header = one.header ?? segment(one.header_json)
    const payload = one.payload ?? segment(one.payload_json)
    const { key, fid } = JSON.parse(Buffer.from(header, 'base64url').toString())
    const signed = Buffer.from(`${header}.${payload}`)
    const signature = Buffer.from(one.signature, 'base64url')
    expect(ed25519.verify(signature, signed, Buffer.from(key.slice(2), 'hex'), { zip215: false })).toBe(true)
    const refused = await expectRefused({ method: 'jfs', fid, jfs: { header, payload, signature: one.signature } })
    expect(refused.error).toBe('ERR_JFS_PAYLOAD_INVALID')
  }
})

const manifests = ['astrodice', 'betcaster', 'buster-mkt', 'driftwing', 'web3radio']

test('real account associations are no claims: their type is refused', async () => {
  const published = [
    ...read('account_association.docs.json'),
    ...manifests.map((name) => read(`farcaster-manifest.${name}.json`).accountAssociation),
  ]
  for (const { header, payload, signature } of published) {
    const { fid } = JSON.parse(Buffer.from(header, 'base64url').toString())
    const refused = await expectRefused({ method: 'jfs', fid, jfs: { header, payload, signature } })
    expect(refused.error).toBe('ERR_JFS_PAYLOAD_INVALID')
  }
})

test('real account associations link their own domain to their own fid, once the registry knows the key', async () => {
  const wallets = createWallets(() => undefined) // all of these were signed by plain keys
  const registries = {
    chain: { name: 'optimism', id: 10 },
    isCustody: async () => true,
    isAuthAddress: async () => true,
  }
  const world = { registries, wallets, associationCharacters: 4_096 }
  let good = 0
  for (const name of manifests) {
    const association = read(`farcaster-manifest.${name}.json`).accountAssociation
    const { fid } = JSON.parse(Buffer.from(association.header, 'base64url').toString())
    const { domain: host } = JSON.parse(Buffer.from(association.payload, 'base64url').toString())
    if (await isAssociated(association, { fid, host, transferBlock: null }, world)) good++
    expect(await isAssociated(association, { fid: fid + 1, host, transferBlock: null }, world)).toBe(false)
    expect(await isAssociated(association, { fid, host: `x${host}`, transferBlock: null }, world)).toBe(false)
  }
  expect(good).toBe(manifests.length)
})

test('a Sign-In with Ethereum of the same address for another site, or for another purpose here, is no claim', async () => {
  const nonce = freshNonce()
  const timestamp = new Date(stage.clock.now).toISOString()
  const common = {
    address: claimant.account.address,
    version: '1',
    chainId: 10,
    nonce,
    issuedAt: new Date(timestamp),
  } as const
  const resources = [`farcaster://fid/${claimant.fid}`]
  const statement = `Claim FID ${claimant.fid} on agent-directory.`
  const uri = 'https://api.agents.example/api/claim'
  const others = [
    {
      ...common,
      domain: 'elsewhere.example',
      uri: 'https://elsewhere.example/login',
      statement: 'Farcaster Auth',
      resources,
    },
    { ...common, domain: 'elsewhere.example', uri, statement, resources },
    { ...common, domain: 'agents.example', uri: 'https://agents.example', statement, resources },
    { ...common, domain: 'agents.example', uri, statement: 'Sign in.', resources },
    { ...common, domain: 'agents.example', uri, statement },
    { ...common, domain: 'agents.example', uri, statement, resources: ['farcaster://fid/1'] },
    { ...common, domain: 'agents.example', uri, statement, resources, expirationTime: new Date(timestamp) },
  ]
  for (const fields of others) {
    const signature = await claimant.account.signMessage({ message: createSiweMessage(fields as never) })
    const { fid, address } = claimant
    const refused = await expectRefused({ method: 'eip191', fid, address, nonce, timestamp, signature })
    expect(refused.error).toBe('ERR_SIG_INVALID')
  }
})

test('a token is for this fid alone, whoever else’s key is known to the registry', async () => {
  const other = await stage.claimant()
  const said = { aud: 'https://api.agents.example', action: 'claim', fid: claimant.fid, nonce: freshNonce() }
  const payload = { ...said, timestamp: new Date(stage.clock.now).toISOString() }
  const header = { fid: claimant.fid, type: 'app_key', key: other.appKey.publicKey }
  const jfs = tokenOf(other.appKey.secret, header, payload)
  expect((await expectRefused({ method: 'jfs', fid: claimant.fid, jfs })).error).toBe('ERR_JFS_KEY_INACTIVE')
  const unknown = appKeyOf('unknown')
  const claimed = tokenOf(unknown.secret, { ...header, key: unknown.publicKey }, payload)
  expect((await expectRefused({ method: 'jfs', fid: claimant.fid, jfs: claimed })).error).toBe('ERR_JFS_KEY_INACTIVE')
})
