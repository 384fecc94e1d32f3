import { generateKeyPairSync, sign } from 'node:crypto'
import { concat, keccak256, pad, stringToBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import { demandFor } from '../../../devnet/hosts/sellers.ts'
import { startWebHost } from '../../../devnet/hosts/web-host.ts'
import { createAgentHosts } from '../../../enrichment/agent-hosts.ts'
import { withSignatures } from '../../../enrichment/specs/offers/signed.ts'
import { createSigners, type Signers } from '../../../enrichment/specs/offers/signers.ts'
import { saleIn } from '../../../enrichment/specs/prices.ts'
import { createDoor } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import { askNameServersForTexts } from '../../../net/resolver.ts'
import type { KeyOf } from '../../../trust/offer-jws.ts'
import { offerSigner } from '../../../trust/offer-signature.ts'
import { startNameServer } from '../../net/name-server.ts'

const seller = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const other = privateKeyToAccount(`0x${'22'.repeat(32)}`)
const url = 'https://seller.example/paid'
/** The key of `payTo` alone may sign. */
const nobodyElse: Signers = { keyOf: async () => undefined, didOf: async () => undefined }
const field = (name: string, type = 'string') => ({ name, type })
const types = {
  Offer: [
    field('version', 'uint256'),
    ...['resourceUrl', 'scheme', 'network', 'asset', 'payTo', 'amount'].map((name) => field(name)),
    field('validUntil', 'uint256'),
  ],
}

/**
 * Until when the one price of a demand is signed, if its offer says `changes` instead of what the demand says. `asked`:
 * members of its way to pay that are not signed.
 */
async function signedUntil(
  changes: object = {},
  by = seller,
  tamper: (offer: object) => object = (offer) => offer,
  asked: object = {},
  signers = nobodyElse,
) {
  const demand = demandFor({ url, payTo: seller.address })
  const [way] = demand.accepts
  const { scheme, network, asset, payTo, amount } = way!
  const payload = {
    version: 1,
    resourceUrl: url,
    scheme,
    network,
    asset,
    payTo,
    amount,
    validUntil: 1_800_000_000,
    ...changes,
  }
  const domain = { name: 'x402 offer', version: '1', chainId: 1 } as const
  const signature = await by.signTypedData({ domain, types, primaryType: 'Offer', message: payload })
  const offer = tamper({ format: 'eip712', payload, signature, acceptIndex: 0 })
  const whole = {
    ...demand,
    accepts: [{ ...way, ...asked }],
    extensions: { 'offer-receipt': { info: { offers: [offer] } } },
  }
  const [price] = await withSignatures(saleIn(whole).prices, whole, new URL(url), signers)
  return price?.signedUntil
}

test('what is signed is hashed as the extension writes it: by its own separator and type', async () => {
  // Separator of the domain and hash of the type as they stand in the specification.
  const separator = '0x5dc92544087ab60aa57c539b9543f9282416b0dcf2c2ae0d4d0051052a9e61b6'
  const type = '0x85143d3249b5e62ed5edd3d59a352d4e1181c775ff4f762f9c8a617f6bf1e97d'
  const texts = [url, 'exact', 'eip155:8453', '0xasset', seller.address, '10000'] as const
  const hashes = texts.map((text) => keccak256(stringToBytes(text)))
  const words = [type, pad('0x01'), ...hashes, pad('0x07')] as const
  const hash = keccak256(concat(['0x1901', separator, keccak256(concat(words))]))
  const [resourceUrl, scheme, network, asset, payTo, amount] = texts
  const offer = { version: 1, resourceUrl, scheme, network, asset, payTo, amount, validUntil: 7 }
  expect(await offerSigner(offer, await seller.sign({ hash }))).toBe(seller.address.toLowerCase())
})

test('a price is signed if the key of its payee signed the same terms for the same endpoint', async () => {
  expect(await signedUntil()).toBe('1800000000')
  expect(await signedUntil({ validUntil: 0 })).toBe('always')
  expect(await signedUntil({}, seller, same, { resource: url })).toBe('1800000000')
})

const same = (offer: object) => offer
test.for<[string, object]>([
  ['that is asked for in whole units', { amount: undefined, price: '10000' }],
  ['of another resource', { resource: 'https://seller.example/other' }],
  ['of a path on its host', { resource: '/other', method: 'GET' }],
])('a price %s is not signed by an offer with the same figure', async ([, asked]) => {
  expect(await signedUntil({}, seller, same, asked)).toBeUndefined()
})

test.for<[string, () => Promise<string | undefined>]>([
  ['another key', () => signedUntil({}, other)],
  ['the terms of another resource', () => signedUntil({ resourceUrl: 'https://seller.example/other' })],
  ['another amount', () => signedUntil({ amount: '1' })],
  ['another network', () => signedUntil({ network: 'eip155:1' })],
  ['another payee', () => signedUntil({ payTo: other.address }, other)],
  ['another version', () => signedUntil({ version: 2 })],
  ['half a signature', () => signedUntil({}, seller, (offer) => ({ ...offer, signature: `0x${'11'.repeat(32)}` }))],
  [
    'no signature of any key',
    () => signedUntil({}, seller, (offer) => ({ ...offer, signature: `0x${'ff'.repeat(65)}` })),
  ],
  ['another format', () => signedUntil({}, seller, (offer) => ({ ...offer, format: 'jws' }))],
  ['nothing', () => signedUntil({}, seller, () => ({}))],
])('an offer with %s signs nothing', async ([, until]) => {
  expect(await until()).toBeUndefined()
})

const did = 'did:web:seller.example'
const kid = `${did}#key-1`
type Algorithm = 'ES256K' | 'ES256' | 'EdDSA'
const pairs = {
  ES256K: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
  EdDSA: generateKeyPairSync('ed25519'),
}
const jwkOf = (alg: Algorithm) => pairs[alg].publicKey.export({ format: 'jwk' })
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The mark on the one price of a demand whose offer is a JWS with these changes. */
async function markOfJws(
  given: { alg?: Algorithm; header?: object; payload?: object; keyOf?: KeyOf; way?: object } = {},
) {
  const {
    alg = 'ES256K',
    header = {},
    payload = {},
    keyOf = async (id) => (id === kid ? jwkOf(alg) : undefined),
  } = given
  const demand = demandFor({ url, payTo: seller.address })
  const [way] = demand.accepts
  const { scheme, network, asset, payTo, amount } = way!
  const terms = { version: 1, resourceUrl: url, scheme, network, asset, payTo, amount, validUntil: 1_800_000_000 }
  const text = `${part({ alg, kid, ...header })}.${part({ ...terms, ...payload })}`
  const key = { key: pairs[alg].privateKey, dsaEncoding: 'ieee-p1363' } as const
  const signature = sign(alg === 'EdDSA' ? null : 'sha256', Buffer.from(text), key).toString('base64url')
  const offers = [{ format: 'jws', signature: `${text}.${signature}` }]
  const whole = {
    ...demand,
    accepts: [{ ...way, ...given.way }],
    extensions: { 'offer-receipt': { info: { offers } } },
  }
  const [price] = await withSignatures(saleIn(whole).prices, whole, new URL(url), { ...nobodyElse, keyOf })
  return [price?.signedUntil, price?.signedBy]
}

test('a price is signed if a key that the endpoint’s host publishes signed the same terms, by any algorithm', async () => {
  for (const alg of ['ES256K', 'ES256', 'EdDSA'] as const) {
    expect(await markOfJws({ alg })).toEqual(['1800000000', kid])
    expect(await markOfJws({ alg, header: { jwk: jwkOf(alg) } })).toEqual(['1800000000', kid])
  }
  // Version 1 names networks in another way than what is signed.
  expect(await markOfJws({ way: { network: 'base' } })).toEqual(['1800000000', kid])
})

test.for<[string, Parameters<typeof markOfJws>[0]]>([
  ['a key that is nowhere', { keyOf: async () => undefined }],
  ['another key than the one that is published', { keyOf: async () => jwkOf('ES256') }],
  ['a key in its header that is another', { header: { jwk: jwkOf('ES256') } }],
  ['an algorithm of shared secrets', { header: { alg: 'HS256' } }],
  ['no algorithm', { header: { alg: 'none' } }],
  ['no name of a key', { header: { kid: undefined } }],
  ...[`${did}#\u0000`, `${did}#\ud800`, `${did}# `, `${did}#${'k'.repeat(2_000)}`].map(
    (other): [string, Parameters<typeof markOfJws>[0]] => [
      `the key ${JSON.stringify(other).slice(0, 40)}, which is no DID URL`,
      { header: { kid: other }, keyOf: async () => jwkOf('ES256K') },
    ],
  ),
  ['demands on who reads it', { header: { crit: ['b64'], b64: false } }],
  ['another amount', { payload: { amount: '1' } }],
  ['another resource', { payload: { resourceUrl: 'https://seller.example/other' } }],
  ['another network', { payload: { network: 'eip155:1' } }],
  ['another version', { payload: { version: 2 } }],
])('an offer as JWS with %s signs nothing', async ([, given]) => {
  expect(await markOfJws(given)).toEqual([undefined, undefined])
})

/** A host with a DID document, and what looks for keys in it; `asked`: how often the document was asked for. */
async function startDidHost() {
  const host = await startWebHost()
  onTestFinished(host.stop)
  const egressAllow = parseEgressAllow(host.name)
  const politeness = { intervalMs: 0, maxWaiting: 100, maxWaitMs: 10_000 }
  const door = createDoor({ userAgent: 'test/1.0 (+https://agents.example)', egressAllow, politeness })
  onTestFinished(door.close)
  const hosts = createAgentHosts({ door, egressAllow, now: () => new Date() })
  const own = `did:web:${host.name.replace(':', '%3A')}`
  let asked = 0
  const serve = (document: object) =>
    host.pages.set('/.well-known/did.json', () => {
      asked++
      return { body: document }
    })
  const keys = (spend = () => true) => createSigners(hosts, new URL(`${host.url}/paid`), spend).keyOf
  return { host, own, serve, keys, asked: () => asked }
}

test('keys are taken from the DID document of the endpoint’s own host, which is asked for once', async () => {
  const { host, own, serve, keys, asked } = await startDidHost()
  const publicKeyJwk = jwkOf('EdDSA')
  const verificationMethod = [{ id: '#near', publicKeyJwk }, { id: `${own}#far`, publicKeyJwk }, { id: '#none' }]
  serve({ id: own, verificationMethod })
  const keyOf = keys()
  expect(await keyOf(`${own}#near`)).toEqual(publicKeyJwk)
  expect(await keyOf(`${own.replace('%3A', '%3a')}#far`)).toEqual(publicKeyJwk)
  for (const other of [
    `${own}#none`,
    `${own}#other`,
    own,
    `${own}:path#near`,
    'did:web:elsewhere.example#near',
    'did:key:z6#z6',
  ])
    expect(await keyOf(other)).toBeUndefined()
  expect(asked()).toBe(1)
  expect(await keys(() => false)(`${own}#near`)).toBeUndefined()
  serve({ id: 'did:web:elsewhere.example', verificationMethod })
  expect(await keys()(`${own}#near`)).toBeUndefined()
  host.pages.delete('/.well-known/did.json')
  expect(await keys()(`${own}#near`)).toBeUndefined()
})

test('a document that says what its keys are for lets those alone sign that are for assertions', async () => {
  const { own, serve, keys } = await startDidHost()
  const publicKeyJwk = jwkOf('EdDSA')
  const login = jwkOf('ES256')
  const verificationMethod = [
    { id: '#sales', publicKeyJwk },
    { id: '#login', publicKeyJwk: login },
  ]
  const signing = async (purposes: object) => {
    serve({ id: own, ...purposes })
    const keyOf = keys()
    const found = ['sales', 'login', 'inside'].map(async (name) => ((await keyOf(`${own}#${name}`)) ? [name] : []))
    return (await Promise.all(found)).flat()
  }
  expect(await signing({ verificationMethod })).toEqual(['sales', 'login'])
  expect(await signing({ verificationMethod, assertionMethod: ['#sales'], authentication: ['#login'] })).toEqual([
    'sales',
  ])
  expect(await signing({ verificationMethod, assertionMethod: [`${own}#login`] })).toEqual(['login'])
  expect(await signing({ verificationMethod, assertionMethod: [] })).toEqual([])
  expect(await signing({ verificationMethod, authentication: ['#login'] })).toEqual([])
  expect(await signing({ verificationMethod, keyAgreement: ['#sales'] })).toEqual([])
  const inside = { id: '#inside', publicKeyJwk }
  expect(await signing({ assertionMethod: [inside] })).toEqual(['inside'])
  expect(await signing({ verificationMethod, assertionMethod: ['#sales', inside] })).toEqual(['sales', 'inside'])
  expect(await signing({ verificationMethod, authentication: [inside] })).toEqual([])
  expect(await signing({ verificationMethod, assertionMethod: ['did:web:elsewhere.example#sales', 7] })).toEqual([])
})

/** Who may sign for an endpoint whose name has these texts in DNS; `asked`: questions that the name server got. */
async function signersBy(texts: readonly string[], endpoint = 'https://seller.example/paid', spend = () => true) {
  const nameServer = await startNameServer({ '_controllers.seller.example': { texts } })
  onTestFinished(nameServer.close)
  const lookupTexts = askNameServersForTexts([`127.0.0.1:${nameServer.port}`])
  const door = createDoor({ userAgent: 'test/1.0 (+https://agents.example)', egressAllow: new Set(), lookupTexts })
  onTestFinished(door.close)
  const hosts = createAgentHosts({ door, egressAllow: new Set(), now: () => new Date() })
  return { signers: createSigners(hosts, new URL(endpoint), spend), asked: nameServer.questions }
}

const pkhOf = ({ address }: { address: string }) => `did:pkh:eip155:1:${address}`
const didJwk = (changes: object = {}) => `did:jwk:${part({ ...jwkOf('ES256'), ...changes })}`

test('keys and addresses that the name of an endpoint has as controllers in DNS sign for it', async () => {
  const did = didJwk()
  const { signers, asked } = await signersBy(['v=spf1 -all', `v=1;controller=${pkhOf(other)}; controller=${did}`])
  expect(await signers.didOf(other.address.toLowerCase())).toBe(pkhOf(other).toLowerCase())
  expect(await signers.didOf(seller.address.toLowerCase())).toBeUndefined()
  expect(await signers.keyOf(`${did}#0`)).toEqual(jwkOf('ES256'))
  expect(await signers.keyOf(`${did}#1`)).toBeUndefined()
  expect(await signers.keyOf(`did:jwk:${part(jwkOf('EdDSA'))}#0`)).toBeUndefined()
  expect(asked).toEqual(['_controllers.seller.example 16'])
  const { keyOf } = signers
  expect(await markOfJws({ alg: 'ES256', header: { kid: `${did}#0` }, keyOf })).toEqual(['1800000000', `${did}#0`])
  expect(await markOfJws({ alg: 'EdDSA', header: { kid: `${did}#0` }, keyOf })).toEqual([undefined, undefined])
})

test('an offer by EIP-712 of an address in DNS signs a price that another address is paid', async () => {
  const { signers } = await signersBy([`v=1;controller=${pkhOf(other)}`])
  expect(await signedUntil({}, other, same, {}, signers)).toBe('1800000000')
  expect(await signedUntil({ amount: '1' }, other, same, {}, signers)).toBeUndefined()
  const stranger = privateKeyToAccount(`0x${'33'.repeat(32)}`)
  expect(await signedUntil({}, stranger, same, {}, signers)).toBeUndefined()
})

test.for<[string, readonly string[], string?, (() => boolean)?]>([
  ['has no such text', []],
  ['has a text of another version', [`v=2;controller=${pkhOf(other)}`]],
  ['names somebody else', [`v=1;controller=${pkhOf(seller)}`]],
  ['says it outside of the text', [`controller=${pkhOf(other)}`]],
  ['is another', [`v=1;controller=${pkhOf(other)}`], 'https://api.seller.example/paid'],
  ['is an address', [`v=1;controller=${pkhOf(other)}`], 'https://203.0.113.7/paid'],
  ['may not be asked for', [`v=1;controller=${pkhOf(other)}`], 'https://seller.example/paid', () => false],
])('nobody else signs for an endpoint whose name %s', async ([, texts, endpoint, spend]) => {
  const { signers } = await signersBy([...texts], endpoint, spend)
  expect(await signers.didOf(other.address.toLowerCase())).toBeUndefined()
})

test('a key for encryption signs nothing, although DNS names it', async () => {
  const did = didJwk({ use: 'enc' })
  const { signers } = await signersBy([`v=1;controller=${did}`])
  expect(await signers.keyOf(`${did}#0`)).toBeUndefined()
})
