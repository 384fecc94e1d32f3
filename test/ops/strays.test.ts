import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { startApiProcess, startGraphqlProcess } from '../support/api/process.ts'
import { testDatabase } from '../support/database.ts'
import { spawnEnrichment } from '../support/enrichment-process.ts'
import { until } from '../support/until.ts'

const database = testDatabase()
const hub = await startHub(new HubState(), { apiKey: 'key' })
afterAll(() => hub.stop())

/** Has a process throw outside every request, twice in each way, when it is sent SIGUSR2. */
const faulty = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(
    `process.on('SIGUSR2', () => {
      for (let n = 0; n < 2; n++) {
        setTimeout(() => { throw new Error('thrown by a timer') })
        Promise.reject(new Error('handled by nobody'))
      }
    })`,
  )}`,
}

/** Counted strays of the process that serves these metrics. */
async function straysAt(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^agent_directory_stray_errors_total (\d+)$/m.exec(text)?.[1])
}

test.each([
  ['the API', startApiProcess],
  ['GraphQL', startGraphqlProcess],
])('%s goes on after errors outside every request, logs them and counts each', async (_name, start) => {
  const { url, lines, kill, signal } = await start({ DATABASE_URL: database.url, ...faulty })
  onTestFinished(kill)
  expect(await straysAt(url)).toBe(0)
  signal('SIGUSR2')
  await until('they are counted', async () => (await straysAt(url)) === 4)
  const told = lines.filter(({ msg }) => msg?.startsWith('an error outside every request'))
  expect(told).toMatchObject([{ level: 60, err: { stack: expect.stringContaining('handled by nobody') } }])
})

test('the enrichment goes on after errors outside every pass', async () => {
  const job = spawnEnrichment({ DATABASE_URL: database.url, HUB_URL: hub.url, ...faulty })
  onTestFinished(async () => void (await job.kill('SIGKILL')))
  await job.untilOutput(/"msg":"socialindex on/)
  const { metrics } = JSON.parse(job.output().split('\n')[0]!)
  job.signal('SIGUSR2')
  await until('they are counted', async () => (await straysAt(`http://${metrics}`)) === 4)
})

test.each([
  ['a tunnel', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'],
  ['an upgrade', 'GET /api/agent/1 HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n'],
  ['what is no HTTP', 'hello\r\n\r\n'],
  ['half a request', 'POST /api/claim HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{'],
  ['many requests in a row', 'GET /api/agent/1 HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20)],
  ['a stream', 'GET /data/log.sse HTTP/1.1\r\nHost: a\r\n\r\n'],
])('a connection that breaks after %s is no error outside its request', async (_name, text) => {
  const { url, kill } = await startApiProcess({ DATABASE_URL: database.url })
  onTestFinished(kill)
  for (let n = 0; n < 30; n++) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    socket.write(text)
    if (n % 3 === 0) await once(socket, 'data', { signal: AbortSignal.timeout(200) }).catch(() => {})
    if (n % 3 === 1) socket.write(text)
    socket.resetAndDestroy()
  }
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect(await straysAt(url)).toBe(0)
})
