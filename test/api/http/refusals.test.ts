import { Writable } from 'node:stream'
import express from 'express'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerErrors } from '../../../api/http/error-answer.ts'
import { ApiError } from '../../../api/http/errors.ts'
import { giveHeaders } from '../../../api/http/headers.ts'
import { portOf } from '../../../ops/health.ts'
import type { TestApi } from '../../support/api/api.ts'
import {
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshNonce,
  jfsClaim,
  post,
  startClaimStage,
} from '../../support/api/claims.ts'
import { startApiProcess } from '../../support/api/process.ts'
import { until } from '../../support/until.ts'

let stage: ClaimStage
let claimant: Claimant
let api: TestApi
const lines: Record<string, unknown>[] = []
const log = pino(
  { level: 'info' },
  new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  }),
)
beforeAll(async () => {
  stage = await startClaimStage()
  claimant = await stage.claimant()
  api = await stage.another({ log })
})
afterAll(() => stage.stop())

/** Log lines with the request id of an answer. */
const logged = (answer: Response) => {
  const requestId = answer.headers.get('x-request-id')
  return lines.filter((line) => line.requestId === requestId)
}

test('a refused claim is logged with its id, code and reason, and without its body or who sent it', async () => {
  const body = { ...(await eip191Claim(stage, claimant)), nonce: freshNonce() }
  const client = '203.0.113.77'
  const answer = await post(api, body, { client })
  expect(logged(answer)).toEqual([
    expect.objectContaining({ code: 'ERR_SIG_INVALID', method: 'POST', detail: expect.stringContaining('signature') }),
  ])
  const text = JSON.stringify(logged(answer))
  for (const secret of [body.signature, body.nonce, client]) expect(text).not.toContain(secret)
})

test('a refusal with a cause is logged with it', async () => {
  const host = 'nobody.invalid'
  const answer = await post(api, { method: 'well-known', fid: claimant.fid, host, nonce: freshNonce() })
  expect(answer.status).toBe(422)
  expect(logged(answer)).toEqual([
    expect.objectContaining({ code: 'ERR_MANIFEST_FETCH_FAILED', cause: expect.stringMatching(/\w/) }),
  ])
})

test('a refusal of any request is logged with its cause, where it has one', async () => {
  const app = express()
  const refusal = (options?: ErrorOptions) => new ApiError('ERR_NOT_FOUND', 'nobody is there', {}, options)
  app.use(giveHeaders)
  app.get('/caused', () => {
    throw refusal({ cause: Object.assign(new Error('asked in vain'), { code: 'EHOSTUNREACH' }) })
  })
  app.get('/plain', () => {
    throw refusal()
  })
  app.use(answerErrors(log))
  const server = app.listen(0, '127.0.0.1')
  await until('it listens', () => server.listening)
  const [caused, plain] = await Promise.all(
    ['caused', 'plain'].map((path) => fetch(`http://127.0.0.1:${portOf(server)}/${path}`)),
  )
  server.close()
  expect(logged(caused as Response)).toEqual([
    expect.objectContaining({ code: 'ERR_NOT_FOUND', method: 'GET', cause: 'EHOSTUNREACH: asked in vain' }),
  ])
  expect(logged(plain as Response)).toEqual([])
})

test('a body that is too large is told the bound', async () => {
  const answer = await post(api, 'x'.repeat(20_000))
  expect(await answer.json()).toMatchObject({
    error: 'ERR_PAYLOAD_INVALID',
    fields: [{ path: 'body', problem: 'must be at most 16384 bytes' }],
  })
})

test('errors are counted by their code', async () => {
  await api.get('/api/agent/0')
  expect(await (await api.get('/metrics')).text()).toMatch(/http_errors_total\{code="ERR_FID_INVALID"\} 1/)
})

test.for([
  '/healthz',
  '/readyz',
  '/metrics',
  '/docs',
  '/openapi.json',
  '/',
  '/claim',
  '/api/claim',
  '/assets/style.css',
])('PUT on %s is told what is allowed', async (path) => {
  const answer = await api.get(path, { method: 'PUT' })
  expect([answer.status, answer.headers.get('allow')]).toEqual([404, expect.stringContaining('OPTIONS')])
})

test('without RPC_OPTIMISM the start says which claims cannot be judged, and each of them is logged with that', async () => {
  const keyless = await stage.another({ rpc: null, log })
  const answer = await post(keyless, jfsClaim(stage, claimant))
  expect(await answer.json()).toEqual({ error: 'ERR_INTERNAL' })
  expect(JSON.stringify(logged(answer))).toContain('no RPC address is set')
  const started = await startApiProcess({ DATABASE_URL: stage.database.url })
  await started.kill()
  expect(started.lines.map(({ msg }) => msg).join('\n')).toMatch(/RPC_OPTIMISM is unset: jfs claims.*cannot be judged/)
})
