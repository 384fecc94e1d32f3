import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createRedisCounter } from '../../../api/claim/attempts.ts'
import { connectRedis, type RedisSender } from '../../../api/limits/redis-connection.ts'
import { failure } from '../../support/api/api.ts'
import {
  type Claimant,
  type ClaimStage,
  freshClient,
  freshNonce,
  post,
  startClaimStage,
} from '../../support/api/claims.ts'
import { startRedis, type TestRedis } from '../../support/redis.ts'
import { insert } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const path = '/.well-known/agent-directory.json'
let stage: ClaimStage
let claimant: Claimant
let redis: TestRedis
let sender: RedisSender
beforeAll(async () => {
  stage = await startClaimStage()
  redis = await startRedis()
  sender = connectRedis(redis.url, pino({ level: 'silent' }))
  await until('Redis is connected', () => sender.isReady())
})
afterAll(async () => {
  await sender.stop()
  await redis.stop()
  await stage.stop()
})
beforeEach(async () => {
  claimant = await stage.claimant()
  stage.clock.now += 601_000
  stage.hub.state.setProfile(claimant.fid, { url: `https://${stage.host.name}` })
  stage.host.pages.set(path, { body: manifest() })
})

const manifest = (change: object = {}) => {
  const { fid, address } = claimant
  return { service: 'agent-directory', host: stage.host.name, fid, addresses: [address], ...change }
}
const ask = (fid: number, client = freshClient(), host = stage.host.name, api = stage.api) =>
  post(api, { method: 'well-known', fid, host, nonce: freshNonce() }, { client })

test.for(['memory', 'Redis'])(
  'a host is asked 60 times for FIDs it does not name, and eleven others do not lock its owner out, counted in %s',
  async (where) => {
    const api = where === 'Redis' ? await stage.another({ attempts: createRedisCounter(sender.send) }) : stage.api
    const asked = (fid: number, client = freshClient()) => ask(fid, client, stage.host.name, api)
    const before = stage.host.requests.length
    const statuses = []
    for (let other = 0; other < 11; other++) {
      const client = freshClient()
      for (let n = 0; n < 6; n++) statuses.push((await asked(900_000 + other, client)).status)
    }
    expect(statuses).toEqual([...Array(60).fill(422), ...Array(6).fill(429)])
    expect(stage.host.requests.length - before).toBe(60)
    stage.host.pages.set(path, { body: manifest({ addresses: [`0x${'11'.repeat(20)}`] }) })
    for (let other = 0; other < 11; other++) {
      const client = freshClient()
      for (let n = 0; n < 6; n++) expect((await asked(claimant.fid, client)).status).toBe(422)
    }
    stage.host.pages.set(path, { body: manifest() })
    expect((await asked(claimant.fid)).status).toBe(200)
    // Once it names somebody else, or nobody, the FID is asked for no more than others.
    stage.host.pages.set(path, { status: 404, body: '' })
    expect((await asked(claimant.fid)).status).toBe(422)
    expect(await failure(await asked(claimant.fid))).toMatchObject({
      error: 'ERR_RATE_LIMITED',
      limits: { attempts: 60, windowSeconds: 600 },
    })
  },
)

test('our own full queue for a host is 503, no failure of its manifest', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  stage.host.pages.set(path, async () => {
    await held
    return { body: manifest() }
  })
  const asked = Array.from({ length: 9 }, () => ask(claimant.fid))
  const refused = await Promise.race(asked)
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(await failure(refused.clone())).toEqual({
    status: 503,
    error: 'ERR_RATE_LIMITER_UNAVAILABLE',
    retryAfterSeconds: 5,
  })
  release()
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  expect(statuses.filter((status) => ![200, 409, 503].includes(status))).toEqual([])
  expect(statuses).toContain(200)
})

test('a host whose addresses all fail at once is a manifest that cannot be read, and the API goes on', async () => {
  const lookup = async () => ['2606:2800:220:1:248:1893:25c8:1946', '2606:2800:220:1:248:1893:25c8:1947']
  const api = await stage.another({ lookup })
  const { fid } = claimant
  const host = 'v6only.agents-test.net'
  const refused = await post(api, { method: 'well-known', fid, host, nonce: freshNonce() })
  expect(await failure(refused)).toMatchObject({ status: 422, error: 'ERR_MANIFEST_FETCH_FAILED', host })
  const { name } = stage.host
  expect((await post(api, { method: 'well-known', fid, host: name, nonce: freshNonce() })).status).toBe(200)
})

test('what one client could not see on the page of a claim, another one sees', async () => {
  const { fid } = claimant
  const profile = { fid, profile_url: `https://${stage.host.name}`, updated_at: new Date(stage.clock.now) }
  await insert(stage.database.pool, 'social_profile', profile)
  const page = async (client: string) =>
    (await stage.api.get(`/claim?fid=${fid}`, { headers: { 'x-forwarded-for': client } })).text()
  const client = freshClient()
  const views: string[] = []
  for (let n = 0; n < 8; n++) {
    stage.clock.now += 61_000
    views.push(await page(client))
  }
  expect(views[0]).toContain('its file is there and holds')
  expect(views.at(-1)).toContain('could not be seen just now')
  expect(await page(freshClient())).toContain('its file is there and holds')
})
