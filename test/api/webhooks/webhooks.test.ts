import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { webhookLimits } from '../../../config/limits.claims.ts'
import { eip191Claim, freshNonce, jfsClaim, post } from '../../support/api/claims.ts'
import { expectSigned, type Message, type Registered, startWebhookStage } from '../../support/api/webhooks.ts'
import { insert } from '../../support/seed.ts'

const minute = 60_000
let hooks: Awaited<ReturnType<typeof startWebhookStage>>
let stage: typeof hooks.stage

beforeAll(async () => {
  hooks = await startWebhookStage()
  stage = hooks.stage
})
afterAll(() => hooks.stop())
beforeEach(() => hooks.reset())

test('an endpoint that its account registered is sent each event once, in order, signed', async () => {
  const webhook = await hooks.register(hooks.newUrl())
  const fid = await hooks.claimed()
  await hooks.run()
  expect(hooks.received.map(({ type }) => type)).toEqual(['agent.claimed', 'agent.listed'])
  expect(hooks.received.map(({ data }) => data.fid)).toEqual([fid, fid])
  const [first, second] = hooks.received as [Message, Message]
  expect(first.data).toMatchObject({ method: 'eip191', profile_url: `https://api.agents.example/api/agent/${fid}` })
  expect(Number(second.data.seq)).toBeGreaterThan(Number(first.data.seq))
  for (const message of hooks.received) {
    expect(message.id).toBe(`${webhook.id}_${message.data.seq}`)
    expectSigned(message, webhook, stage.clock.now)
  }
  await hooks.run()
  expect(hooks.received).toHaveLength(2)

  const shown = await (await hooks.call('GET', `/api/webhooks/${webhook.id}`, webhook.manage_token)).json()
  expect(shown).toMatchObject({
    state: 'active',
    failures: 0,
    ended_for: null,
    last_success_at: hooks.now().toISOString(),
  })
  const log = await (await hooks.call('GET', `/api/webhooks/${webhook.id}/deliveries`, webhook.manage_token)).json()
  expect(log).toMatchObject({ count: 2, deliveries: [{ outcome: 'ok', seq: second.data.seq }, { outcome: 'ok' }] })
})

test('of an account that left the directory nothing is sent but that it left, also of what was before', async () => {
  const webhook = await hooks.register(hooks.newUrl(), { types: ['agent.claimed', 'agent.listed', 'agent.delisted'] })
  const fid = await hooks.claimed()
  const { pool } = stage.database
  await insert(pool, 'agent_change', { fid, kind: 'delist', changed_at: hooks.now() })
  await insert(pool, 'unlisted', { fid, since: hooks.now() })
  await hooks.run()
  expect(hooks.received.map(({ type }) => type)).toEqual(['agent.delisted'])
  hooks.received = []
  await pool.query('delete from unlisted where fid = $1', [fid])
  await hooks.call('POST', `/api/webhooks/${webhook.id}/replay`, webhook.manage_token, { after_seq: 0 })
  await hooks.run()
  const types = hooks.received.filter(({ data }) => data.fid === fid).map(({ type }) => type)
  expect(types).toEqual(['agent.claimed', 'agent.listed', 'agent.delisted'])
})

test('an event that is not taken is sent again under its id before the next, after longer pauses, until the endpoint ends', async () => {
  const webhook = await hooks.register(hooks.newUrl())
  hooks.answer = () => ({ status: 503, body: 'a secret of the host' })
  await hooks.claimed()
  await hooks.run()
  const pauses = [1 / 12, 5, 30, 120, 300, 600, 840, 1200, 1440].map((minutes) => minutes * minute)
  for (const [failures, pause] of pauses.entries()) {
    expect(hooks.received).toHaveLength(failures + 1)
    const shown = await hooks.shownOf(webhook)
    expect(shown).toMatchObject({ state: 'retrying', failures: failures + 1 })
    const wait = Date.parse(shown.next_attempt_at) - stage.clock.now
    expect([wait >= 0.89 * pause, wait <= 1.11 * pause]).toEqual([true, true])
    await hooks.claimed() // what happens meanwhile does not bring it forward
    await hooks.run()
    expect(hooks.received).toHaveLength(failures + 1)
    stage.clock.now += Math.ceil(1.12 * pause)
    await hooks.run()
  }
  expect(new Set(hooks.received.map(({ id }) => id)).size).toBe(1)
  const gone = await (await hooks.call('GET', `/api/webhooks/${webhook.id}`, webhook.manage_token)).json()
  expect(gone).toMatchObject({ state: 'ended', ended_for: 'failed' })
  const log = await (await hooks.call('GET', `/api/webhooks/${webhook.id}/deliveries`, webhook.manage_token)).text()
  expect(JSON.parse(log).deliveries[0].outcome).toBe('http_5xx')
  expect(log).not.toContain('secret of the host')

  const sent = hooks.received.length
  hooks.answer = hooks.agrees
  await hooks.claimed()
  await hooks.run()
  expect(hooks.received).toHaveLength(sent)
  const from = Number(hooks.received[0]!.data.seq) - 1
  const moved = await hooks.call('POST', `/api/webhooks/${webhook.id}/replay`, webhook.manage_token, {
    after_seq: from,
  })
  expect(await moved.json()).toEqual({ ok: true, after_seq: from })
  await hooks.run()
  const again = hooks.received.slice(sent)
  expect(again[0]!.id).toBe(hooks.received[0]!.id)
  expect(again.length).toBeGreaterThan(10)
  const seqs = again.map(({ data }) => Number(data.seq))
  const beyond = { after_seq: Number.MAX_SAFE_INTEGER }
  const to = await hooks.call('POST', `/api/webhooks/${webhook.id}/replay`, webhook.manage_token, beyond)
  expect(await to.json()).toEqual({ ok: true, after_seq: Math.max(...seqs) })
  expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other))
})

