import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { repeat } from '../../enrichment/schedule/loop.ts'
import { createWatchdog, hungAfterMs } from '../../enrichment/schedule/watchdog.ts'
import { portOf, serveHealth } from '../../ops/health.ts'
import { createLogger } from '../../ops/logger.ts'

let now = 0
const clock = () => now

test('a process of which a loop hangs or fails for a quarter of an hour is not healthy, and one that rests is', async () => {
  const watchdog = createWatchdog({ nowMs: clock })
  const server = await serveHealth('127.0.0.1', 0, { ...watchdog, notReady: () => undefined, metrics: () => '' })
  const health = async () => {
    const response = await fetch(`http://127.0.0.1:${portOf(server)}/healthz`)
    return [response.status, await response.text()]
  }
  try {
    await watchdog.watch('resting', async () => 0)
    now += hungAfterMs + 1
    expect(await health()).toEqual([200, 'ok\n'])

    let finish = () => {}
    const hanging = watchdog.watch('events', () => new Promise<void>((resolve) => (finish = resolve)))
    now += hungAfterMs
    expect(await health()).toEqual([200, 'ok\n'])
    now += 60_000
    expect(await health()).toEqual([503, 'events has got nothing done for 16 minutes\n'])
    finish()
    await hanging
    expect(await health()).toEqual([200, 'ok\n'])

    for (let attempt = 0; attempt < 20; attempt++) {
      await watchdog.watch('join', () => Promise.reject(new Error('no database'))).catch(() => {})
      now += 60_000
    }
    expect(await health()).toEqual([503, 'join has got nothing done for 20 minutes\n'])
  } finally {
    server.close()
  }
})

test('a loop tells of its passes', async () => {
  const watchdog = createWatchdog({ nowMs: clock })
  const stopping = new AbortController()
  let passes = 0
  const loop = repeat({
    name: 'toy',
    restMs: 1,
    signal: stopping.signal,
    log: createLogger('test', 'silent'),
    watchdog,
    pass: async () => {
      if (++passes === 3) stopping.abort()
      now += hungAfterMs + 1
      expect(watchdog.stuck()).toMatch(/^toy has got nothing done/)
      return 0
    },
  })
  await loop
  expect([passes, watchdog.stuck()]).toEqual([3, undefined])
})

test('what takes long rests longer, by the factor that it is given', async () => {
  const stopping = new AbortController()
  const times: number[] = []
  await repeat({
    name: 'toy',
    restMs: 1,
    restFactor: 5,
    signal: stopping.signal,
    log: createLogger('test', 'silent'),
    watchdog: createWatchdog({ nowMs: clock }),
    pass: async () => {
      times.push(performance.now())
      if (times.length === 3) stopping.abort()
      await delay(40)
      times.push(performance.now())
      return 0
    },
  })
  const [began, ended, again] = times as [number, number, number]
  expect(again - ended).toBeGreaterThan(4 * (ended - began))
})
