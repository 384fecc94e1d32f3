import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { signedAnswer, signedType } from '../../api/http/signed.ts'
import { MemoryStore } from '../../api/limits/memory-store.ts'
import { routes } from '../../api/routes.ts'
import { failure, startApi } from '../support/api/api.ts'
import { type ClaimStage, eip191Claim, post, startClaimStage } from '../support/api/claims.ts'
import { seedSettlement } from '../support/seed.ts'

/** Paths of all answers that may be signed, `FID` and `ADDRESS` being those of an agent, with what each refuses. */
const answers = [
  { id: 'getAgent', path: '/api/agent/FID', refused: '/api/agent/0' },
  { id: 'listSettlements', path: '/api/agent/FID/settlements?limit=100000', refused: '/api/agent/0/settlements' },
  { id: 'getClaimProof', path: '/api/agent/FID/proof', refused: '/api/agent/0/proof' },
  { id: 'checkPayee', path: '/api/payee?pay_to=ADDRESS', refused: '/api/payee' },
  { id: 'getIncome', path: '/api/agent/FID/income', refused: '/api/agent/0/income' },
]
const limits = { perMinute: 4, perDay: 9 }
/** Most bytes of a JWS besides its payload: a header with a checkpoint of some signatures, and the signature. */
const mostOtherBytes = 4_096

let stage: ClaimStage
let claimed: { fid: number; address: string }
beforeAll(async () => {
  stage = await startClaimStage()
  const claimant = await stage.claimant()
  claimed = claimant
  expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
  const at = new Date(stage.clock.now - 60_000)
  await seedSettlement(stage.database.pool, { chain: 'base', recipient: claimant.address, block: 1, at })
  stage.clock.now += 17 * 60_000 // proofs are public once what they show cannot be used elsewhere
})
afterAll(() => stage.stop())

const at = (path: string) => path.replace('FID', String(claimed.fid)).replace('ADDRESS', claimed.address)
const signedAt = (path: string) => `${at(path)}${path.includes('?') ? '&' : '?'}signed=1`
const asJws = { headers: { Accept: signedType } }

/** A service that answers few requests of a client. */
async function limited() {
  const now = () => stage.clock.now
  const api = await startApi(stage.database, {
    answerKeys: [generateKeyPairSync('ed25519').privateKey],
    limiter: { limits, store: new MemoryStore(limits, now), now },
    now,
  })
  onTestFinished(() => api.stop())
  return api
}

test('these are all answers that may be signed', () => {
  const signable = routes.filter((route) => route.signable).map(({ operationId }) => operationId)
  expect(answers.map(({ id }) => id).sort()).toEqual(signable.sort())
})

test.for(answers)('$path is counted signed as it is unsigned, and refused beyond the limit', async ({ path }) => {
  const api = await limited()
  const ways = [[at(path)], [signedAt(path)], [at(path), asJws], [signedAt(path)]] as const
  for (const [nth, [asked, init]] of ways.entries()) {
    const { status, headers } = await api.get(asked, init)
    const left = new RegExp(`^"minute"; r=${3 - nth}; t=\\d+, "day"; r=${8 - nth}; t=\\d+$`)
    expect([status, headers.get('ratelimit')]).toEqual([200, expect.stringMatching(left)])
  }
  for (const [asked, init] of ways) {
    expect(await failure(await api.get(asked, init))).toMatchObject({ status: 429, error: 'ERR_RATE_LIMIT' })
  }
})

test.for(answers)('$path is as long signed as its body makes it, and obeys the same bounds', async (one) => {
  const api = await limited()
  const body = await (await api.get(at(one.path))).text()
  const jws = signedAnswer.parse(await (await api.get(signedAt(one.path))).json())
  expect(Buffer.from(jws.payload, 'base64url').toString()).toBe(body)
  expect(JSON.stringify(jws).length).toBeLessThan((Buffer.byteLength(body) * 4) / 3 + mostOtherBytes)
  const refused = await failure(await api.get(at(one.refused)))
  expect(refused.status).toBe(400)
  expect(await failure(await api.get(signedAt(one.refused)))).toEqual(refused)
})
