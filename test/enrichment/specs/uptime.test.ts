import { expect, test } from 'vitest'
import { agentUptime } from '../../../db/queries/documents/uptime.ts'
import type { WebHost } from '../../../devnet/hosts/web-host.ts'
import { profileOf, publish, startAgentsJob, startHosts } from '../../derive/agents/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { insert, seedAgent } from '../../support/seed.ts'

const source = 'spec_discovery'
const hour = 3_600_000
const day = 24 * hour

const database = testDatabase()

let nextFid = 1
const newFid = () => nextFid++

interface Probe {
  readonly checked_at: Date
  readonly alive: boolean
  readonly status: string
  readonly latency_ms: number | null
}

test('every check is kept with its status and time, counted by day, and forgotten when it is old', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [WebHost]
  // Noon, so that passes of seven hours meet the days that are reckoned with below.
  const clock = createClock('2026-06-01T12:00:00Z')
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = newFid()
  await publish(pool, host, fid, { services: ['A2A'] })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  const looks: Probe[] = []
  const look = async (status: number) => {
    host.faults.clear()
    if (status !== 200) host.faults.add({ kind: 'status', status }, { times: Number.POSITIVE_INFINITY })
    expect(await job.read(source)).toHaveLength(1)
    const { rows } = await pool.query<Probe & { agrees: boolean }>(
      `select p.checked_at, p.alive, p.status, p.latency_ms,
              (p.status, p.http_status, p.latency_ms) is not distinct from (s.last_check_status, s.http_status, s.latency_ms) as agrees
         from spec_probe p join agent_spec s using (fid, kind, url)
        where p.fid = $1 and p.kind = 'a2a' and p.checked_at = $2`,
      [fid, clock.now()],
    )
    expect(rows).toEqual([expect.objectContaining({ alive: status === 200, agrees: true })])
    looks.push(rows[0]!)
  }
  const days = async () => {
    const { rows } = await pool.query<{ day: string; checks: number; alive: number; latency_ms: number | null }>(
      `select day::text, checks, alive, latency_ms from spec_day where fid = $1 and kind = 'a2a' order by day`,
      [fid],
    )
    return rows
  }
  const told = async () => (await days()).map(({ day, checks, alive }) => `${day} ${alive}/${checks}`)

  for (const status of [200, 500, 200, 200]) {
    await look(status)
    clock.pass(7 * hour)
  }
  expect(await told()).toEqual(['2026-06-01 1/2', '2026-06-02 2/2'])
  expect(looks.map(({ status }) => status)).toEqual(['ok', 'http_5xx', 'ok', 'ok'])
  // The median is one of the latencies; of two the lower one.
  const second = looks.slice(2).map(({ latency_ms }) => latency_ms!)
  expect((await days()).map(({ latency_ms }) => latency_ms)).toEqual([looks[0]!.latency_ms, Math.min(...second)])

  // A day without a sign of life has no latency; checks go after seven days, days after ninety.
  clock.pass(8 * day)
  await look(500)
  const { rows } = await pool.query(
    `select checked_at, count(*) over () as kinds from spec_probe where fid = $1 and kind = 'a2a'`,
    [fid],
  )
  expect(rows.map(({ checked_at }) => checked_at)).toEqual([clock.now()])
  expect((await days()).at(-1)).toEqual({ day: '2026-06-10', checks: 1, alive: 0, latency_ms: null })
  clock.pass(Date.parse('2026-08-30T01:00:00Z') - clock.now().getTime())
  await look(200)
  expect(await told()).toEqual(['2026-06-02 2/2', '2026-06-10 0/1', '2026-08-30 1/1'])
  clock.pass(day)
  await look(200)
  expect(await told()).toEqual(['2026-06-10 0/1', '2026-08-30 1/1', '2026-08-31 1/1'])

  // Who leaves the index leaves nothing behind.
  await pool.query('delete from registration_transfer where agent_id = $1', [fid])
  await job.join()
  const left = await pool.query(
    `select (select count(*) from spec_probe where fid = $1) as probes, (select count(*) from spec_day where fid = $1) as days`,
    [fid],
  )
  expect(left.rows).toEqual([{ probes: 0, days: 0 }])
})

const url = 'https://a.example/card.json'
const document = { kind: 'a2a', url, declared: true, has_content: true, skills: [], tools: [], domain_verified: false }
const state = { first_seen_at: new Date(), last_check_at: new Date(), last_check_status: 'ok', consecutive_failures: 0 }

/** Uptimes of an agent with these days of checks; all in one transaction, so that midnight does not fall between. */
async function uptimesOf(days: readonly (readonly [ago: number, alive: number, checks: number])[]) {
  const fid = newFid()
  await seedAgent(database.pool, { fid })
  await insert(database.pool, 'agent_spec', { ...document, ...state, fid })
  const client = await database.pool.connect()
  try {
    await client.query('begin')
    for (const [ago, alive, checks] of days) {
      await client.query(
        `insert into spec_day (fid, day, kind, url, checks, alive)
         select $1, (now() at time zone 'UTC')::date - $2::int, 'a2a', $3, $4, $5`,
        [fid, ago, url, checks, alive],
      )
    }
    const [shown] = (await profileOf(client as never, fid)).agent_specs.documents
    const asked = await agentUptime(client, { fid, days: 30 })
    const [watched] = JSON.parse(asked!.documents)
    expect([watched.uptime_7d, watched.uptime_30d]).toEqual([shown.uptime_7d, shown.uptime_30d])
    expect(watched.days).toHaveLength(30)
    const seen = watched.days.flatMap(({ alive, checks }: { alive: number; checks: number }, index: number) =>
      checks > 0 ? [[29 - index, alive, checks]] : [],
    )
    expect(seen).toEqual([...days].filter(([ago]) => ago < 30).sort(([one], [other]) => other - one))
    return [shown.uptime_7d, shown.uptime_30d]
  } finally {
    await client.query('rollback')
    client.release()
  }
}

test('an uptime is the share of the checks of its days, today’s included; fewer than five checks say nothing', async () => {
  expect(await uptimesOf([])).toEqual([null, null])
  expect(await uptimesOf([[0, 4, 4]])).toEqual([null, null])
  expect(await uptimesOf([[0, 5, 5]])).toEqual([1, 1])
  expect(await uptimesOf([[6, 0, 5]])).toEqual([0, 0])
  expect(await uptimesOf([[7, 5, 5]])).toEqual([null, 1])
  expect(await uptimesOf([[29, 2, 6]])).toEqual([null, 0.3333])
  expect(await uptimesOf([[30, 6, 6]])).toEqual([null, null])
  expect(
    await uptimesOf([
      [0, 1, 3],
      [6, 1, 3],
      [7, 4, 4],
      [29, 3, 3],
    ]),
  ).toEqual([0.3333, 0.6923])
})
