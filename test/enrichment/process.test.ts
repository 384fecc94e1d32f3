import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { documentLimits } from '../../config/limits.ts'
import { storeSendings } from '../../db/queries/webhooks/sending.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { startCodehost } from '../../devnet/upstreams/codehost.ts'
import { startExplorer } from '../../devnet/upstreams/explorer.ts'
import { startIdentityService } from '../../devnet/upstreams/identity.ts'
import { type AgentRow, storedAgents } from '../support/agent-model.ts'
import { type ChainRows, chainRows, wallet } from '../support/chain/rows.ts'
import { createTestDatabase, type OwnDatabase } from '../support/database.ts'
import { type EnrichmentProcess, spawnEnrichment } from '../support/enrichment-process.ts'
import { rounds } from '../support/rounds.ts'
import { insert } from '../support/seed.ts'
import { until } from '../support/until.ts'

let database: OwnDatabase
let hub: Hub
let rows: ChainRows
let env: Record<string, string>
const running: EnrichmentProcess[] = []
beforeEach(async () => {
  database = await createTestDatabase()
  hub = await startHub(new HubState(), { apiKey: 'key' })
  rows = chainRows(database.pool)
  env = { DATABASE_URL: database.url, HUB_URL: hub.url, HUB_POLL_SECONDS: '0.2' }
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((job) => job.kill('SIGKILL')))
  await hub.stop()
  await database.drop()
})

function start(more: Record<string, string> = {}, ...args: string[]): EnrichmentProcess {
  const job = spawnEnrichment({ ...env, ...more }, args)
  running.push(job)
  return job
}
const agents = () => storedAgents(database.pool)
const anHourAgo = new Date(Date.now() - 3_600_000)

