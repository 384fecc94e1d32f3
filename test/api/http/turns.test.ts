import { AsyncResource } from 'node:async_hooks'
import express from 'express'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { type EndTurn, inLane, NoTurn, type TurnLimits, Turns, waitInLane } from '../../../api/http/database-turns.ts'
import { portOf } from '../../../ops/health.ts'
import { until } from '../../support/until.ts'

const stops: (() => void)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

/** A server whose requests take `statements` turns each. `given`: turns in the order granted; `serve` ends them. */
async function world(limits: Partial<TurnLimits> = {}) {
  const turns = new Turns({ slots: 1, pageSlots: 1, maxWaiting: 100, maxWaitingOfClient: 50, ...limits })
  const given: string[] = []
  const ends: EndTurn[] = []
  const app = express().set('trust proxy', 1)
  for (const lane of ['api', 'pages'] as const) {
    app.get(`/${lane}/:statements`, waitInLane(lane), async (req, res) => {
      const take = async () => {
        const { end } = await turns.take()
        given.push(`${lane} ${req.ip}`)
        ends.push(end)
      }
      try {
        await Promise.all(Array.from({ length: Number(req.params.statements) }, take))
        res.end('done')
      } catch (error) {
        res.status(error instanceof NoTurn ? 503 : 500).end()
      }
    })
  }
  const server = app.listen(0, '127.0.0.1')
  stops.push(() => server.close().closeAllConnections())
  await until('the server listens', () => server.listening)
  const ask = (lane: string, client: string, statements = 1) =>
    fetch(`http://127.0.0.1:${portOf(server)}/${lane}/${statements}`, { headers: { 'x-forwarded-for': client } })
  /** Ends `count` turns, the oldest first, waiting for each to be granted. */
  const serve = async (count: number) => {
    for (let n = 0; n < count; n++) {
      await until('a turn was given', () => ends.length > 0)
      ends.shift()?.()
    }
  }
  return { turns, given, ends, ask, serve }
}

test('clients take turns, however much one of them asks', async () => {
  const { turns, given, ask, serve } = await world()
  const asked = Array.from({ length: 30 }, () => ask('api', '192.0.2.1'))
  await until('one client waits', () => turns.waiting === 29)
  asked.push(ask('api', '192.0.2.2'), ask('api', '192.0.2.3'))
  await until('three clients wait', () => turns.waiting === 31)
  await serve(32)
  await Promise.all(asked)
  expect(new Set(given.slice(1, 4))).toEqual(new Set(['api 192.0.2.1', 'api 192.0.2.2', 'api 192.0.2.3']))
})

test('pages run in half of the slots, and the API in all of them', async () => {
  const { given, ends, turns, ask, serve } = await world({ slots: 4, pageSlots: 2 })
  const asked = Array.from({ length: 10 }, (_, n) => ask('pages', `192.0.2.${n}`))
  await until('pages run and wait', () => ends.length === 2 && turns.waiting === 8)
  asked.push(...Array.from({ length: 3 }, (_, n) => ask('api', `198.51.100.${n}`)))
  await until('the API runs next to them', () => ends.length === 4 && turns.waiting === 9)
  expect(given.filter((one) => one.startsWith('api'))).toHaveLength(2)
  await serve(13)
  expect((await Promise.all(asked)).every(({ status }) => status === 200)).toBe(true)
})

test('what is waited by counts requests, not their statements, and one client has half of it', async () => {
  const { turns, ask, serve } = await world({ maxWaiting: 4, maxWaitingOfClient: 2 })
  const asked = [ask('api', '192.0.2.1', 20), ask('api', '192.0.2.1', 20)]
  await until('two requests wait', () => turns.waiting === 2)
  expect((await ask('api', '192.0.2.1')).status).toBe(503)
  asked.push(ask('api', '192.0.2.2', 20), ask('api', '192.0.2.3', 20))
  await until('four requests wait', () => turns.waiting === 4)
  expect((await ask('api', '192.0.2.4')).status).toBe(503)
  await serve(80)
  expect((await Promise.all(asked)).every(({ status }) => status === 200)).toBe(true)
  expect(turns.waiting).toBe(0)
})

