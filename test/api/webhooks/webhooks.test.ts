import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import type { WebHost } from '../../../devnet/hosts/web-host.ts'
import { runPass } from '../../../enrichment/schedule/scheduler.ts'
import { webhooks } from '../../../enrichment/webhooks/source.ts'
import { webhookLimits } from '../../../limits.config.ts'
import { createDoor } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import type { TestApi } from '../../support/api/api.ts'
import {
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshClient,
  freshNonce,
  jfsClaim,
  post,
  startClaimStage,
} from '../../support/api/claims.ts'
import { expectSigned, type Message, type Registered } from '../../support/api/webhooks.ts'
import { insert } from '../../support/seed.ts'

const secret = 'a secret of the service that is long enough'
const minute = 60_000
let stage: ClaimStage
let api: TestApi
let host: WebHost
let door: ReturnType<typeof createDoor>

let received: Message[]
let answer: (message: Message) => { status?: number; headers?: Record<string, string>; body: unknown }
const agrees = ({ data }: Message) => ({ body: String(data.challenge ?? '') })

const newDoor = () =>
  createDoor({
    userAgent: 'test/1.0 (+https://agents.example)',
    egressAllow: parseEgressAllow(host.name),
    politeness: { intervalMs: 0, maxWaiting: 20, maxWaitMs: 10_000 },
  })

beforeAll(async () => {
  stage = await startClaimStage()
  api = await stage.another({ webhookSecret: secret })
  host = stage.host
  door = newDoor()
})
afterAll(async () => {
  door.close()
  await stage.stop()
})
beforeEach(async () => {
  await stage.database.pool.query('update webhook set deleted_at = now() where deleted_at is null')
  received = []
  answer = agrees
})

/** An address at the host of somebody, whose messages are kept and answered by `answer`. */
let hooks = 0
function newUrl(): string {
  const path = `/hooks/${++hooks}`
  host.pages.set(path, (_method, body) => {
    const { headers } = host.requests.at(-1)!
    const { type, data } = JSON.parse(body)
    const message = {
      id: String(headers['webhook-id']),
      timestamp: String(headers['webhook-timestamp']),
      signature: String(headers['webhook-signature']),
      body,
      type,
      data,
    }
    received.push(message)
    return answer(message)
  })
  return host.url + path
}

