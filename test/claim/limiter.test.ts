import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRedisCounter } from '../../api/claim/attempts.ts'
import { connectRedis, type RedisSender } from '../../api/limits/redis-connection.ts'
import { failure, type TestApi } from '../support/api/api.ts'
import {
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshClient,
  freshNonce,
  post,
  startClaimStage,
} from '../support/api/claims.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'

let stage: ClaimStage
let redis: TestRedis
const senders: RedisSender[] = []
beforeAll(async () => {
  stage = await startClaimStage()
  redis = await startRedis()
})
afterAll(async () => {
  await Promise.all(senders.map((sender) => sender.stop()))
  await redis.stop()
  await stage.stop()
})

async function withRedis(): Promise<TestApi> {
  const sender = connectRedis(redis.url, pino({ level: 'silent' }))
  senders.push(sender)
  await until('Redis is connected', () => sender.isReady())
  return stage.another({ attempts: createRedisCounter(sender.send) })
}

/** A claim whose signature does not match: its nonce was replaced after signing. */
const forged = async ({ fid, account }: Claimant) => ({
  ...(await eip191Claim(stage, { fid, account } as Claimant)),
  nonce: freshNonce(),
})

test.for(['memory', 'Redis'])(
  'ERR_RATE_LIMITED: the eleventh attempt of a client in ten minutes, counted in %s',
  async (where) => {
    const api = where === 'Redis' ? await withRedis() : stage.api
    const claimant = await stage.claimant()
    const client = freshClient()
    for (let n = 0; n < 10; n++) {
      expect((await post(api, await forged(claimant), { client, query: n % 2 ? '?dry_run=true' : '' })).status).toBe(
        400,
      )
    }
    const response = await post(api, await eip191Claim(stage, claimant), { client })
    const refused = await failure(response)
    expect(refused).toMatchObject({
      status: 429,
      error: 'ERR_RATE_LIMITED',
      limits: { attempts: 10, windowSeconds: 600 },
      retryAfterSeconds: expect.any(Number),
    })
    const retryAfter = Number(response.headers.get('retry-after'))
    expect([retryAfter > 590, retryAfter <= 600]).toEqual([true, true])
    // The owner, as another client, is not limited by them: attempts count neither by fid nor by address.
    expect((await post(api, await eip191Claim(stage, claimant))).status).toBe(200)
  },
)

test('the window ends after ten minutes', async () => {
  const claimant = await stage.claimant()
  const client = freshClient()
  for (let n = 0; n < 10; n++) await post(stage.api, await forged(claimant), { client })
  stage.clock.now += 599_999
  expect((await post(stage.api, await eip191Claim(stage, claimant), { client })).status).toBe(429)
  stage.clock.now += 1
  expect((await post(stage.api, await eip191Claim(stage, claimant), { client })).status).toBe(200)
})

test('what fails before the limiter, and replays, do not count', async () => {
  const claimant = await stage.claimant()
  const client = freshClient()
  const body = await eip191Claim(stage, claimant)
  expect((await post(stage.api, body, { client })).status).toBe(200)
  for (let n = 0; n < 12; n++) {
    expect((await post(stage.api, body, { client })).status).toBe(409)
    expect((await post(stage.api, { ...body, timestamp: '2020-01-01T00:00:00Z' }, { client })).status).toBe(400)
    expect((await post(stage.api, { ...body, method: 'magic-cast' }, { client })).status).toBe(400)
  }
  expect((await post(stage.api, await eip191Claim(stage, claimant), { client })).status).toBe(200)
})

test('a host is asked six times in ten minutes for one client, and 60 times for all of them', async () => {
  const { fid } = await stage.claimant()
  const wanted = (client: string) =>
    post(stage.api, { method: 'well-known', fid, host: stage.host.name, nonce: freshNonce() }, { client })
  const client = freshClient()
  const statuses = []
  for (let n = 0; n < 7; n++) statuses.push((await wanted(client)).status)
  expect(statuses).toEqual([422, 422, 422, 422, 422, 422, 429])
  expect(await failure(await wanted(client))).toMatchObject({ limits: { attempts: 6, windowSeconds: 600 } })
  expect(stage.host.requests).toHaveLength(6)
  // Attempts refused to one client do not use up the limit that all clients share.
  for (let n = 6; n < 60; n++) expect((await wanted(freshClient())).status).toBe(422)
  const beyond = await failure(await wanted(freshClient()))
  expect(beyond).toMatchObject({ error: 'ERR_RATE_LIMITED', limits: { attempts: 60, windowSeconds: 600 } })
  expect(stage.host.requests).toHaveLength(60)
})