describe('the job', () => {
  test('says what is on and what is off and why, serves its health, and ends on SIGTERM', async () => {
    const job = start()
    await job.untilOutput(/"msg":"socialindex on/)
    expect(job.output()).toMatch(/look-up by address off: NEYNAR_API_KEY is not set/)
    const { metrics } = JSON.parse(job.output().split('\n')[0]!)
    expect(await (await fetch(`http://${metrics}/readyz`)).text()).toBe('ready\n')
    await until('the sweep was counted', async () => {
      const text = await (await fetch(`http://${metrics}/metrics`)).text()
      expect(text).toMatch(/^agent_directory_transparency_log_number 1$/m)
      return /enrichment_reads_total\{source="social_sweep",outcome="ok"\} [1-9]/.test(text)
    })
    expect(await job.kill('SIGTERM')).toBe(0)
  })

  test('with a key says that nobody is swept, and does not print the key', async () => {
    const job = start({ NEYNAR_URL: hub.url, NEYNAR_API_KEY: 'very-secret' })
    await job.untilOutput(/look-up by address on .*sweep of all FIDs off/)
    await job.kill('SIGTERM')
    expect(job.output()).not.toContain('very-secret')
  })

  test('shows within its poll what changes at the hub, and goes on after the hub was away', async () => {
    hub.state.addAccount({ fid: 7, custody: wallet(70), registeredAt: anHourAgo })
    await rows.transfer({ chain: 'base', id: 0 }, null, wallet(1), anHourAgo)
    const job = start()
    await until('the sweep was done', () => hub.requests.some((path) => path.startsWith('/v1/fids?shard_id=2')))
    hub.state.addVerification(7, wallet(1))
    await until('the agent was listed', async () => (await agents())[0]?.agent_status === 'active')
    expect(job.output()).toContain('no second hub: HUB_URL names one operator')
    hub.faults.add({ kind: 'status', status: 503 }, { times: 3, path: '/v1/events' })
    hub.state.removeVerification(7, wallet(1), 'revoke')
    await until('the agent was historical', async () => (await agents())[0]?.agent_status === 'historical')
  })

  test('forgets the last webhook, what it was sent and the events of old, though nobody else has one', async () => {
    const deletedAt = new Date(Date.now() - 25 * 3_600_000)
    await insert(database.pool, 'webhook', {
      id: 'wh-last',
      fid: 7,
      url: 'https://ada.example/hooks',
      types: ['agent.listed'],
      method: 'eip191',
      nonce: 'n',
      proof_sha256: Buffer.alloc(32),
      token_sha256: Buffer.alloc(32),
      after_seq: 0,
      created_at: deletedAt,
      deleted_at: deletedAt,
    })
    const attempts = [{ seq: 1, at: deletedAt, outcome: 'ok', elapsedMs: 1 }]
    const sent = { id: 'wh-last', moves: 0, afterSeq: 1, isAll: true, attempts, endedFor: null }
    await storeSendings(database.pool, [sent], deletedAt)
    const at = new Date(Date.now() - (documentLimits.changeDays + 1) * 86_400_000)
    await insert(database.pool, 'webhook_event', {
      subject: 'claim:7:1',
      type: 'agent.claimed',
      fid: 7,
      at,
      data: '{}',
    })
    start()
    for (const table of ['webhook', 'webhook_standing', 'webhook_delivery', 'webhook_event']) {
      await until(`${table} was empty`, async () => {
        const { rows } = await database.pool.query(`select from ${table}`)
        return rows.length === 0
      })
    }
  })

  test.each([
    [['--once', '--source', 'socialindex'], {}, 2, /--fid must be a positive integer/],
    [['--once', '--fid', '7'], {}, 2, /--source must be one of: socialindex/],
    [['--once', '--source', 'weather', '--fid', '7'], {}, 2, /--source must be one of/],
    [['--nonsense'], {}, 2, /--nonsense/],
    [
      [],
      { HUB_URL: 'hub', HUB_POLL_SECONDS: 'often' },
      1,
      /HUB_URL must be an http\(s\) address\n {2}HUB_POLL_SECONDS must be/,
    ],
    [['--help'], {}, 0, /npm run enrichment/],
  ])('%j with %j ends with %i', async (args, more, code, text) => {
    const job = start(more, ...args)
    expect(await job.untilExit()).toBe(code)
    expect(job.output()).toMatch(text)
  })

  test('refuses a database without tables in one line', async () => {
    await database.pool.query('drop schema public, directory cascade; create schema public')
    const job = start()
    expect(await job.untilExit()).toBe(1)
    expect(job.output()).toBe('the database is not ready: it has no tables yet; run `npm run migrate` first\n')
  })

  test('reads one account for a person, due or not', async () => {
    hub.state.addAccount({ fid: 7, custody: wallet(70) })
    hub.state.addVerification(7, wallet(1))
    await rows.transfer({ chain: 'base', id: 0 }, null, wallet(1), anHourAgo)
    for (let time = 0; time < 2; time++) {
      const job = start({}, '--once', '--source', 'socialindex', '--fid', '7')
      expect(await job.untilExit()).toBe(0)
      expect(JSON.parse(job.output())).toEqual({
        source: 'socialindex',
        fid: 7,
        outcome: 'ok',
        reads: [{ subject: 'fid:7', outcome: 'ok' }],
        listed: true,
        claimed: false,
        verified_addresses: [wallet(1)],
      })
    }
    hub.faults.add({ kind: 'html' }, { times: 10 })
    const job = start({}, '--once', '--source', 'socialindex', '--fid', '7')
    expect(await job.untilExit()).toBe(1)
    expect(job.output()).toMatch(/not JSON/)
    expect(job.output()).toMatch(/"outcome":"bad_answer"/)
  })
})

test('every source about an account is asked for a person, and what was read is told', async () => {
  const [explorer, identity, codehost] = await Promise.all([startExplorer(), startIdentityService(), startCodehost()])
  onTestFinished(async () => {
    await Promise.all([explorer, identity, codehost].map((server) => server.stop()))
  })
  hub.state.addAccount({ fid: 7, custody: wallet(70) })
  hub.state.addAccount({ fid: 8, custody: wallet(80) })
  hub.state.addVerification(7, wallet(1))
  hub.state.setProfile(7, { github: 'ada' })
  hub.state.follow(7, 8, anHourAgo)
  for (const id of [0, 4]) {
    await rows.transfer({ chain: 'base', id }, null, wallet(1), anHourAgo)
    await rows.setUri({ chain: 'base', id }, 'data:,{"name":"Ada","services":[]}', anHourAgo)
  }
  explorer.addTag(wallet(1), null, { slug: 'ada', name: 'Ada', tagType: 'name', ordinal: 1, meta: '{}' })
  explorer.addLabel(wallet(1), {
    tag_id: 'contract_name',
    tag_value: 'Ada',
    chain_id: 'eip155:8453',
    time: anHourAgo.toISOString(),
    attester: wallet(9),
  })
  identity.profiles.set('farcaster,#7', { identity: 'ada', platform: 'farcaster', social: { uid: 7 } })
  codehost.accounts.set('ada', { user: { login: 'ada', id: 1 }, repositories: [] })
  const about = [{ subject: 'fid:7', outcome: 'ok' }]
  const nothing = [{ subject: 'fid:7', outcome: 'empty' }]
  const expected = {
    socialindex: about,
    social_lookup: [{ subject: `address:${wallet(1)}`, outcome: 'ok' }],
    agent_uri: [
      { subject: 'token:base:0', outcome: 'ok' },
      { subject: 'token:base:4', outcome: 'ok' },
    ],
    spec_discovery: nothing, // its registrations name no host
    explorer: about,
    explorer_oli: about,
    identity: about,
    codehost: about,
    social_follows: about,
  }
  const all = {
    NEYNAR_URL: hub.url,
    NEYNAR_API_KEY: 'key',
    BLOCKSCOUT_URL: explorer.url,
    OLI_URL: explorer.url,
    WEB3BIO_URL: identity.url,
    GITHUB_URL: codehost.url,
  }
  for (const [source, reads] of Object.entries(expected)) {
    const job = start(all, '--once', '--source', source, '--fid', '7')
    const code = await job.untilExit()
    expect({ code, ...JSON.parse(job.output()) }).toMatchObject({ code: 0, source, fid: 7, reads, listed: true })
  }
  const off = start({}, '--once', '--source', 'social_lookup', '--fid', '7')
  expect(await off.untilExit()).toBe(1)
  expect(off.output()).toMatch(/^social_lookup is off: .*NEYNAR_API_KEY is not set/)
})

const kills = rounds(2, 5)
const accounts = 300

test(`killed ${kills} times in the middle of its work, it loses nothing and does nothing twice`, {
  tags: ['rounds'],
}, async () => {
  for (let fid = 1; fid <= accounts; fid++) {
    hub.state.addAccount({ fid, custody: wallet(0xc000 + fid), registeredAt: anHourAgo })
    if (fid % 3 === 0) hub.state.addVerification(fid, wallet(fid), { at: anHourAgo })
    if (fid % 30 === 0) await rows.transfer({ chain: 'base', id: fid }, null, wallet(fid), anHourAgo)
  }
  hub.state.forgetEvents()
  for (let kill = 0; kill < kills; kill++) {
    const job = start()
    await job.untilOutput(/socialindex on/)
    const before = hub.requests.length
    const wanted = 5 + kill * 10
    await until('some requests were made', () => hub.requests.length >= Math.min(before + wanted, 990))
    hub.state.removeVerification(3 * (kill + 1), wallet(3 * (kill + 1)), 'prune')
    hub.state.addVerification(30 * (kill + 1) + 1, wallet(30 * (kill + 1)))
    await rows.transfer({ chain: 'celo', id: kill }, null, wallet(30 * (kill + 1)), anHourAgo)
    expect(await job.kill('SIGKILL')).toBe('SIGKILL')
    // What the dead one had leased runs out.
    await database.pool.query('update source_state set due_at = now() where lease_id is not null')
  }
  start()
  const expected = [...hub.state.accounts.values()]
    .flatMap(({ fid, verifications }) => [...verifications.keys()].map((key) => `${fid} ${key.split(':')[1]}`))
    .sort()
  const live = async () => {
    const { rows } = await database.pool.query(
      `select fid || ' 0x' || encode(address, 'hex') as pair from verified_address where ended_at is null`,
    )
    return rows.map(({ pair }) => pair).sort()
  }
  await until('all verifications were known', async () => (await live()).join() === expected.join())
  const tokensOf = ({ holdings }: AgentRow) => holdings.filter(({ reason }) => reason === null).length
  await until('every holder was an agent', async () => {
    const listed = await agents()
    return listed.filter((agent) => agent.fid % 30 === 0).length === accounts / 30
  })
  await until('both agents of each shared address had both tokens', async () => {
    const listed = await agents()
    return Array.from({ length: kills }, (_, kill) => 30 * (kill + 1)).every((fid) => {
      return [fid, fid + 1].every((one) => {
        const agent = listed.find((agent) => agent.fid === one)
        return agent !== undefined && tokensOf(agent) === (agent.verified_addresses.length > 0 ? 2 : 0)
      })
    })
  })
  const { rows: twice } = await database.pool.query(
    'select fid, address from verified_address group by fid, address having count(*) > 1',
  )
  expect(twice).toEqual([])
})