const call = (method: string, path: string, token?: string, body?: unknown) =>
  api.get(path, {
    method,
    headers: {
      'x-forwarded-for': freshClient(),
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

const proofOf = async (claimant: Claimant, url: string) => eip191Claim(stage, claimant, { action: 'webhook', url })

async function register(url: string, more: object = {}, claimant?: Claimant): Promise<Registered> {
  const by = claimant ?? (await stage.claimant())
  const body = { ...(await proofOf(by, url)), url, types: ['agent.claimed', 'agent.listed', 'agent.updated'], ...more }
  const response = await call('POST', '/api/webhooks', undefined, body)
  const answered = (await response.json()) as Registered
  expect([response.status, answered]).toMatchObject([200, { ok: true, fid: by.fid, url }])
  received = []
  return answered
}

async function shownOf({ id, manage_token }: Registered) {
  const response = await call('GET', `/api/webhooks/${id}`, manage_token)
  return (await response.json()) as { readonly next_attempt_at: string }
}

const now = () => new Date(stage.clock.now)
const failed = (_source: string, _subjects: readonly string[], error: Error) => {
  throw error
}
/** What the job does: appends events, and sends what is due until nothing is. */
async function run() {
  const { pool } = stage.database
  const kinds = derivations.filter(({ kind }) => kind === 'webhook events')
  await settle(kinds, { pool, now, settlementOverloads: 'spec' })
  const source = webhooks({ pool, door, secret, baseUrl: 'https://api.agents.example', now })
  for (;;) if ((await runPass(source, { pool, now, random: Math.random, failed })).leased === 0) return
}

async function claimed(): Promise<number> {
  const claimant = await stage.claimant()
  await insert(stage.database.pool, 'social_profile', {
    fid: claimant.fid,
    handle: `ada${claimant.fid}`,
    updated_at: now(),
  })
  stage.clock.now += 1_000
  expect((await post(api, await eip191Claim(stage, claimant))).status).toBe(200)
  return claimant.fid
}

test('an endpoint that its account registered is sent each event once, in order, signed', async () => {
  const webhook = await register(newUrl())
  const fid = await claimed()
  await run()
  expect(received.map(({ type }) => type)).toEqual(['agent.claimed', 'agent.listed'])
  expect(received.map(({ data }) => data.fid)).toEqual([fid, fid])
  const [first, second] = received as [Message, Message]
  expect(first.data).toMatchObject({ method: 'eip191', profile_url: `https://api.agents.example/api/agent/${fid}` })
  expect(Number(second.data.seq)).toBeGreaterThan(Number(first.data.seq))
  for (const message of received) {
    expect(message.id).toBe(`${webhook.id}_${message.data.seq}`)
    expectSigned(message, webhook, stage.clock.now)
  }
  await run()
  expect(received).toHaveLength(2)

  const shown = await (await call('GET', `/api/webhooks/${webhook.id}`, webhook.manage_token)).json()
  expect(shown).toMatchObject({ state: 'active', failures: 0, ended_for: null, last_success_at: now().toISOString() })
  const log = await (await call('GET', `/api/webhooks/${webhook.id}/deliveries`, webhook.manage_token)).json()
  expect(log).toMatchObject({ count: 2, deliveries: [{ outcome: 'ok', seq: second.data.seq }, { outcome: 'ok' }] })
})

test('an event that is not taken is sent again under its id before the next, after longer pauses, until the endpoint ends', async () => {
  const webhook = await register(newUrl())
  answer = () => ({ status: 503, body: 'a secret of the host' })
  await claimed()
  await run()
  const pauses = [1 / 12, 5, 30, 120, 300, 600, 840, 1200, 1440].map((minutes) => minutes * minute)
  for (const [failures, pause] of pauses.entries()) {
    expect(received).toHaveLength(failures + 1)
    const shown = await shownOf(webhook)
    expect(shown).toMatchObject({ state: 'retrying', failures: failures + 1 })
    const wait = Date.parse(shown.next_attempt_at) - stage.clock.now
    expect([wait >= 0.89 * pause, wait <= 1.11 * pause]).toEqual([true, true])
    await claimed() // what happens meanwhile does not bring it forward
    await run()
    expect(received).toHaveLength(failures + 1)
    stage.clock.now += Math.ceil(1.12 * pause)
    await run()
  }
  expect(new Set(received.map(({ id }) => id)).size).toBe(1)
  const gone = await (await call('GET', `/api/webhooks/${webhook.id}`, webhook.manage_token)).json()
  expect(gone).toMatchObject({ state: 'ended', ended_for: 'failed' })
  const log = await (await call('GET', `/api/webhooks/${webhook.id}/deliveries`, webhook.manage_token)).text()
  expect(JSON.parse(log).deliveries[0].outcome).toBe('http_5xx')
  expect(log).not.toContain('secret of the host')

  const sent = received.length
  answer = agrees
  await claimed()
  await run()
  expect(received).toHaveLength(sent)
  const from = Number(received[0]!.data.seq) - 1
  const moved = await call('POST', `/api/webhooks/${webhook.id}/replay`, webhook.manage_token, { after_seq: from })
  expect(await moved.json()).toEqual({ ok: true, after_seq: from })
  await run()
  const again = received.slice(sent)
  expect(again[0]!.id).toBe(received[0]!.id)
  expect(again.length).toBeGreaterThan(10)
  const seqs = again.map(({ data }) => Number(data.seq))
  expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other))
})

test('an endpoint that says that it is gone ends at once, and a Retry-After is waited for', async () => {
  const webhook = await register(newUrl())
  answer = () => ({ status: 429, headers: { 'retry-after': '600' }, body: '' })
  await claimed()
  await run()
  const { next_attempt_at } = await shownOf(webhook)
  expect(Date.parse(next_attempt_at) - stage.clock.now).toBeGreaterThan(530_000)
  stage.clock.now += 700_000
  answer = () => ({ status: 410, body: '' })
  await run()
  const shown = await (await call('GET', `/api/webhooks/${webhook.id}`, webhook.manage_token)).json()
  expect(shown).toMatchObject({ state: 'ended', ended_for: 'gone' })
})

test('an endpoint is told of endpoints that are down and of other payees, of the agents that it wants', async () => {
  const { pool } = stage.database
  const fid = await claimed()
  await run()
  const webhook = await register(newUrl(), { types: ['endpoint.down', 'pay_to.changed'], fids: [fid] })
  const at = new Date(stage.clock.now)
  const url = 'https://shop.example/x402?a:b'
  for (const [of, prices] of [
    [fid, [{ payTo: '0x1' }]],
    [fid + 1000, [{ payTo: '0x1' }]],
  ] as const) {
    await insert(pool, 'agent_spec', {
      fid: of,
      kind: 'x402',
      url,
      declared: true,
      has_content: true,
      skills: [],
      tools: [],
      domain_verified: false,
      first_seen_at: at,
      last_alive_at: at,
      last_check_at: at,
      last_check_status: 'ok',
      consecutive_failures: 0,
      prices: JSON.stringify(prices),
    })
  }
  await pool.query(`update agent_spec set prices = '[{"payTo": "0x1", "amount": "5"}]'`)
  await pool.query(`update agent_spec set prices = '[{"payTo": "0x2"}]', last_check_at = last_check_at + interval '1 minute',
                                          last_alive_at = last_alive_at + interval '1 minute'`)
  await pool.query(
    `update agent_spec set last_check_status = 'timeout', last_check_at = last_check_at + interval '1 minute'`,
  )
  await pool.query(
    `update agent_spec set last_check_status = 'timeout', last_check_at = last_check_at + interval '1 minute'`,
  )
  await run()
  expect(received.map(({ type, data }) => [type, data.fid, data.url, data.pay_to ?? data.status])).toEqual([
    ['pay_to.changed', fid, url, ['0x2']],
    ['endpoint.down', fid, url, 'timeout'],
  ])
  expect(received[0]!.id).toBe(`${webhook.id}_${received[0]!.data.seq}`)
})

test('an endpoint that does not answer the challenge is not registered, nor one without a proof of its address', async () => {
  const claimant = await stage.claimant()
  const url = newUrl()
  const ask = async (body: object) => {
    const response = await call('POST', '/api/webhooks', undefined, body)
    return [response.status, ((await response.json()) as { error?: string }).error]
  }
  const types = ['agent.listed']
  answer = () => ({ body: 'hello' })
  expect(await ask({ ...(await proofOf(claimant, url)), url, types })).toEqual([400, 'ERR_PAYLOAD_INVALID'])
  answer = agrees
  expect(await ask({ ...(await proofOf(claimant, url)), url: newUrl(), types })).toEqual([400, 'ERR_SIG_INVALID'])
  expect(await ask({ ...(await eip191Claim(stage, claimant)), url, types })).toEqual([400, 'ERR_SIG_INVALID'])
  expect(await ask({ ...(await proofOf(claimant, url)), url, types: ['agent.loved'] })).toEqual([
    400,
    'ERR_PAYLOAD_INVALID',
  ])
  expect((await post(api, await proofOf(claimant, url))).status).toBe(400) // nor does it claim
  const inside = 'https://10.0.0.1/hooks'
  expect(await ask({ ...(await proofOf(claimant, inside)), url: inside, types })).toEqual([400, 'ERR_PAYLOAD_INVALID'])

  const good = { ...(await proofOf(claimant, url)), url, types }
  expect(await ask(good)).toEqual([200, undefined])
  expect(await ask(good)).toEqual([409, 'ERR_NONCE_USED'])
  const payload = { action: 'webhook', url, nonce: freshNonce() }
  expect(await ask({ ...jfsClaim(stage, claimant, { payload }), url, types })).toEqual([200, undefined])
  expect(await ask({ ...jfsClaim(stage, claimant, { payload: { action: 'webhook' } }), url, types })).toEqual([
    400,
    'ERR_JFS_PAYLOAD_INVALID',
  ])
  for (let more = 0; more < 3; more++) await register(newUrl(), {}, claimant)
  expect(await ask({ ...(await proofOf(claimant, url)), url, types })).toEqual([400, 'ERR_PAYLOAD_INVALID'])

  const none = await stage.api.get('/api/webhooks', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...(await proofOf(claimant, url)), url, types }),
  })
  expect([none.status, ((await none.json()) as { detail: string }).detail]).toEqual([
    404,
    expect.stringContaining('WEBHOOK_SECRET'),
  ])
})

