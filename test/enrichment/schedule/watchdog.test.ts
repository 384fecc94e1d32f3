import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { repeat } from '../../../enrichment/schedule/loop.ts'
import { createWatchdog, hungAfterMs } from '../../../enrichment/schedule/watchdog.ts'
import { portOf, serveHealth } from '../../../ops/health.ts'
import { createLogger } from '../../../ops/logger.ts'

let now = 0
const clock = () => now

test('a process is not alive while a pass hangs, and not ready while a loop fails or a read model is slow', async () => {
  const watchdog = createWatchdog({ nowMs: clock })
  const server = await serveHealth('127.0.0.1', 0, { ...watchdog, notReady: watchdog.failing, metrics: () => '' })
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${portOf(server)}/${path}`)
    return [response.status, await response.text()]
  }
  const health = () => ask('healthz')
  try {
    await watchdog.watch('resting', async () => 0)
    now += hungAfterMs + 1
    expect(await health()).toEqual([200, 'ok\n'])

    let finish = () => {}
    const hanging = watchdog.watch('events', () => new Promise<void>((resolve) => (finish = resolve)))
    now += hungAfterMs
    expect(await health()).toEqual([200, 'ok\n'])
    now += 60_000
    expect(await health()).toEqual([503, 'a pass of events has been in flight for 16 minutes\n'])
    expect(await ask('readyz')).toEqual([503, 'no pass of events has succeeded for 16 minutes\n'])
    finish()
    await hanging
    expect(await health()).toEqual([200, 'ok\n'])

    const slow = watchdog.watch('rankings', () => new Promise<void>((resolve) => (finish = resolve)), true)
    now += hungAfterMs + 60_000
    expect(await health()).toEqual([200, 'ok\n'])
    expect(await ask('readyz')).toEqual([503, 'no pass of rankings has succeeded for 16 minutes\n'])
    finish()
    await slow

    for (let attempt = 0; attempt < 20; attempt++) {
      await watchdog.watch('join', () => Promise.reject(new Error('no database'))).catch(() => {})
      now += 60_000
    }
    expect(await health()).toEqual([200, 'ok\n'])
    expect(await ask('readyz')).toEqual([503, 'no pass of join has succeeded for 20 minutes\n'])
    await watchdog.watch('join', async () => 0)
    expect(await ask('readyz')).toEqual([200, 'ready\n'])
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
      expect(watchdog.stuck()).toMatch(/^a pass of toy has been in flight/)
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
