import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../ops/ports.ts'
import { startTcpLink, type TcpLink } from '../doubles/tcp-link.ts'
import { startApiProcess, startGraphqlProcess } from '../support/api/process.ts'
import { testDatabase } from '../support/database.ts'
import { spawnEnrichment } from '../support/enrichment-process.ts'
import { runMain } from '../support/mains.ts'
import { seedAgent } from '../support/seed.ts'
import { until } from '../support/until.ts'

// Every process on a link to its database that silently drops all packets: no connection is reset.

/** Milliseconds until a service must be ready: a timeout of ten seconds, and its start on a slow machine. */
const boundMs = 40_000
/** The same for a command to have ended, of which as many start at once as there are. */
const endsMs = 120_000
/** Longest answer in milliseconds: the deadline of docs/rules.md 1, and two seconds for a slow machine. */
const longestAnswerMs = 12_000
const timeout = 400_000

const database = testDatabase()
let link: TcpLink
let env: Record<string, string>
beforeAll(async () => {
  await seedAgent(database.pool, { fid: 1 })
  const url = new URL(database.url)
  link = await startTcpLink(Number(url.port))
  url.port = String(link.port)
  env = { DATABASE_URL: url.href, HUB_URL: 'http://127.0.0.1:9', LOG_LEVEL: 'warn' }
})
afterAll(() => link?.close())

const blocks = ['--chain', 'base', '--from', '2797221', '--to', '2797300']
const commands: [main: string, ...args: string[]][] = [
  ['db/main.ts'],
  ['processors/main.ts', 'base'],
  ['enrichment/main.ts'],
  ['api/graphql/main.ts'],
  ['processors/backfill/main.ts', ...blocks],
  ['processors/reset/main.ts', '--chain', 'base', '--all'],
  ['export/main.ts', '--what', 'agents', '--format', 'ndjson', '--out', '/tmp/never-written'],
]

test('nothing begins its work behind it: each ends in time with one line that says why', { timeout }, async () => {
  link.freeze()
  onTestFinished(() => link.thaw())
  const ends = await Promise.all(
    commands.map(async ([main, ...args]) => {
      const ports = { GRAPHQL_PORT: '0', METRICS_PORT: '0' }
      const { code, stderr } = await runMain(main, args, { env: { ...env, ...ports }, timeoutMs: endsMs })
      return { main, code, why: /timeout/.test(stderr) && stderr.trim().split('\n').length }
    }),
  )
  expect(ends).toEqual(commands.map(([main]) => ({ main, code: 1, why: 1 })))
})

const graphqlQuestion = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query: '{ agentByFid(fid: "1") { handle } }' }),
}

interface Service {
  readonly url: string
  kill(): Promise<unknown>
}
const services: [name: string, start: () => Promise<Service>, question?: string][] = [
  ['the API', () => startApiProcess(env), '/api/agent/1'],
  ['GraphQL', () => startGraphqlProcess(env), '/graphql'],
  [
    'the enrichment',
    async () => {
      const port = await freePort()
      const { kill } = spawnEnrichment({ ...env, METRICS_PORT: String(port) })
      return { url: `http://127.0.0.1:${port}`, kill: () => kill('SIGKILL') }
    },
  ],
]

test.each(services)(
  '%s says in time that it is not ready, and is again afterwards',
  { timeout },
  async (_, start, question) => {
    const service = await start()
    onTestFinished(async () => {
      link.thaw()
      await service.kill()
    })
    /** Asserts that a path is answered in time, and returns the status; 500 for a GraphQL answer with errors. */
    const ask = async (path: string) => {
      const begun = performance.now()
      const request = path === '/graphql' ? graphqlQuestion : {}
      const answer = await fetch(service.url + path, { ...request, signal: AbortSignal.timeout(boundMs) })
      const text = await answer.text()
      expect(performance.now() - begun, path).toBeLessThan(longestAnswerMs)
      return text.includes('"errors":[') ? 500 : answer.status
    }
    const isReady = () =>
      ask('/readyz').then(
        (status) => status === 200,
        () => false, // it does not listen yet
      )
    await until('it is ready', isReady, { withinMs: 2 * boundMs })
    link.freeze()
    expect(await ask('/readyz')).toBe(503)
    if (question) expect(await ask(question)).toBeGreaterThanOrEqual(500)
    expect(await ask('/healthz')).toBe(200)
    link.thaw()
    await until('it is ready again', isReady, { withinMs: 2 * boundMs })
  },
)
