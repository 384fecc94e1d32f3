import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { type ApiDeps, createApp } from '../../../api/app.ts'
import { boundedDatabase } from '../../../api/http/database.ts'
import { createHttpServer } from '../../../api/http/server.ts'
import { MemoryStore } from '../../../api/limits/memory-store.ts'
import { errorBody } from '../../../api/schemas/error.ts'
import { readChains } from '../../../config/chains.file.ts'
import type { TestDatabase } from '../database.ts'
import { testTimeoutMs } from '../until.ts'

export interface TestApi {
  readonly url: string
  readonly server: Server
  /** A path, or a path with request options. */
  get(path: string, init?: RequestInit): Promise<Response>
  stop(): Promise<void>
}

/** Limits that only tests of the limiter can reach. */
const plenty = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }

/** Bounds that no busy machine reaches; tests of the bounds pass a database that has the API's own. */
const patient = { answerWithinMs: testTimeoutMs, statementMs: testTimeoutMs }

/** The real app on a real port, over a test's database; port 0: a free one. */
export async function startApi(database: TestDatabase, overrides: Partial<ApiDeps> = {}, port = 0): Promise<TestApi> {
  const app = createApp({
    database: boundedDatabase(database.pool, patient),
    pool: database.pool,
    chains: readChains({ env: {} }),
    settlementOverloads: 'spec',
    log: pino({ level: 'silent' }),
    baseUrl: 'https://api.agents.example',
    siteUrl: 'https://agents.example',
    serviceName: 'agent-directory',
    trustProxyHops: 0,
    now: Date.now,
    limiter: { limits: plenty, store: new MemoryStore(plenty, Date.now), now: Date.now },
    notReady: () => undefined,
    ...overrides,
  })
  const server = createHttpServer(app)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    server,
    get: (path, init) => fetch(url + path, init),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Status and body of a failure. */
export async function failure(response: Response) {
  return { status: response.status, ...errorBody.parse(await response.json()) }
}
