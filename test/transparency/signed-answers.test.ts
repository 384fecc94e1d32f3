import { generateKeyPairSync } from 'node:crypto'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CompactJWSHeaderParameters, createRemoteJWKSet, type FlattenedJWS, flattenedVerify } from 'jose'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { signedAnswer, signedType } from '../../api/http/signed.ts'
import { routes } from '../../api/routes.ts'
import { AgentDirectory, verifySigned } from '../../client/client.ts'
import { storeCheckpoint } from '../../db/queries/transparency/tree.ts'
import { readLogKey } from '../../transparency/log-key.ts'
import { failure, startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedAgent, seedSettlement } from '../support/seed.ts'

const mine = addressOf('mine')
const clock = { now: Date.parse('2026-11-29T12:00:00.000Z') }
const checkpoint = 'agents.example/log\n3\nroot\n\n— agents.example/log signature\n'
const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: [mine], bio: 'größer 🤖' })
  for (let block = 1; block <= 3; block++) {
    await seedSettlement(pool, { chain: 'base', recipient: mine, block, at: new Date(clock.now - 90_000 + block) })
  }
  const { privateKey } = generateKeyPairSync('ed25519')
  api = await startApi(database, { answerKeys: [privateKey], now: () => clock.now })
})
afterAll(() => api.stop())

/** What a reader sees with a library of his own, and the keys that the service publishes. */
async function opened(answer: Response, from = api) {
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, signedType])
  const keys = createRemoteJWKSet(new URL(`${from.url}/.well-known/jwks.json`))
  const jws = signedAnswer.parse(await answer.json())
  const { payload, protectedHeader } = await flattenedVerify(jws as FlattenedJWS, keys)
  return { jws, body: Buffer.from(payload).toString(), said: protectedHeader as CompactJWSHeaderParameters }
}

const paths = [
  '/api/agent/1',
  '/api/agent/1?fields=handle',
  '/api/agent/1/settlements?limit=2',
  '/api/agent/1/income',
  `/api/payee?pay_to=${mine}`,
]

test.for(paths)('%s is signed over its exact body, with who said it, when and under which path', async (path) => {
  const plain = await api.get(path)
  const asked = await api.get(`${path}${path.includes('?') ? '&' : '?'}signed=1`)
  const accepted = await api.get(path, { headers: { Accept: `${signedType}, application/json;q=0.5` } })
  const body = await plain.text()
  for (const answer of [asked, accepted]) {
    for (const name of ['cache-control', 'vary', 'ratelimit-policy'])
      expect(answer.headers.get(name)).toBe(plain.headers.get(name))
    expect(answer.headers.get('vary')).toBe('Accept-Encoding, Accept')
    const { said, ...read } = await opened(answer)
    expect(read.body).toBe(body)
    expect(said).toMatchObject({ alg: 'EdDSA', cty: 'json', iss: 'https://api.agents.example', path })
    expect(said.time).toBe('2026-11-29T12:00:00.000Z')
  }
})

test('every request of evidence may be signed, and no other is', async () => {
  const marked = routes.filter(({ signable }) => signable).map(({ operationId }) => operationId)
  expect(marked).toEqual(['getAgent', 'listSettlements', 'getClaimProof', 'checkPayee', 'getIncome'])
  for (const path of ['/api/stats?signed=1', '/api/agent/1?signed=0', '/api/agent/1?signed=yes&signed=1']) {
    expect((await api.get(path)).headers.get('content-type')).toBe('application/json; charset=utf-8')
  }
  const either = await api.get('/api/agent/1', { headers: { Accept: `application/json, ${signedType}` } })
  expect(either.headers.get('content-type')).toBe('application/json; charset=utf-8')
})

test('a changed body, path or time is refused', async () => {
  const { jws } = await opened(await api.get('/api/agent/1/settlements?signed=1'))
  const keys = createRemoteJWKSet(new URL(`${api.url}/.well-known/jwks.json`))
  const changed = (part: string, from: string, to: string) => {
    const text = Buffer.from(part, 'base64url').toString()
    expect(text).toContain(from)
    return Buffer.from(text.replace(from, to)).toString('base64url')
  }
  const published = await new AgentDirectory(api.url).signingKeys()
  for (const lie of [
    { ...jws, payload: changed(jws.payload, '"count":3', '"count":4') },
    { ...jws, protected: changed(jws.protected, '/agent/1', '/agent/2') },
    { ...jws, protected: changed(jws.protected, '2026-11-29', '2026-11-28') },
    { ...jws, protected: changed(jws.protected, 'EdDSA', 'none') },
  ]) {
    await expect(flattenedVerify(lie as FlattenedJWS, keys)).rejects.toThrow()
    await expect(verifySigned(lie, published)).rejects.toThrow(/signature is wrong|another way/)
  }
})

