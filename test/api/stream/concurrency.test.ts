import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Store } from 'express-rate-limit'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiDeps } from '../../../api/app.ts'
import { MemoryStore } from '../../../api/limits/memory-store.ts'
import { createPainter } from '../../../api/pages/card/painter.ts'
import { ConcurrencyLimit } from '../../../api/stream/concurrency.ts'
import { cardLimits, exportLimits, streamLimits } from '../../../config/limits.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { exportFolder } from '../../support/exports.ts'
import { seedAgent } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const response = () => new ServerResponse(new IncomingMessage(new Socket()))

test('all clients together have so many at once, and who is refused for it is told so', async () => {
  const concurrency = new ConcurrencyLimit({
    ofClient: 2,
    ofProcess: 3,
    retrySeconds: 60,
    windowSeconds: 1_800,
    what: 'streams',
  })
  const first = response()
  expect(concurrency.take('198.51.100.1', first)).toBe(true)
  for (const client of ['198.51.100.1', '198.51.100.2']) concurrency.take(client, response())
  const refusal = {
    code: 'ERR_RATE_LIMITED',
    detail: 'all together may have 3 streams at once',
    fields: { limits: { attempts: 3, windowSeconds: 1_800 }, retryAfterSeconds: 60 },
  }
  expect(() => concurrency.take('198.51.100.3', response())).toThrow(expect.objectContaining(refusal))
  const closed = once(first, 'close')
  first.destroy()
  await closed
  expect(concurrency.take('198.51.100.3', first)).toBe(false) // takes no slot: the next one gets it
  concurrency.take('198.51.100.3', response())
  expect(() => concurrency.take('198.51.100.2', response())).toThrow(expect.objectContaining(refusal))
})

const database = testDatabase()

/** An answer for which a slot is taken, in an API whose requests wait before that until they are let on. */
interface Held {
  readonly path: string
  readonly ofClient: number
  readonly deps: Partial<ApiDeps>
  readonly letOn: () => void | Promise<void>
}

const limits = { perMinute: 1_000, perDay: 1_000 }
const memory = () => new MemoryStore(limits, Date.now)

/** A store that counts nothing until it is let on, like one in Redis that is slow. */
function heldStore(): { readonly store: Store; readonly letOn: () => void } {
  const counts = memory()
  let letOn = () => {}
  const wait = new Promise<void>((resolve) => {
    letOn = resolve
  })
  const increment = (client: string) => wait.then(() => counts.increment(client))
  return { store: { localKeys: true, increment, decrement() {}, resetKey() {} }, letOn }
}

const held: Record<string, () => Held | Promise<Held>> = {
  async card() {
    await seedAgent(database.pool, { fid: 1 })
    const painter = createPainter(Date.now)
    onTestFinished(() => painter.close())
    const { store, letOn } = heldStore()
    const limiter = { limits, store: memory(), pageStore: store, now: Date.now }
    return { path: '/agent/1/card.png', ofClient: cardLimits.ofClient, deps: { painter, limiter }, letOn }
  },
  stream() {
    const { store, letOn } = heldStore()
    const limiter = { limits, store, now: Date.now }
    return { path: '/data/log.sse', ofClient: streamLimits.ofClient, deps: { limiter }, letOn }
  },
  async file() {
    const exportDir = await exportFolder()
    const sha256 = createHash('sha256').update('rows').digest('hex')
    const manifest = { version: 1, files: [{ path: 'part.parquet', bytes: 4, sha256 }], replaced: [] }
    await writeFile(join(exportDir, 'part.parquet'), 'rows')
    await writeFile(join(exportDir, 'manifest.json'), JSON.stringify(manifest))
    const pipe = join(exportDir, 'datapackage.json')
    execFileSync('mkfifo', [pipe]) // the lists are read, and the read of this one waits for a writer
    const letOn = () => writeFile(pipe, '{}')
    return { path: '/exports/part.parquet', ofClient: exportLimits.ofClient, deps: { exportDir }, letOn }
  },
}

/** Sends so many requests, which the server does not answer, and leaves; resolves when the server has noticed. */
async function askAndLeave({ server, get }: TestApi, path: string, count: number): Promise<void> {
  const come: ServerResponse[] = []
  const watch: RequestListener = (_req, res) => void come.push(res)
  server.prependListener('request', watch)
  const here = new AbortController()
  const asked = Array.from({ length: count }, () => get(path, { signal: here.signal }))
  await until('all requests have come', () => come.length === count)
  here.abort()
  const ends = await Promise.allSettled(asked)
  expect(ends.map(({ status }) => status)).toEqual(asked.map(() => 'rejected'))
  await until('all responses are closed', () => come.every(({ closed }) => closed))
  server.off('request', watch)
}

test.for(Object.entries(held))('clients that leave before they have a slot keep none: %s', async ([, prepare]) => {
  const { path, ofClient, deps, letOn } = await prepare()
  const api = await startApi(database, deps)
  onTestFinished(() => api.stop())
  try {
    await askAndLeave(api, path, ofClient)
  } finally {
    await letOn()
  }
  const answer = await api.get(path)
  expect(answer.status).toBe(200)
  await answer.body?.cancel()
})
