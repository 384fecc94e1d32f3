import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startWebhookStage } from '../../support/api/webhooks.ts'

let hooks: Awaited<ReturnType<typeof startWebhookStage>>
beforeAll(async () => {
  hooks = await startWebhookStage()
})
afterAll(() => hooks.stop())
beforeEach(() => hooks.reset())

test('an endpoint that is slow to answer rests, whatever comes meanwhile, and loses nothing', async () => {
  const webhook = await hooks.register(hooks.newUrl())
  const answered = performance.now()
  hooks.answer = async () => {
    await delay(2_100)
    return { status: 204, body: '' }
  }
  await hooks.claimed()
  await hooks.run()
  const spentMs = performance.now() - answered
  const { next_attempt_at } = await hooks.shownOf(webhook)
  expect(await hooks.shownOf(webhook)).toMatchObject({ state: 'active', failures: 0 })
  const restMs = Date.parse(next_attempt_at) - hooks.stage.clock.now
  expect([restMs > 4 * 2_000, restMs <= 4 * spentMs]).toEqual([true, true])

  hooks.answer = hooks.agrees
  await hooks.claimed()
  hooks.stage.clock.now += 1_000
  await hooks.run()
  expect(hooks.received.map(({ type }) => type)).toEqual(['agent.claimed'])
  hooks.stage.clock.now += restMs
  await hooks.run()
  expect(hooks.received.map(({ type }) => type)).toEqual([
    'agent.claimed',
    'agent.listed',
    'agent.claimed',
    'agent.listed',
  ])
})

test('an endpoint that answers in time is sent one event after another, however many there are', async () => {
  await hooks.register(hooks.newUrl())
  for (let claims = 0; claims < 3; claims++) await hooks.claimed()
  hooks.answer = async () => {
    await delay(410)
    return { status: 204, body: '' }
  }
  await hooks.run()
  expect(hooks.received).toHaveLength(6)
})
