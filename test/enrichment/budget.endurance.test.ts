import { afterEach, beforeEach, expect, test } from 'vitest'
import { wallet } from '../support/chain/rows.ts'
import { type Scene, startScene } from '../support/chain/scene.ts'

// A day of the public hub, which allows four requests a second, in a hundredth of the network: a million accounts, of
// which fifty thousand are agents, and 30 events a second. The clock moves by what the requests would have taken.

const scale = Number(process.env.BUDGET_SCALE ?? 100)
const accounts = Math.round(1_000_000 / scale)
const agents = Math.round(50_000 / scale)
const requestMs = 250
const eventsPerSecond = 30
/** A change of an agent's verification among so many events. */
const changeEvery = 200
const dayMs = 86_400_000

let scene: Scene
beforeEach(async () => {
  scene = await startScene({ follows: true })
})
afterEach(() => scene.stop())

/** Counts requests by being asked before the server forgets the oldest. */
function requestCounter() {
  let last: string | undefined
  let count = 0
  return () => {
    const { requests } = scene.hub
    const known = last === undefined ? -1 : requests.lastIndexOf(last)
    count += requests.length - 1 - known
    last = requests.at(-1)
    return count
  }
}

test('the first sweep ends within a day, and beside it a change of an agent shows within two minutes', async () => {
  const { clock, hub, job, rows, database } = scene
  for (let fid = 1; fid <= accounts; fid++) {
    scene.register(fid)
    if (fid % 2 === 0) hub.state.addVerification(fid, wallet(fid))
  }
  for (let agent = 1; agent <= agents; agent++) {
    const fid = agent * Math.floor(accounts / agents)
    hub.state.setProfile(fid, { username: `a${fid}`, displayName: `A ${fid}` })
    await rows.transfer({ chain: 'base', id: agent }, null, wallet(fid), clock.now())
  }
  hub.state.forgetEvents()

  const asked = requestCounter()
  const begunAt = clock.now().getTime()
  const waiting = new Map<number, { at: number; address: string }>()
  const latencies: number[] = []
  let told = 0
  let requests = 0
  let sweptAfter = Number.NaN
  const swept = async () => {
    const { rows: open } = await database.pool.query(
      `select from source_state where source in ('social_sweep', 'socialindex') and last_success_at is null`,
    )
    return open.length === 0
  }
  while (Number.isNaN(sweptAfter) || waiting.size > 0) {
    for (const source of ['social_shards', 'social_events', 'socialindex', 'social_follows', 'social_sweep']) {
      await job.pass(source)
      if (source === 'social_events') await job.join()
    }
    await job.join()
    const now = asked()
    clock.pass(Math.max(500, (now - requests) * requestMs))
    requests = now

    const { rows: shown } = await database.pool.query<{ fid: number; addresses: string[] }>(
      `select fid, array(select '0x' || encode(a, 'hex') from unnest(verified_addresses) a) as addresses
         from agent where fid = any ($1::bigint[])`,
      [[...waiting.keys()]],
    )
    for (const { fid, addresses } of shown) {
      const change = waiting.get(fid)
      if (!change || !addresses.includes(change.address)) continue
      latencies.push(clock.now().getTime() - change.at)
      waiting.delete(fid)
    }
    if (Number.isNaN(sweptAfter) && requests > accounts / 50 && (await swept())) {
      sweptAfter = requests
    }
    const elapsedSeconds = (clock.now().getTime() - begunAt) / 1_000
    for (; told < elapsedSeconds * eventsPerSecond && Number.isNaN(sweptAfter); told++) {
      const fid = (1 + (told % agents)) * Math.floor(accounts / agents)
      const isListed = told % changeEvery === 0 && !waiting.has(fid)
      if (!isListed) {
        hub.state.cast(1 + (told % accounts), 'gm')
        continue
      }
      const address = wallet(0xabcd0000 + told)
      hub.state.addVerification(fid, address)
      const { rowCount } = await database.pool.query('select from agent where fid = $1', [fid])
      if (rowCount === 1) waiting.set(fid, { at: clock.now().getTime(), address })
    }
  }
  latencies.sort((one, other) => one - other)
  const p99 = latencies[Math.floor(latencies.length * 0.99)] as number
  expect(latencies.length).toBeGreaterThan(10)
  expect(p99).toBeLessThanOrEqual(120_000)
  // Requests of a whole network; those for events are of the time that has passed already.
  const sweepMs = (clock.now().getTime() - begunAt) * scale
  expect(sweepMs, `${sweptAfter} requests, p99 ${p99} ms of ${latencies.length}`).toBeLessThanOrEqual(dayMs)
}, 300_000)
