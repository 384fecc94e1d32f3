import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { failure } from '../support/api/api.ts'
import { type Claimant, type ClaimStage, eip191Claim, post, startClaimStage } from '../support/api/claims.ts'

let stage: ClaimStage
let claimant: Claimant
beforeAll(async () => {
  stage = await startClaimStage()
  claimant = await stage.claimant()
})
afterAll(() => stage.stop())

const nested = (depth: number) => '{"method":'.concat('['.repeat(depth), ']'.repeat(depth), '}')

test.for<[string, string | Uint8Array]>([
  ['empty', ''],
  ['white space', '  '],
  ['not JSON', 'method=eip191'],
  ['half JSON', '{"method":"eip191"'],
  ['a list', '[]'],
  ['null', 'null'],
  ['a text', '"eip191"'],
  ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ['with a byte order mark', '\ufeff{"method":"eip191"}'],
  ['deep', nested(100)],
  ['very deep', nested(8_000)],
  ['huge', JSON.stringify({ method: 'eip191', more: 'x'.repeat(17_000) })],
  ['one byte too large', `{"method":"eip191"}${' '.repeat(16_384 - 18)}`],
  ['with the method twice', '{"method":"jfs","method":"eip191","fid":101}'],
  ['with the fid twice, once escaped', '{"method":"eip191","fid":1,"\\u0066id":101}'],
  ['with a reserved name', '{"method":"eip191","fid":101,"__proto__":{"nonce":"abcdefgh"}}'],
  ['with another one', '{"method":"eip191","fid":101,"constructor":{"prototype":{}}}'],
  ['without a method', '{"fid":101}'],
  ['with an unknown method', '{"method":["eip191"],"fid":101}'],
])('ERR_PAYLOAD_INVALID: a body that is %s', async ([_, body]) => {
  const refused = await failure(await post(stage.api, body))
  expect(refused).toMatchObject({ status: 400, error: 'ERR_PAYLOAD_INVALID' })
})

test.for([
  ['as long as they may be', 2_048, 'ERR_SIG_INVALID'],
  ['a byte longer', 2_049, 'ERR_PAYLOAD_INVALID'],
] as const)('signatures %s: %j bytes are %s', async ([_, bytes, error]) => {
  const body = { ...(await eip191Claim(stage, claimant)), signature: `0x${'11'.repeat(bytes)}` }
  expect(await failure(await post(stage.api, body))).toMatchObject({ status: 400, error })
})

test.for<[string, Record<string, string>]>([
  ['text/plain', { 'content-type': 'text/plain' }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['a type that only begins like it', { 'content-type': 'application/json-patch+json' }],
  ['a compressed body', { 'content-encoding': 'gzip' }],
])('ERR_PAYLOAD_INVALID: %s', async ([_, headers]) => {
  const text = JSON.stringify(await eip191Claim(stage, claimant))
  const body = headers['content-encoding'] ? gzipSync(text) : text
  const refused = await failure(await post(stage.api, body, { headers }))
  expect(refused).toMatchObject({ status: 400, error: 'ERR_PAYLOAD_INVALID' })
})

test('a charset and fields that nobody knows do no harm', async () => {
  const body = { ...(await eip191Claim(stage, claimant)), comment: 'hello', toString: 'x' }
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  expect((await post(stage.api, body, { headers })).status).toBe(200)
})