test('an endpoint that says that it is gone ends at once, and a Retry-After is waited for', async () => {
  const webhook = await hooks.register(hooks.newUrl())
  hooks.answer = () => ({ status: 429, headers: { 'retry-after': '600' }, body: '' })
  await hooks.claimed()
  await hooks.run()
  const { next_attempt_at } = await hooks.shownOf(webhook)
  expect(Date.parse(next_attempt_at) - stage.clock.now).toBeGreaterThan(530_000)
  stage.clock.now += 700_000
  hooks.answer = () => ({ status: 410, body: '' })
  await hooks.run()
  const shown = await (await hooks.call('GET', `/api/webhooks/${webhook.id}`, webhook.manage_token)).json()
  expect(shown).toMatchObject({ state: 'ended', ended_for: 'gone' })
})

test('an endpoint is told of endpoints that are down and of other payees, of the agents that it wants', async () => {
  const { pool } = stage.database
  const fid = await hooks.claimed()
  await hooks.run()
  const webhook = await hooks.register(hooks.newUrl(), { types: ['endpoint.down', 'pay_to.changed'], fids: [fid] })
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
  await hooks.run()
  expect(hooks.received.map(({ type, data }) => [type, data.fid, data.url, data.pay_to ?? data.status])).toEqual([
    ['pay_to.changed', fid, url, ['0x2']],
    ['endpoint.down', fid, url, 'timeout'],
  ])
  expect(hooks.received[0]!.id).toBe(`${webhook.id}_${hooks.received[0]!.data.seq}`)
})

test('an endpoint that does not answer the challenge is not registered, nor one without a proof of its address', async () => {
  const claimant = await stage.claimant()
  const url = hooks.newUrl()
  const ask = async (body: object) => {
    const response = await hooks.call('POST', '/api/webhooks', undefined, body)
    return [response.status, ((await response.json()) as { error?: string }).error]
  }
  const types = ['agent.listed']
  hooks.answer = () => ({ body: 'hello' })
  expect(await ask({ ...(await hooks.proofOf(claimant, url)), url, types })).toEqual([400, 'ERR_PAYLOAD_INVALID'])
  hooks.answer = hooks.agrees
  expect(await ask({ ...(await hooks.proofOf(claimant, url)), url: hooks.newUrl(), types })).toEqual([
    400,
    'ERR_SIG_INVALID',
  ])
  expect(await ask({ ...(await eip191Claim(stage, claimant)), url, types })).toEqual([400, 'ERR_SIG_INVALID'])
  expect(await ask({ ...(await hooks.proofOf(claimant, url)), url, types: ['agent.loved'] })).toEqual([
    400,
    'ERR_PAYLOAD_INVALID',
  ])
  expect((await post(hooks.api, await hooks.proofOf(claimant, url))).status).toBe(400) // nor does it claim
  const inside = 'https://10.0.0.1/hooks'
  expect(await ask({ ...(await hooks.proofOf(claimant, inside)), url: inside, types })).toEqual([
    400,
    'ERR_PAYLOAD_INVALID',
  ])

  const good = { ...(await hooks.proofOf(claimant, url)), url, types }
  expect(await ask(good)).toEqual([200, undefined])
  expect(await ask(good)).toEqual([409, 'ERR_NONCE_USED'])
  const payload = { action: 'webhook', url, nonce: freshNonce() }
  expect(await ask({ ...jfsClaim(stage, claimant, { payload }), url, types })).toEqual([200, undefined])
  expect(await ask({ ...jfsClaim(stage, claimant, { payload: { action: 'webhook' } }), url, types })).toEqual([
    400,
    'ERR_JFS_PAYLOAD_INVALID',
  ])
  for (let more = 0; more < 3; more++) await hooks.register(hooks.newUrl(), {}, claimant)
  const sixth = hooks.newUrl()
  expect(await ask({ ...(await hooks.proofOf(claimant, sixth)), url: sixth, types })).toEqual([
    400,
    'ERR_PAYLOAD_INVALID',
  ])
  expect(await ask({ ...(await hooks.proofOf(claimant, url)), url, types })).toEqual([200, undefined])

  const none = await stage.api.get('/api/webhooks', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...(await hooks.proofOf(claimant, url)), url, types }),
  })
  expect([none.status, ((await none.json()) as { detail: string }).detail]).toEqual([
    404,
    expect.stringContaining('WEBHOOK_SECRET'),
  ])
})

