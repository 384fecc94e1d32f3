import { createRequire } from 'node:module'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freshNonce, jfsClaim } from '../../support/api/claims.ts'
import { expectSigned, type Message, type Registered, startWebhookStage } from '../../support/api/webhooks.ts'

/** The library of Standard Webhooks, which knows nothing of ours. */
const { Webhook } = createRequire(import.meta.url)('standardwebhooks') as {
  Webhook: new (secret: string) => { verify(body: string, headers: Readonly<Record<string, string>>): unknown }
}

let hooks: Awaited<ReturnType<typeof startWebhookStage>>
beforeAll(async () => {
  hooks = await startWebhookStage()
})
afterAll(() => hooks.stop())
beforeEach(() => hooks.reset())

const verify = (secret: string, { id, timestamp, signature, body }: Message) =>
  new Webhook(secret).verify(body, {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  })
const post = async ({ id, manage_token }: Registered, what: 'ping' | 'rotate') =>
  (await hooks.call('POST', `/api/webhooks/${id}/${what}`, manage_token)).json()

test('after a rotation messages are signed with both secrets for a day, as an independent library finds', async () => {
  const first = await hooks.register(hooks.newUrl())
  await hooks.claimed()
  await hooks.run()
  const [before] = hooks.received as [Message]
  expect(verify(first.secret, before)).toMatchObject({ type: 'agent.claimed' })
  expect(() => verify(first.secret, { ...before, body: before.body.replace('claimed', 'listed') })).toThrow('matching')

  const second = (await post(first, 'rotate')) as Registered
  expect(second).toMatchObject({ ok: true, id: first.id, previous_until: expect.any(String) })
  expect(second.secret).not.toBe(first.secret)
  expect(() => verify(second.secret, before)).toThrow('matching')
  const from = hooks.received.length
  await hooks.claimed()
  await hooks.run()
  await post(first, 'ping')
  const meanwhile = hooks.received.slice(from)
  expect(meanwhile.map(({ type }) => type)).toContain('webhook.ping')
  for (const message of meanwhile) {
    expect(verify(first.secret, message)).toEqual(verify(second.secret, message))
    expectSigned(message, second, hooks.stage.clock.now) // the new one stands first
  }

  hooks.stage.clock.now += 24 * 3_600_000
  await post(first, 'ping')
  const after = hooks.received.at(-1)!
  expect(after.signature.split(' ')).toHaveLength(2)
  expectSigned(after, second, hooks.stage.clock.now)
  expect(await hooks.shownOf(first)).toMatchObject({ secret_version: 2, state: 'active' })
})

test('a rotation does not wake an endpoint that waits', async () => {
  const webhook = await hooks.register(hooks.newUrl())
  hooks.answer = () => ({ status: 503, body: '' })
  await hooks.claimed()
  await hooks.run()
  const sent = hooks.received.length
  await post(webhook, 'rotate')
  await hooks.run()
  expect(hooks.received).toHaveLength(sent)
  expect(await hooks.shownOf(webhook)).toMatchObject({ state: 'retrying', failures: 1 })
})

test('who registers an address again takes the place of the endpoint there, and misses nothing', async () => {
  const claimant = await hooks.stage.claimant()
  const url = hooks.newUrl()
  const lost = await hooks.register(url, {}, claimant)
  hooks.answer = (message) => (message.type === 'webhook.challenge' ? hooks.agrees(message) : { status: 503, body: '' })
  const fid = await hooks.claimed()
  await hooks.run()
  hooks.answer = hooks.agrees
  const found = await hooks.register(url, {}, claimant)
  expect((await hooks.call('GET', `/api/webhooks/${lost.id}`, lost.manage_token)).status).toBe(404)
  await hooks.run()
  expect(hooks.received.map(({ id, type, data }) => [id.split('_')[0], type, data.fid])).toEqual([
    [found.id, 'agent.claimed', fid],
    [found.id, 'agent.listed', fid],
  ])

  // An app that has a key of the account takes nobody's place.
  const types = ['agent.listed']
  const payload = { action: 'webhook', url, nonce: freshNonce() }
  const other = { ...jfsClaim(hooks.stage, claimant, { payload }), url, types }
  expect((await hooks.call('POST', '/api/webhooks', undefined, other)).status).toBe(200)
  expect(await hooks.shownOf(found)).toMatchObject({ state: 'active' })
})