test('a probe is next, however many wait, and is not refused for them', async () => {
  const { turns, given, ends, ask, serve } = await world({ maxWaiting: 3 })
  const asked = Array.from({ length: 4 }, (_, n) => ask('api', `192.0.2.${n}`))
  await until('three wait', () => turns.waiting === 3)
  expect((await ask('api', '192.0.2.9')).status).toBe(503)
  const probed = inLane('probes', 'readiness', () => turns.take()).then(({ end }) => {
    given.push('probe')
    ends.push(end)
  })
  await Promise.all([serve(5), ...asked, probed])
  expect([given[1], given.length, turns.waiting]).toEqual(['probe', 5, 0])
})

test('what streams look for is not refused for those that wait, and takes its turn as one client’s', async () => {
  const { turns, given, ends, ask, serve } = await world({ maxWaiting: 3 })
  const asked = Array.from({ length: 4 }, (_, n) => ask('api', `192.0.2.${n}`))
  await until('three wait', () => turns.waiting === 3)
  const looks = ['first', 'second'].map((name) =>
    inLane('streams', 'streams', () => turns.take()).then(({ end }) => {
      given.push(name)
      ends.push(end)
    }),
  )
  expect((await ask('api', '192.0.2.9')).status).toBe(503)
  await Promise.all([serve(6), ...asked, ...looks])
  expect([given.indexOf('first'), given.indexOf('second'), turns.waiting]).toEqual([4, 5, 0])
})

test('a request that has begun is served before its client’s next one', async () => {
  const { turns, given, ask, serve } = await world()
  const first = ask('api', '192.0.2.1', 3)
  await until('the first waits for two turns more', () => turns.waiting === 1 && given.length === 1)
  const second = ask('api', '192.0.2.1', 1).then(() => 'second')
  await until('both wait', () => turns.waiting === 2)
  await serve(3)
  expect(await Promise.race([first.then(() => 'first'), second])).toBe('first')
  await serve(1)
  await second
})

test('when a request has begun, the others of its statements that wait come before its client’s next request', async () => {
  const turns = new Turns({ slots: 1, pageSlots: 1, maxWaiting: 10, maxWaitingOfClient: 10 })
  const { end } = await turns.take()
  const given: string[] = []
  const take = async (name: string) => {
    const turn = await turns.take()
    given.push(name)
    turn.end()
  }
  const asks: Promise<void>[] = []
  const first = inLane('api', '192.0.2.1', () => {
    asks.push(take('page'))
    return AsyncResource.bind((name: string) => asks.push(take(name)))
  })
  inLane('api', '192.0.2.1', () => asks.push(take('next request')))
  first('total')
  end()
  await Promise.all(asks)
  expect(given).toEqual(['page', 'total', 'next request'])
})

test('a statement waits until the deadline of its request, as the limits set it', async () => {
  const { ends, ask, serve } = await world({ answerWithinMs: 700 })
  const first = ask('api', '192.0.2.1')
  await until('a turn was given', () => ends.length === 1)
  expect((await ask('api', '192.0.2.2')).status).toBe(503)
  await serve(1)
  expect((await first).status).toBe(200)
})

test('a statement after the time of its request has a millisecond, as no timer runs backwards', async () => {
  let leftMs = 0
  const app = express().get('/late', waitInLane('api'), async (_req, res) => {
    const late = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000)
    onTestFinished(() => late.mockRestore())
    ;({ leftMs } = await new Turns({ slots: 1, pageSlots: 1, maxWaiting: 1, maxWaitingOfClient: 1 }).take())
    late.mockRestore()
    res.end()
  })
  const server = app.listen(0, '127.0.0.1')
  stops.push(() => server.close().closeAllConnections())
  await until('the server listens', () => server.listening)
  await fetch(`http://127.0.0.1:${portOf(server)}/late`)
  expect(leftMs).toBe(1)
})