test('who has the token pings, and deletes; who has not finds nothing', async () => {
  const webhook = await hooks.register(hooks.newUrl())
  const path = `/api/webhooks/${webhook.id}`
  for (const token of [undefined, 'wht_00', `${webhook.manage_token}0`]) {
    for (const [method, at] of [
      ['GET', path],
      ['DELETE', path],
      ['GET', `${path}/deliveries`],
      ['POST', `${path}/ping`],
    ] as const)
      expect((await hooks.call(method, at, token)).status).toBe(404)
  }
  expect(await (await hooks.call('POST', `${path}/ping`, webhook.manage_token)).json()).toMatchObject({
    ok: true,
    outcome: 'ok',
  })
  expect(hooks.received.map(({ type }) => type)).toEqual(['webhook.ping'])
  const headers = { authorization: `bearer  ${webhook.manage_token}`, 'x-forwarded-for': '192.0.2.200' }
  expect((await hooks.api.get(path, { headers })).status).toBe(200) // a scheme is the same in any case: RFC 9110, 11.1
  expectSigned(hooks.received[0]!, webhook, stage.clock.now)
  hooks.answer = () => ({ status: 301, headers: { location: 'https://other.example' }, body: '' })
  expect(await (await hooks.call('POST', `${path}/ping`, webhook.manage_token)).json()).toMatchObject({ ok: false })
  hooks.answer = hooks.agrees
  expect((await hooks.call('DELETE', path, webhook.manage_token)).status).toBe(200)
  expect((await hooks.call('GET', path, webhook.manage_token)).status).toBe(404)
  const sent = hooks.received.length
  await hooks.claimed()
  await hooks.run()
  expect(hooks.received).toHaveLength(sent)
  onTestFinished(() => stage.host.pages.clear())
})

test('an endpoint that ended is not revived next to as many as its FID may have', async () => {
  const claimant = await stage.claimant()
  const webhooks: Registered[] = []
  for (let more = 0; more < webhookLimits.ofFid; more++)
    webhooks.push(await hooks.register(hooks.newUrl(), {}, claimant))
  const [ended] = webhooks as [Registered]
  hooks.answer = ({ id }) =>
    id.startsWith(ended.id) ? { status: 410, body: '' } : hooks.agrees({ data: {} } as Message)
  await hooks.claimed()
  await hooks.run()
  expect(await hooks.shownOf(ended)).toMatchObject({ state: 'ended' })
  hooks.answer = hooks.agrees
  await hooks.register(hooks.newUrl(), {}, claimant)
  const replay = async ({ id, manage_token }: Registered) =>
    (await hooks.call('POST', `/api/webhooks/${id}/replay`, manage_token, { after_seq: 0 })).status
  expect(await replay(ended)).toBe(400)
  expect(await hooks.shownOf(ended)).toMatchObject({ state: 'ended' })
  expect(await replay(webhooks[1]!)).toBe(200) // it stands already
})

test('how an endpoint stands says which event is the oldest that is kept', async () => {
  const webhook = await hooks.register(hooks.newUrl())
  hooks.answer = () => ({ status: 503, body: '' })
  await hooks.claimed()
  await hooks.run()
  const { after_seq } = await hooks.shownOf(webhook)
  const kept = after_seq + 2
  await stage.database.pool.query('delete from webhook_event where seq < $1', [kept])
  expect(await hooks.shownOf(webhook)).toMatchObject({ after_seq, oldest_seq: kept })
})

test('a registration deletes what ended of an account beyond as many as it may have', async () => {
  const claimant = await stage.claimant()
  const ended: Registered[] = []
  hooks.answer = ({ type, data }) =>
    type === 'webhook.challenge' ? hooks.agrees({ data } as unknown as Message) : { status: 410, body: '' }
  for (let more = 0; more < webhookLimits.ofFid + 2; more++) {
    ended.push(await hooks.register(hooks.newUrl(), {}, claimant))
    await hooks.claimed()
    await hooks.run()
    stage.clock.now += 1_000
  }
  await hooks.register(hooks.newUrl(), {}, claimant)
  const found = async ({ id, manage_token }: Registered) =>
    (await hooks.call('GET', `/api/webhooks/${id}`, manage_token)).status
  expect(await Promise.all(ended.map(found))).toEqual([404, 404, 200, 200, 200, 200, 200])
})

