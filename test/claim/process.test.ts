import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../ops/ports.ts'
import type { TestApi } from '../support/api/api.ts'
import {
  baseUrl,
  type Claimant,
  type ClaimStage,
  eip191Claim,
  jfsClaim,
  post,
  siteUrl,
  startClaimStage,
} from '../support/api/claims.ts'
import { startMain } from '../support/mains.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { rounds } from '../support/rounds.ts'
import { until } from '../support/until.ts'

/** Claims, each sent a hundred times. */
const claims = rounds(3, 20)
const copies = 100

let stage: ClaimStage
let claimant: Claimant
let redis: TestRedis
const children: ChildProcess[] = []
beforeAll(async () => {
  ;[stage, redis] = await Promise.all([startClaimStage(), startRedis()])
  claimant = await stage.claimant()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await redis.stop()
  await stage.stop()
})

/** Starts the real API process, configured by its environment alone. */
async function start(): Promise<{ api: Pick<TestApi, 'get'>; child: ChildProcess }> {
  const port = await freePort()
  const child = startMain('api/main.ts', [], {
    env: {
      DATABASE_URL: stage.database.url,
      REDIS_URL: redis.url,
      PORT: String(port),
      BASE_URL: baseUrl,
      SITE_URL: siteUrl,
      HUB_URL: stage.hub.url,
      RPC_OPTIMISM: stage.chain.rpc,
      EGRESS_ALLOW: stage.host.name,
      TRUST_PROXY_HOPS: '1',
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  children.push(child)
  const url = `http://127.0.0.1:${port}`
  const served = (path: string) =>
    fetch(url + path)
      .then(({ ok }) => ok)
      .catch(() => false)
  await until('the API is ready', () => served('/readyz'))
  await until('limits are counted', () => served('/api/stats'))
  return { api: { get: (path, init) => fetch(url + path, init) }, child }
}

test('processes claim as one: a claim at the first is a replay at the second, and after a kill', async () => {
  const [first, second] = await Promise.all([start(), start()])
  const bodies = [await eip191Claim(stage, claimant), jfsClaim(stage, claimant)]
  for (const body of bodies) {
    expect((await post(first.api, body)).status).toBe(200)
    expect((await post(second.api, body)).status).toBe(409)
  }
  expect((await first.api.get(`/api/agent/${claimant.fid}`)).status).toBe(200)
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  const again = await start()
  for (const body of bodies) {
    const replay = await post(again.api, body)
    expect([replay.status, await replay.json()]).toEqual([409, expect.objectContaining({ replay: true })])
  }
  second.child.kill('SIGTERM')
  expect(await once(second.child, 'exit')).toEqual([0, null])
})

test('of 100 parallel copies of a claim over two processes exactly one is accepted, claim after claim', {
  tags: ['rounds'],
}, async () => {
  const apis = await Promise.all([start(), start()])
  for (let round = 0; round < claims; round++) {
    if (round % 20 === 0) claimant = await stage.claimant() // as many as a fid may claim a day
    const body = round % 2 ? jfsClaim(stage, claimant) : await eip191Claim(stage, claimant)
    let unanswered = 0
    // A busy machine cannot answer all in time: a copy without an outcome is sent again, as after any outage.
    const statuses = await Promise.all(
      Array.from({ length: copies }, async (_, copy) => {
        const { api } = apis[copy % 2] as (typeof apis)[number]
        for (;;) {
          const { status } = await post(api, body, { client: `198.18.${round}.${copy}` })
          if (status !== 500) return status
          unanswered++
        }
      }),
    )
    const counted = Object.fromEntries(
      [...new Set(statuses)].map((status) => [status, statuses.filter((s) => s === status).length]),
    )
    // The one that was accepted may be among those whose first answer was lost.
    const possible = [{ 200: 1, 409: copies - 1 }, ...(unanswered > 0 ? [{ 409: copies }] : [])]
    expect(possible, `round ${round}`).toContainEqual(counted)
    const { rows } = await stage.database.pool.query('select from claim where fid = $1', [claimant.fid])
    expect(rows.length, `round ${round}`).toBe((round % 20) + 1)
  }
})
