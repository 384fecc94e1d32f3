import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { type ApiProcess, startApiProcess, startGraphqlProcess } from '../../support/api/process.ts'
import { testDatabase } from '../../support/database.ts'
import { seedAgent } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const database = testDatabase()
let api: ApiProcess | undefined
beforeAll(async () => {
  await seedAgent(database.pool, { fid: 1 })
})
afterEach(() => api?.kill())

const start = async (env: Record<string, string> = {}, begin = startApiProcess) => {
  api = await begin({ DATABASE_URL: database.url, LIMIT_PER_MINUTE: '1000000', ...env })
  return api
}

const graphqlQuestion = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query: '{ agentByFid(fid: "1") { handle } }' }),
}

test.each([
  ['the API', startApiProcess, '/api/agent/1', {}],
  ['GraphQL', startGraphqlProcess, '/graphql', graphqlQuestion],
] as const)('further SIGTERMs while a request of %s is in flight change nothing', async (_, begin, path, request) => {
  const { url, exit, terminate } = await start({}, begin)
  const locker = await database.pool.connect()
  await locker.query('begin; lock table agent in access exclusive mode')
  const asked = fetch(url + path, request)
  await until('the request waits for the lock', async () => {
    const { rows } = await database.pool.query('select count(*) as n from pg_locks where not granted')
    return Number(rows[0].n) > 0
  })
  for (let signals = 0; signals < 3; signals++) {
    terminate()
    await delay(50)
  }
  await locker.query('rollback')
  locker.release()
  const answer = await asked
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"agent1"')])
  expect(await exit).toEqual([0, null])
})

test('it is not ready first, serves on for the pause, and then tells every client that the connection ends', async () => {
  const { url, exit, terminate } = await start({ STOP_PAUSE_SECONDS: '5' })
  const stopped = Date.now()
  terminate()
  await until('it is not ready', async () => (await fetch(`${url}/readyz`)).status === 503)
  const during = await fetch(`${url}/api/agent/1`)
  expect([during.status, during.headers.get('connection')]).toEqual([200, 'keep-alive'])
  expect(await exit).toEqual([0, null])
  expect(Date.now() - stopped).toBeGreaterThanOrEqual(5_000)
})

test('under a constant load of kept connections no request is cut, and it ends soon after its last answer', async () => {
  const { url, exit, terminate } = await start()
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const seen = { answered: 0, closing: 0, lastAnswer: 0, cut: [] as string[] }
  const client = async () => {
    for (;;) {
      try {
        const response = await ask(`${url}/api/agent/1`, agent)
        seen.answered++
        seen.lastAnswer = Date.now()
        if (response.headers.connection === 'close') seen.closing++
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (code !== 'ECONNREFUSED') seen.cut.push(`${code} ${message}`)
        return // the server accepts no more connections
      }
    }
  }
  const clients = Array.from({ length: 16 }, client)
  await until('the load runs', () => seen.answered > 200)
  terminate()
  expect(await exit).toEqual([0, null])
  const ended = Date.now()
  await Promise.all(clients)
  agent.destroy()
  expect(seen.cut).toEqual([])
  expect(seen.closing).toBeGreaterThan(0)
  // Idle keep-alive connections would hold the process for their idle timeout, a minute.
  expect(ended - seen.lastAnswer).toBeLessThan(30_000)
})

function ask(url: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => response.resume().once('end', () => resolve(response))).once('error', reject)
  })
}