test('the custody address registers in the place of the oldest where others have taken all', async () => {
  const claimant = await stage.claimant()
  const taken: Registered[] = []
  for (let more = 0; more < webhookLimits.ofFid; more++) {
    taken.push(await hooks.register(hooks.newUrl(), {}, claimant))
    stage.clock.now += 1_000
  }
  const url = hooks.newUrl()
  const body = { ...(await hooks.proofOf(claimant, url)), url, types: ['agent.updated'] }
  expect((await hooks.call('POST', '/api/webhooks', undefined, body)).status).toBe(400)
  const owned = await hooks.register(hooks.newUrl(), {}, { ...claimant, account: claimant.custody })
  const found = async ({ id, manage_token }: Registered) =>
    (await hooks.call('GET', `/api/webhooks/${id}`, manage_token)).status
  expect(await Promise.all([...taken, owned].map(found))).toEqual([404, ...taken.map(() => 200)])
})

test('an id that none can have is answered as one that nobody has', async () => {
  const token = `wht_${'0'.repeat(48)}`
  for (const id of ['%00', 'wh-%00', 'wh-', `wh-${'a'.repeat(33)}`, 'wh-unknown'])
    expect([id, (await hooks.call('GET', `/api/webhooks/${id}`, token)).status]).toEqual([id, 404])
})

test('what arrives ends the failures in a row, and a message that could not be sent does not', async () => {
  const webhook = await hooks.register(hooks.newUrl())
  hooks.answer = () => ({ status: 503, body: '' })
  await hooks.claimed()
  await hooks.claimed()
  await hooks.run()
  stage.clock.now += 6_000
  await hooks.run()
  expect(await hooks.shownOf(webhook)).toMatchObject({ state: 'retrying', failures: 2 })

  stage.clock.now += 6 * minute
  const usual = hooks.door
  hooks.door = hooks.newDoor()
  hooks.door.close()
  await hooks.run()
  hooks.door = usual
  expect(await hooks.shownOf(webhook)).toMatchObject({ state: 'retrying', failures: 2, last_success_at: null })

  stage.clock.now += 3_000
  let heard = 0
  hooks.answer = () => ({ status: heard++ === 0 ? 200 : 503, body: '' })
  await hooks.run()
  expect(heard).toBe(2)
  const shown = await hooks.shownOf(webhook)
  expect(shown).toMatchObject({ state: 'retrying', failures: 1 })
  expect(Date.parse(shown.next_attempt_at) - stage.clock.now).toBeLessThan(6_000)
})

test('a replay during an attempt that fails is heard, whatever the answer says', async () => {
  const webhook = await hooks.register(hooks.newUrl())
  for (const status of [503, 410]) {
    await hooks.claimed()
    const from = hooks.received.length
    hooks.answer = async () => {
      hooks.answer = hooks.agrees
      const path = `/api/webhooks/${webhook.id}/replay`
      expect((await hooks.call('POST', path, webhook.manage_token, { after_seq: 0 })).status).toBe(200)
      await hooks.append()
      return { status, body: '' }
    }
    await hooks.run()
    expect(await hooks.shownOf(webhook)).toMatchObject({ state: 'active', failures: 0, ended_for: null })
    expect(hooks.received.length).toBeGreaterThan(from + 2)
  }
})

test('a FID has a stranger sent so many challenges and no more, and an endpoint so many pings', async () => {
  const claimant = await stage.claimant()
  const url = hooks.newUrl()
  hooks.answer = () => ({ status: 500, body: '' })
  const { challenges, uses } = webhookLimits
  const body = { ...(await hooks.proofOf(claimant, url)), url, types: ['agent.listed'] }
  for (let sent = 0; sent < challenges.attempts; sent++)
    expect((await hooks.call('POST', '/api/webhooks', undefined, body)).status).toBe(400)
  expect((await hooks.call('POST', '/api/webhooks', undefined, body)).status).toBe(429)
  expect(hooks.received).toHaveLength(challenges.attempts)

  hooks.answer = hooks.agrees
  const { id, manage_token } = await hooks.register(hooks.newUrl())
  for (let sent = 0; sent < uses.attempts; sent++)
    expect((await hooks.call('POST', `/api/webhooks/${id}/ping`, manage_token)).status).toBe(200)
  expect((await hooks.call('POST', `/api/webhooks/${id}/ping`, manage_token)).status).toBe(429)
  expect((await hooks.call('POST', `/api/webhooks/${id}/replay`, manage_token, { after_seq: 0 })).status).toBe(429)
  expect(hooks.received).toHaveLength(uses.attempts)
})
