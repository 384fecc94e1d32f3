import { EventSource } from 'eventsource'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { streamLimits } from '../../../config/limits.ts'
import { failure, startApi, type TestApi } from '../../support/api/api.ts'
import { EventReader } from '../../support/api/event-reader.ts'
import { testDatabase } from '../../support/database.ts'
import { insert, seedAgent } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const database = testDatabase()
let api: TestApi
let ahead = 0
let stopping: string | undefined
const open = new Set<EventReader>()
let epoch = ''
beforeAll(async () => {
  for (const fid of [1, 2]) {
    await seedAgent(database.pool, { fid })
    await note(fid, 'upsert')
  }
  api = await startApi(database, { now: () => Date.now() + ahead, notReady: () => stopping })
  epoch = (await api.get('/data/log.ndjson')).headers.get('x-log-epoch') ?? ''
})
afterAll(async () => {
  for (const reader of open) await reader.close()
  await api.stop()
})

/** Opens the stream, retrying on 429: the server may not have noticed yet that earlier readers left. */
async function follow(query = '', headers: Record<string, string> = {}): Promise<EventReader> {
  let answer = await api.get(`/data/log.sse${query}`, { headers })
  await until('a slot is free', async () => {
    if (answer.status !== 429) return true
    answer = await api.get(`/data/log.sse${query}`, { headers })
    return false
  })
  expect(answer.status).toBe(200)
  const reader = new EventReader(answer)
  open.add(reader)
  return reader
}

async function closeAll() {
  for (const reader of open) await reader.close()
  open.clear()
}

/** Logs a change of an agent, as the join does. */
const note = (fid: number, kind: 'upsert' | 'delist') =>
  insert(database.pool, 'agent_change', { fid, kind, changed_at: new Date() })

async function rename(fid: number, handle: string) {
  await database.pool.query('update agent set handle = $2 where fid = $1', [fid, handle])
  await note(fid, 'upsert')
}

/** Lines of the log as they are now. */
async function logLines(since: string): Promise<string[]> {
  const answer = await api.get(`/data/log.ndjson?since=${since}&limit=999&now=${Math.random()}`)
  return (await answer.text()).split('\n').slice(0, -1)
}
async function newest(): Promise<number> {
  ahead += 5_000 // past the time for which the log's answers are cached
  return Number((await api.get('/data/log.ndjson')).headers.get('x-log-head'))
}
const place = (seq: number) => `${epoch.slice(0, 8)}-${seq}`

test('a client of the standard is told of a change as the log tells it', async () => {
  const source = new EventSource(`${api.url}/data/log.sse`)
  const events: MessageEvent[] = []
  source.addEventListener('upsert', (event) => events.push(event))
  await new Promise((resolve) => source.addEventListener('open', resolve, { once: true }))
  const before = await newest()
  await rename(1, 'ada')
  await until('the event is there', () => events.length > 0)
  source.close()
  const [event] = events
  ahead += 5_000
  expect([event?.data]).toEqual(await logLines(place(before)))
  expect(event?.lastEventId).toBe(place(JSON.parse(event?.data).seq))
  expect(JSON.parse(event?.data)).toMatchObject({ kind: 'upsert', fid: 1, profile: { handle: 'ada' } })
})

test('the answer is a stream that nothing on the way keeps or waits with', async () => {
  const reader = await follow()
  expect(
    ['content-type', 'cache-control', 'x-accel-buffering', 'etag'].map((name) => reader.headers.get(name)),
  ).toEqual(['text/event-stream', 'no-cache, no-transform', 'no', null])
  await reader.until((text) => /^retry: 5000\n: 20\d\d-.+Z\n\n/.test(text))
  const head = await api.get('/data/log.sse', { method: 'HEAD' })
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'text/event-stream', ''])
  await closeAll()
})

