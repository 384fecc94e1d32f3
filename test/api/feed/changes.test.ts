import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { changeLine } from '../../../api/routes/log/changes.ts'
import { chainNames } from '../../../config/chains.ts'
import { documentLimits } from '../../../config/limits.ts'
import { inTransaction } from '../../../db/pool.ts'
import { deriveAgents } from '../../../db/queries/agents/agents.ts'
import { lockJoin } from '../../../db/queries/agents/lock.ts'
import { forgetOldRows } from '../../../enrichment/periodic/old-rows.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { birth, countAgent, insert } from '../../support/seed.ts'

const keptMs = documentLimits.changeDays * 86_400_000

const database = testDatabase()
let api: TestApi
let clock = Date.now()
beforeAll(async () => {
  api = await startApi(database, { now: () => (clock += 60_000) }) // every request finds the cached answers stale
})
beforeEach(async () => {
  await database.pool.query('truncate agent, agent_change, agent_activity, claim, social_profile, due')
})
afterAll(() => api.stop())

/** A client's copy of the agents, kept by following /data/changes.ndjson. */
class Mirror {
  readonly agents = new Map<number, unknown>()
  seq = 0

  /** Applies one page of changes; returns its number of lines. */
  async pull(): Promise<number> {
    const text = await (await api.get(`/data/changes.ndjson?since=${this.seq}`)).text()
    const lines = text
      .split('\n')
      .slice(0, -1)
      .map((line) => changeLine.parse(JSON.parse(line)))
    for (const line of lines) {
      expect(line.seq).toBeGreaterThan(this.seq)
      this.seq = line.seq
      if (line.kind === 'upsert') this.agents.set(line.fid, line.agent)
      else this.agents.delete(line.fid)
    }
    return lines.length
  }

  async catchUp() {
    while ((await this.pull()) > 0);
  }
}

const derive = (...fids: number[]) =>
  inTransaction(database.pool, async (db) => {
    await lockJoin(db)
    await deriveAgents(db, { fids, chainOrder: chainNames, now: new Date() })
  })

async function claim(fid: number) {
  await database.pool.query(
    `insert into claim (fid, method, nonce, proof, proof_sha256, signer, received_at, verified_addresses)
     values ($1, 'jfs', 'nonce', '{}', '', '', now(), '{}') on conflict do nothing`,
    [fid],
  )
}

const steps = {
  claim,
  unclaim: (fid: number) => database.pool.query('delete from claim where fid = $1', [fid]),
  rename: (fid: number, n: number) =>
    database.pool.query(
      `insert into social_profile (fid, handle, last_message_at, updated_at) values ($1, $2, $3, now())
           on conflict (fid) do update set handle = excluded.handle, last_message_at = excluded.last_message_at`,
      [fid, `name${n % 3}`, new Date(birth.getTime() + n * 1_000)],
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

const step = fc.record({
  what: fc.constantFrom(...(Object.keys(steps) as (keyof typeof steps)[])),
  fid: fc.integer({ min: 1, max: 4 }),
  n: fc.nat(9),
  together: fc.boolean(),
})

test('a mirror that follows, at whatever moments, has in the end what the directory lists', {
  tags: ['rounds'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (history) => {
      await database.pool.query('truncate agent, agent_change, agent_activity, claim, social_profile, due')
      for (const fid of [1, 2]) await claim(fid)
      await derive(1, 2)
      const mirror = new Mirror()
      let running: Promise<unknown>[] = []
      for (const { what, fid, n, together } of history) {
        running.push(steps[what](fid, n))
        if (together) continue
        await mirror.pull() // while the steps write
        await Promise.all(running)
        running = []
      }
      await Promise.all(running)
      await mirror.catchUp()
      const { agents } = (await (await api.get('/api/discovery?limit=100')).json()) as { agents: { fid: number }[] }
      expect(Object.fromEntries(mirror.agents)).toEqual(Object.fromEntries(agents.map((agent) => [agent.fid, agent])))
    }),
    { numRuns: rounds(8, 25) },
  )
})

test('a payment moves a mirror, though it is no change of the agent', async () => {
  await claim(1)
  await derive(1)
  const mirror = new Mirror()
  await mirror.catchUp()
  await steps.pay(1, 5)
  expect(await mirror.pull()).toBe(1)
  expect(mirror.agents.get(1)).toMatchObject({ settlements_30d: 5, last_seen_at: '2026-03-01T00:00:05.000Z' })
  await steps.pay(1, 5)
  expect(await mirror.pull()).toBe(0)
  const { rows } = await database.pool.query('select from agent_change')
  expect(rows).toHaveLength(1)
})

test('of changes that are old only the newest of each agent is kept, and a new mirror misses nothing', async () => {
  const later = (ms: number) => ({ pool: database.pool, now: () => new Date(Date.now() + ms), perPass: 2 })
  for (const fid of [1, 2]) await claim(fid)
  for (let n = 0; n < 3; n++) {
    for (const fid of [1, 2]) await steps.rename(fid, n)
    await derive(1, 2)
  }
  await steps.unclaim(2)
  await derive(2)
  expect(await forgetOldRows(later(keptMs - 60_000))).toBe(0)
  const removed = []
  for (let n = 0; n < 4; n++) removed.push(await forgetOldRows(later(keptMs + 60_000)))
  expect(removed).toEqual([2, 2, 1, 0])
  expect((await database.pool.query('select fid, kind from agent_change order by seq')).rows).toEqual([
    { fid: 1, kind: 'upsert' },
    { fid: 2, kind: 'delist' },
  ])
  const mirror = new Mirror()
  await mirror.catchUp()
  expect([...mirror.agents.keys()]).toEqual([1])
})

test('a change that is not committed holds back those after it, and none is passed over', async () => {
  await claim(1)
  await claim(2)
  const mirror = new Mirror()
  let second: Promise<unknown> | undefined
  await inTransaction(database.pool, async (db) => {
    await lockJoin(db)
    await deriveAgents(db, { fids: [1], chainOrder: chainNames, now: new Date() })
    second = derive(2)
    expect(await mirror.pull()).toBe(0)
  })
  await second
  expect(await mirror.pull()).toBe(2)
  expect([...mirror.agents.keys()]).toEqual([1, 2])
})

test('a page has a thousand lines at most, and the next one goes on', async () => {
  for (let fid = 1; fid <= 1_500; fid++) {
    await insert(database.pool, 'agent_change', { fid, kind: 'delist', changed_at: birth })
  }
  const mirror = new Mirror()
  expect([await mirror.pull(), await mirror.pull(), await mirror.pull()]).toEqual([1_000, 500, 0])
})

test('the answer is NDJSON that may be kept for five seconds; nonsense asks from the beginning', async () => {
  await claim(1)
  await derive(1)
  const answer = await api.get('/data/changes.ndjson?since=what')
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  expect(answer.headers.get('cache-control')).toBe('public, max-age=5')
  expect(await answer.text()).toMatch(
    /^\{"seq" ?: ?\d+, ?"kind" ?: ?"upsert", ?"fid" ?: ?1, ?"agent" ?: ?\{.*\}, ?"claim_sha256" ?: ?null\}\n$/,
  )
})
