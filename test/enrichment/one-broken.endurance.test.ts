import { afterAll, beforeAll, expect, test } from 'vitest'
import { chains } from '../../config/chains.ts'
import { sources } from '../../config/sources.ts'
import { addSubjects } from '../../db/queries/sources/source-state.ts'
import type { HostFault } from '../../devnet/hosts/host-faults.ts'
import { startWebHost, type WebHost } from '../../devnet/hosts/web-host.ts'
import { startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { startCodehost } from '../../devnet/upstreams/codehost.ts'
import { startExplorer } from '../../devnet/upstreams/explorer.ts'
import { startIdentityService } from '../../devnet/upstreams/identity.ts'
import { readConfig } from '../../enrichment/config.ts'
import { createSources, type Sources } from '../../enrichment/installed-sources.ts'
import { runPass } from '../../enrichment/schedule/scheduler.ts'
import { hubSubject } from '../../enrichment/socialindex/shards.ts'
import { profileOf, publish } from '../derive/agents/job.ts'
import { runJoin } from '../derive/passes.ts'
import { testDatabase } from '../support/database.ts'
import { createClock } from '../support/enrichment-job.ts'
import { addressOf } from '../support/seed.ts'

const fid = 7
const longMs = 8 * 86_400_000 // longer than any source waits
const clock = createClock('2026-06-01T00:00:00Z')
const stops: (() => Promise<unknown>)[] = []
const politeness = { intervalMs: 0, maxWaiting: 1_000, maxWaitMs: 10_000 } // for our own hosts
const database = testDatabase()
let host: WebHost
let all: Sources
/** By source, the double of the host it asks. */
let doubles: Record<string, { faults: { add(fault: HostFault, scope: { times: number }): void; clear(): void } }>

beforeAll(async () => {
  const hub = await startHub(new HubState(clock.now))
  const [explorer, labels] = await Promise.all([startExplorer(), startExplorer()])
  const [identity, codehost] = await Promise.all([startIdentityService(), startCodehost()])
  host = await startWebHost()
  stops.push(...[hub, explorer, labels, identity, codehost, host].map(({ stop }) => stop))
  const address = addressOf(`wallet of ${fid}`)
  for (const one of [fid, 8]) hub.state.addAccount({ fid: one, custody: addressOf(`custody ${one}`) })
  hub.state.addVerification(fid, address)
  hub.state.setProfile(fid, { username: 'ada', github: 'ada' })
  hub.state.follow(fid, 8, clock.now())
  explorer.addTag(address, null, { slug: 'ada', name: 'Ada', tagType: 'name', ordinal: 1, meta: '{}' })
  const attester = addressOf('attester')
  const time = clock.now().toISOString()
  labels.addLabel(address, { tag_id: 'contract_name', tag_value: 'Ada', chain_id: 'eip155:8453', time, attester })
  identity.profiles.set(`farcaster,#${fid}`, { identity: 'ada', platform: 'farcaster', social: { uid: fid } })
  codehost.accounts.set('ada', { user: { login: 'ada', id: 1 }, repositories: [] })
  await publish(database.pool, host, fid)
  host.pages.set('/file.json', { body: { name: 'Ada', services: [{ name: 'MCP', endpoint: `${host.url}/mcp` }] } })
  await database.pool.query('update registration set agent_uri = $1, agent_uri_length = length($1)', [
    `${host.url}/file.json`,
  ])

  const config = readConfig({
    HUB_URL: hub.url,
    BLOCKSCOUT_URL: explorer.url,
    OLI_URL: labels.url,
    WEB3BIO_URL: identity.url,
    GITHUB_URL: codehost.url,
    EGRESS_ALLOW: host.name,
  })
  all = createSources({ config, chains, pool: database.pool, now: clock.now, politeness })
  doubles = { socialindex: hub, explorer, explorer_oli: labels, identity, codehost }
  await addSubjects(database.pool, sources.shards.name, [hubSubject], { priority: 0, dueAt: clock.now() })
})
afterAll(async () => {
  await all?.close()
  await Promise.all(stops.map((stop) => stop()))
})

/** Runs everything that is due; returns, by source, the distinct outcomes of its reads. */
async function round(): Promise<Record<string, string>> {
  const { pool } = database
  const { now } = clock
  const pass = { pool, now, random: () => 0.5, failed: () => {} }
  const join = { pool, now, settlementOverloads: 'spec', lookups: false, perAgent: all.perAgent } as const
  const ended = new Map<string, string[]>()
  for (let worked = true; worked; ) {
    worked = (await runJoin(join)) > 0
    for (const source of all.installed) {
      const { outcomes } = await runPass(source, pass)
      if (outcomes.length > 0) ended.set(source.name, [...(ended.get(source.name) ?? []), ...outcomes])
      worked ||= outcomes.length > 0
    }
  }
  return Object.fromEntries([...ended].map(([name, outcomes]) => [name, [...new Set(outcomes)].sort().join()]))
}

const about = ['socialindex', 'agent_uri', 'spec_discovery', 'explorer', 'explorer_oli', 'identity', 'codehost']
async function state(source: string) {
  const { rows } = await database.pool.query('select * from source_state where source = $1', [source])
  return rows[0]
}

/** The agent's profile without times of reads, latencies and uptimes. */
async function shown() {
  const text = JSON.stringify(await profileOf(database.pool, fid), (key, value) =>
    /^(fetched_at|last_check_at|last_alive_at|latency_ms|last_seen_at|last_\w+_at|uptime_\d+d)$/.test(key)
      ? undefined
      : value,
  )
  return JSON.parse(text)
}

const ways: readonly [way: string, fault: HostFault, outcome: string][] = [
  ['429 with seconds to wait', { kind: 'rate-limited', retryAfter: 120 }, 'rate_limited'],
  ['500', { kind: 'status', status: 500 }, 'unavailable'],
  ['never', { kind: 'hang' }, 'unavailable'],
  ['a page with status 200', { kind: 'html' }, 'bad_answer'],
  ['half an answer', { kind: 'truncated' }, 'unavailable'],
  ['another schema', { kind: 'wrong-schema' }, 'bad_answer'],
]
/** The one source tested with a host that never answers: each such read takes its whole timeout of ten seconds. */
const hanging = 'identity'

test('at first every source answers', async () => {
  const ended = await round()
  expect(ended).toMatchObject(Object.fromEntries(about.map((name) => [name, 'ok'])))
  expect(await shown()).toMatchObject({
    handle: 'ada',
    oli: 'Ada',
    oli_tags: [{}, {}],
    agent_identities: [{}],
    codehost_profiles: { login: 'ada' },
    erc8004_records: [{ uri_status: 'ok', name: 'Ada' }],
    spec_check_status: 'found',
  })
})

for (const broken of ['identity', 'socialindex', 'explorer', 'explorer_oli', 'codehost']) {
  test.each(ways.filter(([, { kind }]) => kind !== 'hang' || broken === hanging))(
    `${broken} that answers %s keeps what it said, and keeps nobody else from reading`,
    async (_, fault, outcome) => {
      const { faults } = doubles[broken]!
      const before = await shown()
      const successAt = (await state(broken)).last_success_at
      const at = clock.pass(longMs)
      faults.add(fault, { times: Number.POSITIVE_INFINITY })
      const ended = await round()
      expect(ended[broken]).toBe(outcome)
      expect(await state(broken)).toMatchObject({ last_attempt_at: at, last_success_at: successAt })
      for (const other of about.filter((name) => name !== broken)) {
        expect({ other, ended: ended[other] }).toEqual({ other, ended: 'ok' })
        expect(await state(other)).toMatchObject({ last_success_at: at, last_outcome: 'ok' })
      }
      expect(await shown()).toEqual(before)
      faults.clear()
      const healedAt = clock.pass(longMs)
      await round()
      expect(await state(broken)).toMatchObject({ last_success_at: healedAt, last_outcome: 'ok', last_error: null })
    },
  )
}