test('20 claims of a fid are accepted a day, and forgeries use up none of them', async () => {
  const claimant = await stage.claimant()
  const other = await stage.claimant()
  stage.clock.now = Math.ceil(stage.clock.now / 86_400_000) * 86_400_000 + 3_600_000 // one in the morning, UTC
  for (let n = 0; n < 30; n++) await post(stage.api, await forged(claimant))
  for (let n = 0; n < 20; n++) expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
  const response = await post(stage.api, await eip191Claim(stage, claimant))
  expect(response.headers.get('retry-after')).toBe('82800')
  expect(await failure(response)).toMatchObject({
    status: 429,
    error: 'ERR_RATE_LIMITED',
    retryAfterSeconds: 82_800,
    limits: { attempts: 20, windowSeconds: 86_400 },
  })
  expect((await post(stage.api, await eip191Claim(stage, other))).status).toBe(200)
  stage.clock.now += 82_800_000
  expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
})

/** How many answers there are of each kind: accepted, or the code of the refusal. */
async function outcomes(answers: readonly Response[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const answer of answers) {
    const outcome = answer.status === 200 ? 'accepted' : (await failure(answer)).error
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

test('of 40 claims of a fid at once, 20 are accepted', async () => {
  const apis = [stage.api, await stage.another()]
  const claimant = await stage.claimant()
  const bodies = await Promise.all(Array.from({ length: 40 }, () => eip191Claim(stage, claimant)))
  const answers = await Promise.all(bodies.map((body, n) => post(apis[n % 2] as TestApi, body)))
  const { rows } = await stage.database.pool.query('select nonce from claim where fid = $1', [claimant.fid])
  expect(rows).toHaveLength(20)
  expect(await outcomes(answers)).toEqual({ accepted: 20, ERR_RATE_LIMITED: 20 })
})

test('of 40 withdrawals of a fid at once, 20 are accepted', async () => {
  const apis = [stage.api, await stage.another()]
  const claimant = await stage.claimant()
  const bodies = await Promise.all(
    Array.from({ length: 40 }, () => eip191Claim(stage, claimant, { action: 'withdraw' })),
  )
  const answers = await Promise.all(
    bodies.map((body, n) => post(apis[n % 2] as TestApi, body, { query: '/withdraw', client: freshClient() })),
  )
  expect(await outcomes(answers)).toEqual({ accepted: 20, ERR_RATE_LIMITED: 20 })
})

test('two processes with one Redis count together', async () => {
  const first = await withRedis()
  const second = await withRedis()
  const claimant = await stage.claimant()
  const client = freshClient()
  const bodies = await Promise.all(Array.from({ length: 30 }, () => forged(claimant)))
  const answers = await Promise.all(bodies.map((body, n) => post(n % 2 ? first : second, body, { client })))
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(20)
})

test('a replay is known after Redis was emptied', async () => {
  const api = await withRedis()
  const body = await eip191Claim(stage, await stage.claimant())
  expect((await post(api, body)).status).toBe(200)
  await redis.command('FLUSHALL')
  expect(await failure(await post(api, body))).toMatchObject({ status: 409, error: 'ERR_NONCE_USED', replay: true })
})

test('ERR_RATE_LIMITER_UNAVAILABLE: Redis frozen or gone; the nonce stays free, and it heals', async () => {
  const api = await withRedis()
  const body = await eip191Claim(stage, await stage.claimant())
  redis.freeze()
  const answer = await post(api, body)
  expect(answer.headers.get('retry-after')).toBe('5')
  expect(await failure(answer)).toEqual({ status: 503, error: 'ERR_RATE_LIMITER_UNAVAILABLE', retryAfterSeconds: 5 })
  redis.thaw()
  await redis.kill()
  expect((await post(api, body)).status).toBe(503)
  await redis.restart()
  await until('claims are taken again', async () => (await post(api, body)).status === 200)
})
