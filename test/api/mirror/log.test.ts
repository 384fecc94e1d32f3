import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { chainNames } from '../../../config/chains.ts'
import { documentLimits } from '../../../config/limits.ts'
import { inTransaction } from '../../../db/pool.ts'
import { deriveAgents } from '../../../db/queries/agents/agents.ts'
import { lockJoin } from '../../../db/queries/agents/lock.ts'
import { forgetOldRows } from '../../../enrichment/periodic/old-rows.ts'
import { failure, startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { addressOf, birth, countAgent } from '../../support/seed.ts'
import { LogMirror } from './log-mirror.ts'

const keptMs = documentLimits.changeDays * 86_400_000

const database = testDatabase()
let api: TestApi
let clock = Date.now()
const now = () => (clock += 60_000) // every request finds the cached answers stale
const read = (path: string) => api.get(path)
beforeAll(async () => {
  api = await startApi(database, { now })
})
beforeEach(empty)
afterAll(() => api.stop())

const tables = `agent, searched_agent, agent_activity, agent_change, agent_activity, due, agent_holding, claim, social_profile, verified_address,
  registration, registration_transfer`
async function empty() {
  await database.pool.query(`truncate ${tables} restart identity`)
}

/** Empties the database and claims `fids`, as if re-indexed: the log counts from 1 again and has another epoch. */
async function rebuild(fids: readonly number[]) {
  await empty()
  await database.pool.query('update service_state set epoch = gen_random_uuid()')
  for (const fid of fids) await steps.claim(fid)
  await derive(...fids)
}

const derive = (...fids: number[]) =>
  inTransaction(database.pool, async (db) => {
    await lockJoin(db)
    await deriveAgents(db, { fids, chainOrder: chainNames, now: new Date() })
  })

const verdicts = ['stated', 'signed', 'proven']
const steps = {
  claim: (fid: number) =>
    database.pool.query(
      `insert into claim (fid, method, nonce, proof, proof_sha256, signer, received_at, verified_addresses)
       values ($1, 'jfs', 'nonce', '{}', '', '', now(), '{}') on conflict do nothing`,
      [fid],
    ),
  unclaim: (fid: number) => database.pool.query('delete from claim where fid = $1', [fid]),
  rename: (fid: number, n: number) =>
    database.pool.query(
      `insert into social_profile (fid, handle, last_message_at, updated_at) values ($1, $2, $3, now())
           on conflict (fid) do update set handle = excluded.handle, last_message_at = excluded.last_message_at`,
      [fid, `name${n % 3}`, new Date(birth.getTime() + n * 1_000)],
    ),
  verify: (fid: number, n: number) =>
    database.pool.query(
      `insert into verified_address (fid, address, verified_at, verdict) values ($1, $2, $3, $4)
           on conflict (fid, address, verified_at) do update set verdict = excluded.verdict`,
      [fid, Buffer.from(addressOf(`holder ${fid}`).slice(2), 'hex'), birth, verdicts[n % 3]],
    ),
  pay: (fid: number, n: number) =>
    inTransaction(database.pool, async (db) => {
      await lockJoin(db)
      await countAgent(db, { fid, settlements: n, newestAt: new Date(birth.getTime() + n * 1_000) })
    }),
  derive: (fid: number) => derive(fid),
  deriveBoth: (fid: number) => derive(fid, fid + 1),
  forget: () => forgetOldRows({ pool: database.pool, now: () => new Date(Date.now() + 2 * keptMs) }),
}

/** What fails after a step: nothing, the answer, the mirror, the API, or the database. */
const faults = ['none', 'cut', 'restart', 'service', 'rebuilt'] as const

const step = fc.record({
  what: fc.constantFrom(...(Object.keys(steps) as (keyof typeof steps)[])),
  fid: fc.integer({ min: 1, max: 4 }),
  n: fc.nat(9),
  together: fc.boolean(),
  fault: fc.oneof({ weight: 6, arbitrary: fc.constant('none' as const) }, fc.constantFrom(...faults)),
  cutAt: fc.nat(4_000),
})

test('a mirror equals the database whatever happens to its lines, to it, to the service and to the database', {
  tags: ['rounds'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (history) => {
      await rebuild([1, 2])
      let mirror = new LogMirror(read, 2)
      let running: Promise<unknown>[] = []
      for (const { what, fid, n, together, fault, cutAt } of history) {
        running.push(steps[what](fid, n))
        if (together) continue
        await mirror.pull(fault === 'cut' ? cutAt : undefined) // while the steps write
        await Promise.all(running)
        running = []
        if (fault === 'restart') mirror = mirror.restarted()
        if (fault === 'rebuilt') await rebuild([fid])
        if (fault === 'service') {
          await api.stop()
          api = await startApi(database, { now })
        }
      }
      await Promise.all(running)
      await derive(1, 2, 3, 4, 5)
      await mirror.catchUp()
      const { agents } = (await (await read('/api/agents?fids=1,2,3,4,5')).json()) as { agents: { fid: number }[] }
      // `pay` stores counts without settlements, while a profile counts settlements: these fields are not compared.
      const plain = (profile: unknown) => ({ ...(profile as object), ...uncounted })
      const had = [...mirror.agents].map(([fid, profile]) => [fid, plain(profile)] as const)
      expect(new Map(had)).toEqual(new Map(agents.map((agent) => [agent.fid, plain(agent)])))
      expect(mirror.agents).toEqual(await fresh())
    }),
    { numRuns: rounds(8, 25) },
  )
})

const uncounted = { settlements_30d: null, settlements_all: null, last_seen_at: null }
/** Profiles, by fid, of a mirror that reads the whole log now. */
async function fresh(): Promise<Map<number, unknown>> {
  const mirror = new LogMirror(read)
  await mirror.catchUp()
  return mirror.agents
}

