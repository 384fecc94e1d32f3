import { afterAll, beforeAll, expect, test } from 'vitest'
import { sources } from '../../config/sources.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { day, minute, second } from '../../ops/time.ts'
import { WideNetwork } from '../doubles/wide-network.ts'
import { chainRows, wallet } from '../support/chain/rows.ts'
import { testDatabase } from '../support/database.ts'
import { createClock, type EnrichmentJob, startJob } from '../support/enrichment-job.ts'

// A day of the public hub, which allows four requests a second: a million accounts, of which fifty thousand are agents,
// and 30 events a second. BUDGET_SCALE divides the accounts, not the events. Requests and database are real; the clock
// is simulated: it advances by the time each request would take at the hub's rate limit, and every event comes at its
// own time, so that the figures are the same on every machine.

const scale = Number(process.env.BUDGET_SCALE ?? 50)
const accounts = Math.round(1_000_000 / scale)
const agents = Math.round(50_000 / scale)
const requestMs = second / 4
const eventMs = second / 30
/** One event in this many changes what an agent verifies. */
const changeEvery = 200
const idleMs = second / 2
/** Interval, in simulated milliseconds, at which the test checks whether the sweep and the first reads are done. */
const lookMs = (10 * minute) / scale

const clock = createClock('2026-03-01T00:00:00Z')
const database = testDatabase()
let network: WideNetwork
let hub: Hub
let job: EnrichmentJob
beforeAll(async () => {
  network = new WideNetwork(clock.now, { accounts, agents })
  hub = await startHub(network)
  const { transfer } = chainRows(database.pool)
  for (let agent = 1; agent <= agents; agent++) {
    await transfer({ chain: 'base', id: agent }, null, wallet(network.agentFid(agent)), clock.now())
  }
  const perAgent = [sources.follows.name]
  job = await startJob({ database, clock, env: { HUB_URL: hub.url }, perAgent, hubPace: 4_000 })
})
afterAll(async () => {
  await job.close()
  await hub.stop()
})

/** A change that is not shown yet: since `at` (Unix milliseconds) the agent has the address, or no longer has it. */
interface Change {
  readonly address: string
  readonly has: boolean
  readonly at: number
}

test(
  'the first sweep ends within a day, and meanwhile a change of an agent shows within two minutes',
  async () => {
    const begunAt = clock.now().getTime()
    const realBegin = performance.now()
    const time = () => clock.now().getTime()
    const waiting = new Map<number, Change>()
    const latencies: number[] = []
    const bySource: Record<string, number> = {}
    let told = 0
    let sweptAt: number | undefined
    let nextLook = begunAt + lookMs

    /** Verifies an agent's second address, or removes it again. */
    async function change(fid: number) {
      const { rowCount } = await database.pool.query('select from agent where fid = $1', [fid])
      if (rowCount === 0 || waiting.has(fid)) return
      const address = wallet(0xabcd_0000_0000 + fid)
      const has = !network.accounts.get(fid)!.verifications.has(`ethereum:${address}`)
      if (has) network.addVerification(fid, address)
      else network.removeVerification(fid, address)
      waiting.set(fid, { address, has, at: time() })
    }

    /** Advances the clock by `ms`; events of the network happen at their own times within it. */
    async function pass(ms: number) {
      const end = time() + ms
      for (; begunAt + told * eventMs <= end && sweptAt === undefined; told++) {
        clock.pass(Math.max(0, begunAt + told * eventMs - time()))
        if (told % changeEvery === 0) await change(network.agentFid(1 + (((told / changeEvery) * 7_919) % agents)))
        else network.cast(1 + (told % accounts), 'gm')
      }
      clock.pass(Math.max(0, end - time()))
    }

    async function lookForShown() {
      const { rows } = await database.pool.query<{ fid: number; addresses: string[] }>(
        `select fid, array(select '0x' || encode(a, 'hex') from unnest(verified_addresses) a) as addresses
         from agent where fid = any ($1::bigint[])`,
        [[...waiting.keys()]],
      )
      for (const { fid, addresses } of rows) {
        const { address, has, at } = waiting.get(fid)!
        if (addresses.includes(address) !== has) continue
        latencies.push(time() - at)
        waiting.delete(fid)
      }
    }

    async function isSwept() {
      const { rows } = await database.pool.query(
        `select from source_state where source in ('social_sweep', 'socialindex') and last_success_at is null
       union all
       select from source_cursor where source = 'social_sweep' and position <> ''
       limit 1`,
      )
      return rows.length === 0
    }

    while (sweptAt === undefined || waiting.size > 0) {
      const roundBegan = time()
      for (const source of ['social_shards', 'social_events', 'socialindex', 'social_follows', 'social_sweep']) {
        const before = job.hubRequests()
        await job.pass(source)
        const requests = job.hubRequests() - before
        bySource[source] = (bySource[source] ?? 0) + requests
        await pass(requests * requestMs)
        if (requests > 0) await job.join()
        if (source === 'social_events' && requests > 0 && waiting.size > 0) await lookForShown()
      }
      if (time() === roundBegan) await pass(idleMs)
      if (time() < nextLook) continue
      nextLook += lookMs
      if (sweptAt === undefined && (await isSwept())) sweptAt = time()
      if (sweptAt === undefined) expect((time() - begunAt) * scale, 'of the day have passed').toBeLessThan(2 * day)
    }

    latencies.sort((one, other) => one - other)
    const latency = (part: number) => latencies[Math.floor((latencies.length - 1) * part)] as number
    // The sweep of 1/scale of the accounts took 1/scale of the time, because the load of events was not scaled down.
    const sweepMs = (sweptAt - begunAt) * scale
    const { rows } = await database.pool.query(
      `select seq_scan, seq_tup_read, idx_scan, n_tup_ins, n_tup_upd from pg_stat_user_tables where relname = 'source_state'`,
    )
    const figures = {
      scale,
      sweepHours: sweepMs / 3_600_000,
      changes: latencies.length,
      latencySeconds: { median: latency(0.5) / second, p99: latency(0.99) / second, most: latency(1) / second },
      requests: bySource,
      events: told,
      sourceState: rows[0],
      realSeconds: Math.round((performance.now() - realBegin) / second),
      cpu: process.cpuUsage(),
    }
    process.stdout.write(`${JSON.stringify(figures)}\n`)
    expect(job.failures).toEqual([])
    expect(latencies.length).toBeGreaterThan(10)
    expect(latency(0.99)).toBeLessThanOrEqual(2 * minute)
    expect(sweepMs).toBeLessThanOrEqual(day)
  },
  3 * 3_600_000,
)
