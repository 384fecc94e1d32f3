import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sources } from '../../../config/sources.ts'
import { askForSubjects } from '../../../db/queries/sources/source-state.ts'
import { hour, minute, second } from '../../../ops/time.ts'
import { type CannedServer, serveCanned } from '../../doubles/canned.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'
import { createClock, type EnrichmentJob, startJob } from '../../support/enrichment-job.ts'
import { first } from '../../trust/vectors.ts'

// A hub whose lists have no end, or which lies about some accounts, seen from the whole enrichment job.

let database: OwnDatabase
let server: CannedServer
let job: EnrichmentJob
const clock = createClock('2026-03-01T00:00:00Z')
/** Answers of the hub to paths; undefined: an empty list. */
let answers: (path: string, query: URLSearchParams) => unknown
beforeEach(async () => {
  database = await createTestDatabase()
  answers = () => undefined
  server = await serveCanned((path, query) => ({ body: answers(path, query) ?? usual(path) }))
  job = await startJob({ database, clock, env: { HUB_URL: server.url } })
})
afterEach(async () => {
  await job.close()
  await server.stop()
  await database.drop()
})

const shardInfos = [{ shardId: 1, maxHeight: 100, blockDelay: 0 }]
function usual(path: string) {
  if (path === '/v1/info') return { numShards: 1, shardInfos }
  if (path === '/v1/fids') return { fids: [] }
  if (path === '/v1/events') return { events: [] }
  return path === '/v2/farcaster/user/bulk' ? { users: [] } : { messages: [] }
}
const asked = (path: string) => server.requests.filter((request) => request.path.startsWith(path)).length
const sweep = async () =>
  (
    await database.pool.query(
      `select c.reached_at, s.last_outcome, s.due_at from source_cursor c
         join source_state s on s.source = c.source and s.subject = 'shard:' || c.shard
        where c.source = $1`,
      [sources.sweep.name],
    )
  ).rows[0]

/** Tokens that lead from page to page for ever: two that are not seen again, then a circle of three. */
const next: Record<string, string> = { '': 'a', a: 'b', b: 'c', c: 'd', d: 'e', e: 'c' }

describe.each<[string, (query: URLSearchParams) => unknown, number]>([
  ['an empty page with a token', () => ({ fids: [], nextPageToken: 'W251bGwsbnVsbF0=' }), 2],
  ['a circle of tokens', (query) => ({ fids: [7], nextPageToken: next[query.get('pageToken') ?? ''] }), 15],
])('%s', (_, page, most) => {
  test('is a bad answer, and the end of the sweep when it comes again after the pause', async () => {
    answers = (path, query) => (path === '/v1/fids' ? page(query) : undefined)
    await job.run()
    expect(await sweep()).toMatchObject({ reached_at: null, last_outcome: 'bad_answer' })
    const endedAt = clock.pass(minute)
    await job.run()
    expect(await sweep()).toMatchObject({ reached_at: endedAt, last_outcome: 'bad_answer' })
    expect(asked('/v1/fids')).toBeLessThanOrEqual(most)
    const before = asked('/v1/fids')
    clock.pass(24 * hour)
    await job.run()
    expect(asked('/v1/fids')).toBe(before)
  })
})

test('forty accounts with answers that are wrong do not keep anybody’s events waiting', async () => {
  await job.run()
  const fids = Array.from({ length: 40 }, (_, index) => index + 1)
  const lies = [
    (fid: number) => ({ ...first, data: { ...first.data, fid, type: 'MESSAGE_TYPE_CAST_ADD' } }),
    () => first, // of another account
    (fid: number) => ({ data: { ...first.data, fid, timestamp: -1 } }),
  ]
  answers = (path, query) => {
    const fid = Number(query.get('fid'))
    return path === '/v1/verificationsByFid' ? { messages: [lies[fid % lies.length]!(fid)] } : undefined
  }
  const subjects = fids.map((fid) => `fid:${fid}`)
  await askForSubjects(database.pool, sources.fids.name, subjects, { priority: 1, dueAt: clock.now() })
  const outcomes: string[] = []
  while (outcomes.length < fids.length) {
    const some = await job.pass(sources.fids.name)
    expect(some.length).toBeGreaterThan(0)
    outcomes.push(...some)
  }
  expect(new Set(outcomes)).toEqual(new Set(['bad_answer']))
  clock.pass(40 * second)
  const before = asked('/v1/events')
  await job.run()
  expect(asked('/v1/events')).toBeGreaterThan(before)
})