test('who has the token pings, and deletes; who has not finds nothing', async () => {
  const webhook = await register(newUrl())
  const path = `/api/webhooks/${webhook.id}`
  for (const token of [undefined, 'wht_00', `${webhook.manage_token}0`]) {
    for (const [method, at] of [
      ['GET', path],
      ['DELETE', path],
      ['GET', `${path}/deliveries`],
      ['POST', `${path}/ping`],
    ] as const)
      expect((await call(method, at, token)).status).toBe(404)
  }
  expect(await (await call('POST', `${path}/ping`, webhook.manage_token)).json()).toMatchObject({
    ok: true,
    outcome: 'ok',
  })
  expect(received.map(({ type }) => type)).toEqual(['webhook.ping'])
  expectSigned(received[0]!, webhook, stage.clock.now)
  answer = () => ({ status: 301, headers: { location: 'https://other.example' }, body: '' })
  expect(await (await call('POST', `${path}/ping`, webhook.manage_token)).json()).toMatchObject({ ok: false })
  answer = agrees
  expect((await call('DELETE', path, webhook.manage_token)).status).toBe(200)
  expect((await call('GET', path, webhook.manage_token)).status).toBe(404)
  const sent = received.length
  await claimed()
  await run()
  expect(received).toHaveLength(sent)
  onTestFinished(() => host.pages.clear())
})

