import { afterAll, beforeAll, expect, test } from 'vitest'
import { failure } from '../support/api/api.ts'
import { type ClaimStage, eip191Claim, freshNonce, jfsClaim, post, startClaimStage } from '../support/api/claims.ts'

let stage: ClaimStage
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())

const nonceOf = async (fid: number) => {
  const { rows } = await stage.database.pool.query('select nonce from claim where fid = $1', [fid])
  return rows.map(({ nonce }) => nonce as string)
}

test('the same proof again is a replay with the original outcome, on any process and after a restart', async () => {
  const claimant = await stage.claimant()
  const body = await eip191Claim(stage, claimant)
  const original = await (await post(stage.api, body)).json()
  const restarted = await stage.another()
  stage.clock.now += 120_000
  for (const api of [stage.api, restarted]) {
    expect(await failure(await post(api, body))).toEqual({
      status: 409,
      error: 'ERR_NONCE_USED',
      detail: expect.any(String),
      fid: claimant.fid,
      method: 'eip191',
      nonce: body.nonce,
      replay: true,
      original,
    })
  }
  expect(await nonceOf(claimant.fid)).toEqual([body.nonce])
})

test('another proof with a used nonce is refused without the original; the same signature with v 0 or 1 is no other', async () => {
  const claimant = await stage.claimant()
  const body = await eip191Claim(stage, claimant)
  const original = await (await post(stage.api, body)).json()
  stage.clock.now += 1_000
  const other = await eip191Claim(stage, claimant, { nonce: body.nonce })
  const v = Number.parseInt(body.signature.slice(-2), 16) - 27
  const twin = { ...body, signature: `${body.signature.slice(0, -2)}0${v}` }
  const used = {
    status: 409,
    error: 'ERR_NONCE_USED',
    detail: expect.any(String),
    fid: claimant.fid,
    method: 'eip191',
    nonce: body.nonce,
  }
  expect(await failure(await post(stage.api, other))).toEqual(used)
  expect(await failure(await post(stage.api, twin))).toEqual({ ...used, replay: true, original })
})

test('a nonce is used up for one fid and one method alone', async () => {
  const first = await stage.claimant()
  const second = await stage.claimant()
  const nonce = freshNonce()
  const statuses = [
    await post(stage.api, await eip191Claim(stage, first, { nonce })),
    await post(stage.api, await eip191Claim(stage, second, { nonce })),
    await post(stage.api, jfsClaim(stage, first, { payload: { nonce } })),
  ].map(({ status }) => status)
  expect(statuses).toEqual([200, 200, 200])
})

test('a refused claim leaves the nonce free', async () => {
  const claimant = await stage.claimant()
  const body = await eip191Claim(stage, claimant)
  const forged = { ...body, signature: (await eip191Claim(stage, claimant)).signature }
  expect((await post(stage.api, forged)).status).toBe(400)
  expect((await post(stage.api, { ...body, timestamp: '2020-01-01T00:00:00Z' })).status).toBe(400)
  expect((await post(stage.api, body)).status).toBe(200)
})

test('of 100 parallel copies at two instances exactly one is accepted, from one client or from a hundred', async () => {
  const first = await stage.another()
  const second = await stage.another()
  for (let round = 0; round < 5; round++) {
    const claimant = await stage.claimant()
    const body = round % 2 ? jfsClaim(stage, claimant) : await eip191Claim(stage, claimant)
    // Of one client in the first rounds, of a hundred in the others.
    const clients = Array.from({ length: 100 }, (_, n) => (round < 3 ? `192.0.2.${round}` : `198.51.${round}.${n}`))
    const answers = await Promise.all(clients.map((client, n) => post(n % 2 ? first : second, body, { client })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(99).fill(409)])
    expect(await nonceOf(claimant.fid)).toHaveLength(1)
  }
})
