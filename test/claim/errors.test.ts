import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountOf, funder } from '../../devnet/chain/chain.ts'
import { removeAppKey } from '../../devnet/chain/farcaster.ts'
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

// A test for each row of docs/rules.md 4 that is about eip191 and jfs claims; those of manifests: well-known.test.ts.

let stage: ClaimStage
let claimant: Claimant
beforeAll(async () => {
  stage = await startClaimStage()
  claimant = await stage.claimant()
})
afterAll(() => stage.stop())

const refusal = async (body: unknown, headers?: Record<string, string>) =>
  failure(await post(stage.api, body, { headers }))

test.for<[string, unknown, Record<string, string>?]>([
  ['0 in the body', 0],
  ['a negative number', -1],
  ['a fraction', 1.5],
  ['digits as text', '101'],
  ['null', null],
  ['beyond what a number holds', 2 ** 53],
  ['a sign in the header', undefined, { 'x-fid': '+101' }],
  ['two headers', undefined, { 'x-fid': '101, 101' }],
  ['0 in the header', undefined, { 'x-fid': '0' }],
])('ERR_FID_INVALID: %s', async ([_, fid, headers]) => {
  const refused = await refusal({ ...(await eip191Claim(stage, claimant)), fid }, headers)
  expect(refused).toMatchObject({ status: 400, error: 'ERR_FID_INVALID' })
})

test('ERR_PAYLOAD_INVALID: no fid anywhere', async () => {
  const refused = await refusal({ ...(await eip191Claim(stage, claimant)), fid: undefined })
  expect(refused).toMatchObject({ status: 400, error: 'ERR_PAYLOAD_INVALID', fields: [{ path: 'fid' }] })
})

test.for<[string, object]>([
  ['address', { address: undefined }],
  ['nonce', { nonce: undefined }],
  ['nonce', { nonce: 'short' }],
  ['nonce', { nonce: 'with-hyphen' }],
  ['nonce', { nonce: 'a'.repeat(65) }],
  ['nonce', { nonce: 12345678 }],
  ['timestamp', { timestamp: undefined }],
  ['chain_id', { chain_id: 56 }],
  ['chain_id', { chain_id: '10' }],
  ['signature', { signature: undefined }],
  ['signature', { signature: '0x' }],
  ['signature', { signature: '0x123' }],
  ['signature', { signature: `0x${'00'.repeat(6_145)}` }],
])('ERR_PAYLOAD_INVALID: %s of an eip191 claim is %o', async ([path, change]) => {
  const refused = await refusal({ ...(await eip191Claim(stage, claimant)), ...change })
  expect(refused).toMatchObject({ status: 400, error: 'ERR_PAYLOAD_INVALID', fields: [{ path }] })
})

test('ERR_PAYLOAD_INVALID names everything that is wrong at once', async () => {
  const refused = await refusal({ method: 'eip191', fid: claimant.fid, address: claimant.address })
  const paths = (refused as unknown as { fields: { path: string }[] }).fields.map(({ path }) => path)
  expect(paths).toEqual(['nonce', 'timestamp', 'signature'])
})

test('ERR_ADDRESS_MALFORMED: what is no address', async () => {
  const refused = await refusal({ ...(await eip191Claim(stage, claimant)), address: '0x01' })
  expect(refused).toMatchObject({ status: 400, error: 'ERR_ADDRESS_MALFORMED' })
})

test.for(['magic-cast', 'erc8004', 'EIP191', '__proto__', 'toString', ''])(
  'ERR_METHOD_UNSUPPORTED: method %j',
  async (method) => {
    const refused = await refusal({ ...(await eip191Claim(stage, claimant)), method })
    const supported = ['eip191', 'jfs', 'well-known']
    expect(refused).toMatchObject({ status: 400, error: 'ERR_METHOD_UNSUPPORTED', supported })
  },
)

test('the method is judged before the fid', async () => {
  expect(await refusal({ method: 'magic-cast', fid: 0 })).toMatchObject({ error: 'ERR_METHOD_UNSUPPORTED' })
})