test('the client gives a signed answer to keep, and reads it with keys that were known before', async () => {
  const directory = new AgentDirectory(api.url)
  const keys = await directory.signingKeys()
  const kept = await directory.signed('/api/agent/1', { fields: 'bio' })
  expect(await verifySigned(kept, keys)).toEqual({
    body: await (await api.get('/api/agent/1?fields=bio')).text(),
    service: 'https://api.agents.example',
    path: '/api/agent/1?fields=bio',
    time: '2026-11-29T12:00:00.000Z',
    checkpoint: null,
  })
  const other = await startApi(database, { answerKeys: [generateKeyPairSync('ed25519').privateKey] })
  const strangers = await new AgentDirectory(other.url).signingKeys()
  await expect(verifySigned(kept, strangers)).rejects.toThrow(`no key named ${keys[0]?.kid} is known`)
  const claiming = strangers.map((key) => ({ ...key, kid: keys[0]!.kid }))
  await expect(verifySigned(kept, claiming)).rejects.toThrow('the signature is wrong')
  await other.stop()
})

test('only parameters that the request knows are signed, as a path can say anything', async () => {
  const { said } = await opened(await api.get('/api/agent/1?note=I+owe+you&fields=handle&signed=1'))
  expect(said.path).toBe('/api/agent/1?fields=handle')
  const inherited = await opened(await api.get('/api/agent/1?toString=I+owe+you&signed=1'))
  expect(inherited.said.path).toBe('/api/agent/1')
})

test('a parameter behind more of them than are read is not signed, as the body does not obey it', async () => {
  const most = 'a&'.repeat(999)
  const path = `/api/agent/1/settlements?signed=1&${most}payer=${addressOf('nobody')}`
  const { said, body } = await opened(await api.get(path))
  expect(JSON.parse(body)).toMatchObject({ count: 3 })
  expect(said.path).toBe('/api/agent/1/settlements')
})

test('an answer is signed once while it is fresh, is not sent twice, and its pages are signed as well', async () => {
  const first = await api.get('/api/agent/1/settlements?limit=1&cursor=&signed=1')
  const tag = first.headers.get('etag') as string
  clock.now += 2_000
  const again = await api.get('/api/agent/1/settlements?limit=1&cursor=&signed=1', {
    headers: { 'If-None-Match': tag },
  })
  expect([again.status, again.headers.get('age')]).toEqual([304, '2'])
  clock.now += 5_000
  const later = await api.get('/api/agent/1/settlements?limit=1&cursor=&signed=1', {
    headers: { 'If-None-Match': tag },
  })
  expect((await opened(later)).said.time).toBe(new Date(clock.now).toISOString())
  const [, next = ''] = /<([^>]+)>/.exec(first.headers.get('link') ?? '') ?? []
  const { search, pathname } = new URL(next)
  expect(JSON.parse((await opened(await api.get(pathname + search))).body)).toMatchObject({ fid: 1, count: 1 })
})

test('what the log had signed last is named', async () => {
  await storeCheckpoint(database.pool, { size: 3, note: checkpoint, key: 'agents.example/log+key' })
  clock.now += 60_000
  const { said } = await opened(await api.get('/api/agent/1?signed=1'))
  expect(said.checkpoint).toBe(checkpoint)
})

test('a key that signed before is among the keys while it is in the file, behind the one that signs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'answer-keys-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'key.pem')
  const kept: { answer: FlattenedJWS; keys: string[] }[] = []
  for (let nth = 0; nth < 2; nth++) {
    const { privateKey } = generateKeyPairSync('ed25519')
    await appendFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const { secrets } = readLogKey(file, 'https://api.agents.example')
    const one = await startApi(database, { answerKeys: secrets })
    const directory = new AgentDirectory(one.url)
    const keys = await directory.signingKeys()
    const answer = await directory.signed('/api/agent/1')
    expect((await verifySigned(answer, keys.slice(0, 1))).path).toBe('/api/agent/1')
    for (const before of kept) expect((await verifySigned(before.answer as never, keys)).path).toBe('/api/agent/1')
    kept.push({ answer, keys: keys.map(({ kid }) => kid) })
    await one.stop()
  }
  expect(kept[1]?.keys.slice(1)).toEqual(kept[0]?.keys)
})

test('without a key there is no signed answer, and no key set', async () => {
  const keyless = await startApi(database)
  const refused = { status: 404, error: 'ERR_NOT_FOUND', detail: expect.stringContaining('LOG_KEY_FILE') }
  expect(await failure(await keyless.get('/api/agent/1?signed=1'))).toEqual(refused)
  const accepts = await keyless.get('/api/agent/1', { headers: { Accept: `application/json;q=0.9, ${signedType}` } })
  expect([accepts.status, accepts.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  expect((await failure(await keyless.get('/api/agent/9?signed=1'))).status).toBe(404)
  expect((await failure(await keyless.get('/.well-known/jwks.json'))).status).toBe(404)
  expect((await keyless.get('/api/agent/1')).status).toBe(200)
  await keyless.stop()
})