test('a stream goes on behind the last id, which counts more than since, and misses nothing', async () => {
  await rename(1, 'one')
  await rename(2, 'two')
  const lines = await logLines('')
  const all = await follow('?since=0')
  await all.untilEvents(lines.length)
  expect(all.events.map(({ data }) => data)).toEqual(lines)
  const [first] = all.events
  await closeAll()
  const rest = await follow('?since=0', { 'Last-Event-ID': first?.id ?? '' })
  await rest.untilEvents(lines.length - 1)
  expect(rest.events.map(({ data }) => data)).toEqual(lines.slice(1))
  await rename(2, 'three')
  await rest.untilEvents(lines.length)
  expect(JSON.parse(rest.events.at(-1)?.data ?? '')).toMatchObject({ fid: 2, profile: { handle: 'three' } })
  await closeAll()
})

test('it tells of one agent, or of one kind; a filter that cannot be read lets nothing through', async () => {
  const one = await follow('?since=0&fid=2')
  const gone = await follow('?since=0&kind=delist')
  await one.untilEvents(1)
  await seedAgent(database.pool, { fid: 3 })
  await database.pool.query('delete from agent where fid = 3')
  await note(3, 'delist')
  await gone.untilEvents(1)
  expect(gone.events.map(({ event, data }) => [event, JSON.parse(data).fid])).toEqual([['delist', 3]])
  expect(new Set(one.events.map(({ data }) => JSON.parse(data).fid))).toEqual(new Set([2]))
  await closeAll()
  const none = await follow('?since=0&fid=x')
  ahead += streamLimits.heartbeatSeconds * 1_000
  await none.until((text) => text.includes('\nid: ')) // the id of a heartbeat comment: every line was looked at
  expect(none.events).toEqual([])
  await closeAll()
})

const elsewhere: Record<string, () => string | Promise<string>> = {
  'of another log': () => '00000000-1',
  'above the newest': async () => place((await newest()) + 1),
  'that is unreadable': () => 'yesterday',
}
test.for(Object.entries(elsewhere))('who is at a place %s is told to start over, and let go', async ([, since]) => {
  const head = await newest()
  const reader = await follow(`?since=${await since()}`)
  await reader.ended()
  expect(reader.events).toEqual([{ id: place(head), event: 'reset', data: JSON.stringify({ epoch, head }) }])
})

test('who is too far behind is told to read the log first', async () => {
  const before = await newest()
  await database.pool.query(`select setval(pg_get_serial_sequence('agent_change', 'seq'), $1)`, [
    before + streamLimits.replay,
  ])
  await rename(1, 'far')
  const reader = await follow(`?since=${place(before)}`)
  await reader.ended()
  expect(reader.events.map(({ event }) => event)).toEqual(['reset'])
})

test('a client has so many streams and no more, until one ends', async () => {
  for (let n = 0; n < streamLimits.ofClient; n++) await follow()
  const refused = await api.get('/data/log.sse')
  expect(refused.headers.get('retry-after')).toBe(String(streamLimits.retrySeconds))
  expect(await failure(refused)).toMatchObject({ status: 429, error: 'ERR_RATE_LIMITED' })
  await closeAll()
  await follow() // once its slot is free again
  await closeAll()
})

test('a silence is broken by a comment with the place, and a stream ends in time', async () => {
  const reader = await follow()
  ahead += streamLimits.heartbeatSeconds * 1_000
  const head = await newest()
  await reader.until((text) => new RegExp(`\n: 20.+Z\nid: ${place(head)}\n\n$`).test(text))
  ahead += streamLimits.lastSeconds.most * 1_000
  await reader.ended()
})

test('it holds no connection of the database while nothing happens, and asks nothing when nobody listens', async () => {
  await follow()
  const { pool } = database
  await until('all connections are idle', () => pool.totalCount === pool.idleCount)
  await closeAll()
})

test('a process that stops ends its streams by itself', async () => {
  const reader = await follow()
  stopping = 'the process is stopping'
  await reader.ended()
  stopping = undefined
})