test('ERR_FID_MISMATCH: header and body differ', async () => {
  const refused = await refusal(await eip191Claim(stage, claimant), { 'x-fid': '5' })
  const fields = { expected_fid: 5, actual_fid: claimant.fid }
  expect(refused).toMatchObject({ status: 422, error: 'ERR_FID_MISMATCH', ...fields })
})

test('ERR_ADDRESS_NOT_VERIFIED: the signer is not in the verified set now', async () => {
  const stranger = accountOf('stranger')
  const body = await eip191Claim(stage, claimant, { address: stranger.address, signer: stranger })
  expect(await refusal(body)).toEqual({
    status: 422,
    error: 'ERR_ADDRESS_NOT_VERIFIED',
    detail: expect.any(String),
    fid: claimant.fid,
    address: stranger.address.toLowerCase(),
    snapshot_at: new Date(stage.clock.now).toISOString(),
  })
})

test('ERR_ADDRESS_NOT_VERIFIED: a verification removed a moment ago, custody, and one for another protocol', async () => {
  const { fid, account, custody } = await stage.claimant()
  const former = { ...claimant, fid, account }
  stage.hub.state.removeVerification(fid, account.address)
  expect(await refusal(await eip191Claim(stage, former))).toMatchObject({ error: 'ERR_ADDRESS_NOT_VERIFIED' })
  const byCustody = await eip191Claim(stage, former, { address: custody.address, signer: custody })
  expect(await refusal(byCustody)).toMatchObject({ error: 'ERR_ADDRESS_NOT_VERIFIED' })
  stage.hub.state.addVerification(fid, account.address, { protocol: 'solana' })
  expect(await refusal(await eip191Claim(stage, former))).toMatchObject({ error: 'ERR_ADDRESS_NOT_VERIFIED' })
})

test.for<[string, (body: Record<string, unknown>) => Promise<object>]>([
  ['another signer', (body) => eip191Claim(stage, claimant, { signer: accountOf('stranger'), ...pick(body) })],
  ['another fid', (body) => eip191Claim(stage, claimant, { fid: 9, ...pick(body) })],
  ['another nonce', async (body) => ({ ...body, nonce: freshNonce() })],
  ['another time', async (body) => ({ ...body, timestamp: new Date(stage.clock.now - 1_000).toISOString() })],
  [
    'the same time in other words',
    async (body) => ({ ...body, timestamp: String(body.timestamp).replace('Z', '+00:00') }),
  ],
  ['another chain', async (body) => ({ ...body, chain_id: 1 })],
])('ERR_SIG_INVALID: signed by or for %s', async ([_, change]) => {
  const refused = await refusal(await change(await eip191Claim(stage, claimant)))
  expect(refused).toMatchObject({ status: 400, error: 'ERR_SIG_INVALID' })
})
const pick = ({ nonce, timestamp }: Record<string, unknown>) => ({
  nonce: nonce as string,
  timestamp: timestamp as string,
})

test('ERR_SIG_EXPIRED: the signed time is outside of the window', async () => {
  const timestamp = new Date(stage.clock.now - 901_000).toISOString()
  expect(await refusal(await eip191Claim(stage, claimant, { timestamp }))).toEqual({
    status: 400,
    error: 'ERR_SIG_EXPIRED',
    detail: expect.any(String),
    timestamp,
    window_seconds: 900,
    server_time: new Date(stage.clock.now).toISOString(),
  })
})

test.for<[string, object]>([
  ['absent', {}],
  ['a number', { jfs: 5 }],
  ['two of three parts', { jfs: { header: 'e30', payload: 'e30' } }],
])('ERR_PAYLOAD_INVALID: jfs is %s', async ([_, change]) => {
  const refused = await refusal({ method: 'jfs', fid: claimant.fid, ...change })
  expect(refused).toMatchObject({ status: 400, error: 'ERR_PAYLOAD_INVALID', fields: [{ path: 'jfs' }] })
})

