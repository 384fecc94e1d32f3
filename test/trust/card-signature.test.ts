import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { canonicalJson, type Json } from '../../trust/canonical-json.ts'
import { checkCard } from '../../trust/card-signature.ts'
import { keyFor } from '../../trust/jws.ts'

const url = new URL('https://agent.example/.well-known/agent-card.json')
const jku = 'https://agent.example/.well-known/jwks.json'
const card = {
  name: 'Ada',
  version: '1',
  url: 'https://agent.example/a2a',
  skills: [{ id: 'count', tags: [] }],
  note: '',
}

const pairs = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
}
type Alg = keyof typeof pairs

interface Signing {
  readonly alg?: string
  readonly kid?: string
  readonly jku?: string | undefined
  readonly payload?: unknown
  readonly by?: KeyObject
}

function signatureBy(alg: Alg, { kid = alg, payload = card, by = pairs[alg].privateKey, ...header }: Signing = {}) {
  const head = { alg, kid, typ: 'JOSE', jku, ...header }
  const part = Buffer.from(JSON.stringify(head)).toString('base64url')
  const signed = Buffer.from(`${part}.${Buffer.from(canonicalJson(payload as Json)).toString('base64url')}`)
  const signature = sign(alg === 'EdDSA' ? null : 'sha256', signed, { key: by, dsaEncoding: 'ieee-p1363' })
  return { protected: part, signature: signature.toString('base64url') }
}

const published = Object.entries(pairs).map(([kid, { publicKey }]) => ({ ...publicKey.export({ format: 'jwk' }), kid }))
const asked: string[] = []
const check = (signatures: Json, body: Record<string, Json> = card) =>
  checkCard({ ...body, signatures }, url, async (place) => {
    asked.push(place.href)
    return place.href === jku ? published : undefined
  })

test.each(['ES256', 'EdDSA', 'RS256'] as const)(
  'a card signed with %s by a key of its own origin is valid, a changed one is not',
  async (alg) => {
    expect(await check([signatureBy(alg)])).toBe('valid')
    expect(await check([signatureBy(alg)], { ...card, url: 'https://elsewhere.example' })).toBe('invalid')
  },
)

test('what a signer left out as empty may be there, and the order of members does not matter', async () => {
  const { name, version, skills } = card
  const payload = { skills: [{ id: skills[0]!.id }], version, url: card.url, name }
  expect(await check([signatureBy('ES256', { payload })])).toBe('valid')
})

test('one of several signatures is enough', async () => {
  expect(await check([signatureBy('RS256', { payload: {} }), signatureBy('EdDSA')])).toBe('valid')
})

test('a key of another place is not asked for and proves nothing', async () => {
  asked.length = 0
  for (const foreign of ['https://signer.example/jwks.json', 'http://agent.example/jwks.json', 'nonsense', undefined]) {
    expect(await check([signatureBy('ES256', { jku: foreign })])).toBe('untrusted')
  }
  expect(asked).toEqual([])
})

test('an own key of the signer under a name of the origin’s is invalid, one that is not published untrusted', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  expect(await check([signatureBy('ES256', { by: privateKey })])).toBe('invalid')
  expect(await check([signatureBy('ES256', { kid: 'other' })])).toBe('untrusted')
  expect(await check([signatureBy('ES256', { jku: 'https://agent.example/other.json' })])).toBe('untrusted')
})

test('what nobody can have signed counts as unsigned: no algorithm, a shared secret, a key of another kind, rubbish', async () => {
  const head = Buffer.from(JSON.stringify({ alg: 'HS256', kid: 'ES256', jku })).toString('base64url')
  const mac = createHmac('sha256', 'secret').update(head).digest('base64url')
  const bad: Json[] = [
    { protected: head, signature: mac },
    { protected: Buffer.from(JSON.stringify({ alg: 'none', jku })).toString('base64url'), signature: '' },
    signatureBy('ES256', { alg: 'RS256' }),
    signatureBy('EdDSA', { alg: 'constructor' }),
    { protected: '%', signature: '%' },
    { protected: 7, signature: null },
    null,
    'x',
  ]
  for (const one of bad) expect(await check([one])).toBe('untrusted')
  for (const none of [[], null, 'x', {}]) expect(await check(none)).toBe('none')
})

test.each([
  [1_024, false],
  [2_048, true],
  [8_192, true],
  [16_384, false],
])('an RSA key of %i bits is taken: %s', (bits, isTaken) => {
  const modulus = randomBytes(bits / 8)
  modulus[0]! |= 0x80
  modulus[modulus.length - 1]! |= 1
  const key = keyFor('RS256', { kty: 'RSA', e: 'AQAB', n: modulus.toString('base64url') })
  expect(key !== undefined).toBe(isTaken)
})