test('an agent that went away is told of for good, and of the others the newest line alone', async () => {
  for (const fid of [1, 2]) await steps.claim(fid)
  for (let n = 0; n < 3; n++) {
    for (const fid of [1, 2]) await steps.rename(fid, n)
    await derive(1, 2)
  }
  await steps.unclaim(2)
  await derive(2)
  await steps.pay(1, 7)
  await forgetOldRows({ pool: database.pool, now: () => new Date(Date.now() + 20 * keptMs) })
  const lines = (await (await read('/data/log.ndjson')).text()).trimEnd().split('\n')
  const [gone, moved] = lines.map((line) => JSON.parse(line))
  expect(lines).toHaveLength(2)
  expect(gone).toEqual({ seq: expect.any(Number), changed_at: expect.stringMatching(isoTime), kind: 'delist', fid: 2 })
  expect(moved).toMatchObject({
    seq: gone.seq + 1,
    kind: 'upsert',
    fid: 1,
    profile: { handle: 'name2', settlements_all: 7 },
  })
  expect(Date.now() - Date.parse(moved.changed_at)).toBeLessThan(3_600_000)
})

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

test('headers name the database, its newest number and the next page, to scripts on other origins as well', async () => {
  for (const fid of [1, 2, 3]) await steps.claim(fid)
  await derive(1, 2, 3)
  const { rows } = await database.pool.query<{ epoch: string }>('select epoch from service_state')
  const epoch = rows[0]!.epoch
  const first = await read('/data/log.ndjson?limit=2&fields=handle')
  const next = `/data/log.ndjson?since=${epoch.slice(0, 8)}-2&limit=2&fields=fid%2Chandle`
  expect(Object.fromEntries(first.headers)).toMatchObject({
    'content-type': 'application/x-ndjson; charset=utf-8',
    'cache-control': 'public, max-age=5',
    'x-log-epoch': epoch,
    'x-log-head': '3',
    link: `<https://api.agents.example${next}>; rel="next"`,
    'access-control-expose-headers': expect.stringMatching(/, Link, X-Log-Epoch, X-Log-Head$/),
  })
  expect(JSON.parse((await first.text()).split('\n')[0] as string).profile).toEqual({ fid: 1, handle: null })
  expect((await (await read(next)).text()).split('\n')).toHaveLength(2)
  const end = await read('/data/log.ndjson?since=3')
  expect([end.status, await end.text(), end.headers.get('link')]).toEqual([200, '', null])
})

test('a place of another database, above the newest number or unreadable is refused', async () => {
  await steps.claim(1)
  await derive(1)
  for (const since of ['00000000-1', '2', 'what', '-1', '1e3', '9f3a61c2-', '99999999999999999']) {
    expect(await failure(await read(`/data/log.ndjson?since=${since}`))).toMatchObject({
      status: 404,
      error: 'ERR_NOT_FOUND',
    })
  }
  for (const since of ['', '0', '1']) expect((await read(`/data/log.ndjson?since=${since}`)).status).toBe(200)
})

test('a page passes over numbers that newer ones follow, however many there are, and tells none of them', async () => {
  for (const fid of [1, 2]) await steps.claim(fid)
  await derive(2)
  await database.pool.query(
    `insert into agent_change (fid, kind, changed_at) select 1, 'upsert', now() from generate_series(1, 25000)`,
  )
  await derive(1)
  const first = await read('/data/log.ndjson')
  const seqs = (await first.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).seq)
  expect(seqs).toEqual([1])
  const second = await read('/data/log.ndjson?since=1')
  const [line, ...others] = (await second.text())
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text))
  expect([line, others]).toMatchObject([{ seq: 25_002, kind: 'upsert', fid: 1 }, []])
  expect(await (await read('/data/log.ndjson?since=25002')).text()).toBe('')
})

test('a payment that is not committed holds back what comes after it, and none is passed over', async () => {
  for (const fid of [1, 2]) await steps.claim(fid)
  await derive(1, 2)
  const mirror = new LogMirror(read)
  await mirror.catchUp()
  let second: Promise<unknown> | undefined
  await inTransaction(database.pool, async (db) => {
    await lockJoin(db)
    await countAgent(db, { fid: 1, settlements: 1, newestAt: birth })
    second = steps.pay(2, 5)
    expect(await mirror.pull()).toBe(0)
  })
  await second
  expect(await mirror.pull()).toBe(2)
})

test('an answer ends soon after the bytes it may have, and the next one goes on', async () => {
  const large = 600
  await database.pool.query(
    `insert into agent_change (fid, kind, changed_at) select fid, 'upsert', now() from generate_series(1, $1) fid`,
    [large],
  )
  await database.pool.query(
    `insert into agent (fid, chains, verified_addresses, claimed, agent_status, registered_at, listed_at, search, changed_at, bio)
     select fid, '{}', '{}', false, 'active', now(), now(), '', now(), repeat('x', 20000) from generate_series(1, $1) fid`,
    [large],
  )
  const mirror = new LogMirror(read)
  const lines = await mirror.pull()
  expect(lines).toBeGreaterThan(300)
  expect(lines).toBeLessThan(500)
  await mirror.catchUp()
  expect(mirror.agents.size).toBe(large)
})

test('another verdict over an address moves a mirror', async () => {
  await steps.verify(1, 0)
  await steps.claim(1)
  await derive(1)
  const mirror = new LogMirror(read)
  await mirror.catchUp()
  expect(mirror.agents.get(1)).toMatchObject({ assurance: 'stated' })
  await steps.verify(1, 2)
  await derive(1)
  await mirror.catchUp()
  expect(mirror.agents.get(1)).toMatchObject({ assurance: 'proven' })
})