test.for<[string, () => string]>([
  ['one segment', () => 'e30'],
  ['four segments', () => `${jfsClaim(stage, claimant).jfs}.e30`],
  ['an empty segment', () => 'e30..e30'],
  ['padding', () => jfsClaim(stage, claimant).jfs.replace('.', '=.')],
  ['white space', () => ` ${jfsClaim(stage, claimant).jfs}`],
  ['no JSON', () => tokenOf(claimant.appKey.secret, 'b', 'b')],
  ['a fid as text', () => jfsClaim(stage, claimant, { header: { fid: String(claimant.fid) } }).jfs],
  ['a fid twice', () => twice('header')],
  ['a nonce twice', () => twice('payload')],
  ['type custody', () => jfsClaim(stage, claimant, { header: { type: 'custody', key: claimant.custody.address } }).jfs],
  ['type auth', () => jfsClaim(stage, claimant, { header: { type: 'auth' } }).jfs],
  ['no nonce', () => jfsClaim(stage, claimant, { payload: { nonce: undefined } }).jfs],
  ['a time without a zone', () => jfsClaim(stage, claimant, { payload: { timestamp: '2026-11-20T04:00:00' } }).jfs],
  ['a time in milliseconds', () => jfsClaim(stage, claimant, { payload: { timestamp: stage.clock.now } }).jfs],
  ['another audience', () => jfsClaim(stage, claimant, { payload: { aud: 'https://elsewhere.example' } }).jfs],
  ['a field that nobody checks', () => jfsClaim(stage, claimant, { payload: { note: 'x' } }).jfs],
  ['another action', () => jfsClaim(stage, claimant, { payload: { action: 'login' } }).jfs],
  ['a mini app’s webhook event', () => webhook({ event: 'miniapp_added' })],
  ['a snap’s post', () => webhook({ fid: claimant.fid, inputs: {}, button_index: 1, timestamp: 1_760_000_000 })],
])('ERR_JFS_PAYLOAD_INVALID: a token with %s', async ([_, jfs]) => {
  const refused = await refusal({ method: 'jfs', fid: claimant.fid, jfs: jfs() })
  expect(refused).toMatchObject({ status: 400, error: 'ERR_JFS_PAYLOAD_INVALID' })
})
const webhook = (payload: object) =>
  tokenOf(claimant.appKey.secret, { fid: claimant.fid, type: 'app_key', key: claimant.appKey.publicKey }, payload)
const twice = (part: 'header' | 'payload') => {
  const [header, payload] = jfsClaim(stage, claimant)
    .jfs.split('.')
    .slice(0, 2)
    .map((text) => Buffer.from(text, 'base64url').toString())
  const doubled = (text = '') => text.replace('{', part === 'header' ? '{"fid":1,' : '{"nonce":"anotherone",')
  return tokenOf(
    claimant.appKey.secret,
    part === 'header' ? doubled(header) : header,
    part === 'payload' ? doubled(payload) : payload,
  )
}

test.for(['header', 'payload'] as const)('ERR_JFS_FID_MISMATCH: the %s names another fid', async (part) => {
  const refused = await refusal(jfsClaim(stage, claimant, { [part]: { fid: 7 } }))
  expect(refused).toMatchObject({
    status: 422,
    error: 'ERR_JFS_FID_MISMATCH',
    expected_fid: claimant.fid,
    actual_fid: 7,
  })
})

test('ERR_JFS_KEY_INACTIVE: never added, removed, of another fid', async () => {
  const other = await stage.claimant()
  const former = await stage.claimant()
  await stage.chain.execute(funder, removeAppKey(BigInt(former.fid), former.appKey.publicKey))
  const cases = [{ ...claimant, appKey: appKeyOf('never added') }, { ...claimant, appKey: other.appKey }, former]
  for (const one of cases) {
    expect(await refusal(jfsClaim(stage, one))).toMatchObject({
      status: 422,
      error: 'ERR_JFS_KEY_INACTIVE',
      fid: one.fid,
      key: one.appKey.publicKey,
    })
  }
})

test('ERR_SIG_EXPIRED and ERR_SIG_INVALID are a token’s too', async () => {
  const late = jfsClaim(stage, claimant, { payload: { timestamp: new Date(stage.clock.now + 901_000).toISOString() } })
  expect(await refusal(late)).toMatchObject({ status: 400, error: 'ERR_SIG_EXPIRED' })
  const forged = jfsClaim(stage, { ...claimant, appKey: { ...claimant.appKey, secret: appKeyOf('forger').secret } })
  expect(await refusal(forged)).toMatchObject({ status: 400, error: 'ERR_SIG_INVALID' })
})
