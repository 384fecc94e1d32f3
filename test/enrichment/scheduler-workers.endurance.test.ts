import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { type Codehost, startCodehost } from '../../devnet/upstreams/codehost.ts'
import { type Explorer, startExplorer } from '../../devnet/upstreams/explorer.ts'
import { type IdentityService, startIdentityService } from '../../devnet/upstreams/identity.ts'
import { testDatabase } from '../support/database.ts'
import { type EnrichmentProcess, spawnEnrichment } from '../support/enrichment-process.ts'
import { addressOf } from '../support/seed.ts'
import { until } from '../support/until.ts'
import { mintTo } from './upstreams/job.ts'

const agentCount = 300
const kills = 50
/** Accounts that one worker asks for at once. */
const inFlight = 4
const fids = Array.from({ length: agentCount }, (_, index) => 100 + index)
const walletOf = (fid: number) => addressOf(`wallet of ${fid}`)

const database = testDatabase()
let hub: Hub
let explorer: Explorer
let identity: IdentityService
let codehost: Codehost
const workers: (EnrichmentProcess | undefined)[] = []
beforeAll(async () => {
  hub = await startHub(new HubState())
  ;[explorer, identity, codehost] = await Promise.all([startExplorer(), startIdentityService(), startCodehost()])
})
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker?.kill('SIGKILL')))
  await Promise.all([hub, explorer, identity, codehost].map((server) => server?.stop()))
})

/** Gives every agent one tag, one identity with a link to GitHub, and the account it links to; hosts answer slowly. */
async function populate() {
  const longAgo = new Date(Date.now() - 86_400_000)
  for (const fid of fids) {
    await mintTo(database.pool, { fid, addresses: [walletOf(fid)] })
    hub.state.addAccount({ fid, custody: addressOf(`custody of ${fid}`), registeredAt: longAgo })
    hub.state.addVerification(fid, walletOf(fid), { at: longAgo })
    explorer.addTag(walletOf(fid), null, { slug: `a${fid}`, name: `A ${fid}`, tagType: 'name', ordinal: 1, meta: '{}' })
    const github = { link: `https://github.com/dev${fid}`, handle: `dev${fid}`, sources: [] }
    identity.profiles.set(`farcaster,#${fid}`, {
      identity: `a${fid}`,
      platform: 'farcaster',
      links: { github },
      social: { uid: fid, follower: 1 },
    })
    codehost.accounts.set(`dev${fid}`, { user: { login: `dev${fid}`, id: fid }, repositories: [] })
  }
  for (const server of [explorer, identity, codehost]) {
    server.faults.add({ kind: 'slow', delayMs: 100 }, { times: Number.POSITIVE_INFINITY })
  }
}

function startWorker(): EnrichmentProcess {
  return spawnEnrichment({
    DATABASE_URL: database.url,
    HUB_URL: hub.url,
    HUB_POLL_SECONDS: '1',
    BLOCKSCOUT_URL: explorer.url,
    WEB3BIO_URL: identity.url,
    GITHUB_URL: codehost.url,
  })
}

async function count(text: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(`select count(*) as count from ${text}`)
  return rows[0]?.count ?? 0
}
const sources = `source in ('explorer', 'identity', 'codehost')`
const successes = () => count(`source_state where ${sources} and last_success_at is not null`)
const accounts = () => count('codehost_profile')

test('workers that are killed again and again do everything, and nothing twice', async () => {
  await populate()
  workers.push(startWorker(), startWorker())
  let done = 0 // successes never decrease
  for (let round = 0; round < kills; round++) {
    const before = await successes()
    expect(before).toBeGreaterThanOrEqual(done)
    done = before
    await until('the workers were in the middle of something', async () => {
      const now = await successes()
      return now > before || now === 3 * agentCount
    })
    const victim = round % workers.length
    await workers[victim]?.kill('SIGKILL')
    // Expires all leases, so that nothing waits for those of the killed worker.
    await database.pool.query(`update source_state set due_at = now() where lease_id is not null`)
    workers[victim] = startWorker()
  }
  await until('everything was read', async () => (await accounts()) === agentCount)
  await until('everything was derived', async () => (await count('agent where has_codehost')) === agentCount)

  expect(await count('oli_tag')).toBe(agentCount)
  expect(await count('agent_identity')).toBe(2 * agentCount)
  expect(await count(`agent where oli = 'A ' || fid`)).toBe(agentCount)
  for (const queue of ['agents', 'holders', 'registrations']) {
    await until(`every ${queue} was taken in`, async () => (await count(`due where kind = '${queue}'`)) === 0)
  }
  // Each account is asked for once, and again only when its request was in flight as the leases expired, in any worker.
  expect(codehost.faults.hits).toBeGreaterThanOrEqual(2 * agentCount)
  expect(codehost.faults.hits).toBeLessThanOrEqual(2 * (agentCount + 2 * inFlight * kills))
  expect(await count(`source_state where ${sources} and (last_outcome not in ('ok', 'empty') or failures > 0)`)).toBe(0)
  // One change when listed, then at most one for each source: profile, check of its hosts, tags, identities, account.
  const { rows } = await database.pool.query(
    'select max(n) as most from (select count(*) as n from agent_change group by fid) as changes',
  )
  expect(rows[0].most).toBeLessThanOrEqual(6)
})