test('an endpoint that ended is not revived beside as many as its FID may have', async () => {
  const claimant = await stage.claimant()
  const webhooks: Registered[] = []
  for (let more = 0; more < webhookLimits.ofFid; more++) webhooks.push(await register(newUrl(), {}, claimant))
  const [ended] = webhooks as [Registered]
  answer = ({ id }) => (id.startsWith(ended.id) ? { status: 410, body: '' } : agrees({ data: {} } as Message))
  await claimed()
  await run()
  expect(await shownOf(ended)).toMatchObject({ state: 'ended' })
  answer = agrees
  await register(newUrl(), {}, claimant)
  const replay = async ({ id, manage_token }: Registered) =>
    (await call('POST', `/api/webhooks/${id}/replay`, manage_token, { after_seq: 0 })).status
  expect(await replay(ended)).toBe(400)
  expect(await shownOf(ended)).toMatchObject({ state: 'ended' })
  expect(await replay(webhooks[1]!)).toBe(200) // it stands already
})

test('an id that none can have is answered as one that nobody has', async () => {
  const token = `wht_${'0'.repeat(48)}`
  for (const id of ['%00', 'wh-%00', 'wh-', `wh-${'a'.repeat(33)}`, 'wh-unknown'])
    expect([id, (await call('GET', `/api/webhooks/${id}`, token)).status]).toEqual([id, 404])
})

test('what arrives ends the failures in a row, and a message that could not be sent does not', async () => {
  const webhook = await register(newUrl())
  answer = () => ({ status: 503, body: '' })
  await claimed()
  await claimed()
  await run()
  stage.clock.now += 6_000
  await run()
  expect(await shownOf(webhook)).toMatchObject({ state: 'retrying', failures: 2 })

  stage.clock.now += 6 * minute
  const usual = door
  door = newDoor()
  door.close()
  await run()
  door = usual
  expect(await shownOf(webhook)).toMatchObject({ state: 'retrying', failures: 2, last_success_at: null })

  stage.clock.now += 3_000
  let heard = 0
  answer = () => ({ status: heard++ === 0 ? 200 : 503, body: '' })
  await run()
  expect(heard).toBe(2)
  const shown = await shownOf(webhook)
  expect(shown).toMatchObject({ state: 'retrying', failures: 1 })
  expect(Date.parse(shown.next_attempt_at) - stage.clock.now).toBeLessThan(6_000)
})

test('a FID has a stranger sent so many challenges and no more, and an endpoint so many pings', async () => {
  const claimant = await stage.claimant()
  const url = newUrl()
  answer = () => ({ status: 500, body: '' })
  const { challenges, uses } = webhookLimits
  const body = { ...(await proofOf(claimant, url)), url, types: ['agent.listed'] }
  for (let sent = 0; sent < challenges.attempts; sent++)
    expect((await call('POST', '/api/webhooks', undefined, body)).status).toBe(400)
  expect((await call('POST', '/api/webhooks', undefined, body)).status).toBe(429)
  expect(received).toHaveLength(challenges.attempts)

  answer = agrees
  const { id, manage_token } = await register(newUrl())
  for (let sent = 0; sent < uses.attempts; sent++)
    expect((await call('POST', `/api/webhooks/${id}/ping`, manage_token)).status).toBe(200)
  expect((await call('POST', `/api/webhooks/${id}/ping`, manage_token)).status).toBe(429)
  expect((await call('POST', `/api/webhooks/${id}/replay`, manage_token, { after_seq: 0 })).status).toBe(429)
  expect(received).toHaveLength(uses.attempts)
})
