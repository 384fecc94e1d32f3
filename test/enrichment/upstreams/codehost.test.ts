import { expect, onTestFinished, test } from 'vitest'
import { startCodehost } from '../../../devnet/upstreams/codehost.ts'
import { loginOf } from '../../../enrichment/codehost/login.ts'
import { codehost, namesAgent } from '../../../enrichment/codehost/source.ts'
import { profileOf } from '../../derive/agents/job.ts'
import { serveCanned } from '../../doubles/canned.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { fixture, readFixture } from '../../support/fixture.ts'
import { addressOf, birth, insert, seedSent } from '../../support/seed.ts'
import { mintTo, startUpstreamJob, stateOf } from './job.ts'

const database = testDatabase()

const clock = createClock('2026-06-01T00:00:00Z')
const day = 86_400_000
const recorded = fixture('sources/codehost/github.get-user.200.json')
const unknown = fixture('sources/codehost/github.get-user.404.json')
const [{ response: repository }] = fixture('sources/codehost/github.get-repository.octokit-fixture.json')

async function startDouble() {
  const double = await startCodehost()
  onTestFinished(double.stop)
  return double
}

/** An agent whose account in the network names one on GitHub. */
async function addAgent(fid: number, github: string | null) {
  await mintTo(database.pool, { fid, addresses: [addressOf(`wallet of ${fid}`)] })
  await insert(database.pool, 'social_profile', { fid, handle: `agent${fid}`, github, updated_at: clock.now() })
}

const repo = (login: string, more: object = {}) => ({
  ...repository,
  owner: { ...repository.owner, login },
  fork: false,
  ...more,
})

test('a recorded account is shown with what its repositories come to, and the filter finds the agent', async () => {
  const { pool } = database
  const { login } = recorded.body
  const body = [
    repo(login, { stargazers_count: 40, language: 'Python', pushed_at: '2026-01-02T03:04:05Z' }),
    repo(login, { stargazers_count: 2, language: 'Python', pushed_at: '2026-02-02T03:04:05Z' }),
    repo(login, { stargazers_count: 1, language: 'C++', pushed_at: null }),
    repo(login, { stargazers_count: 1_000, language: 'Go', fork: true }),
  ]
  const server = await serveCanned((path) => (path.endsWith('/repos') ? { body } : { body: recorded.body }))
  onTestFinished(server.stop)
  const job = startUpstreamJob({ database, clock, url: server.url, create: codehost })
  await addAgent(1, `@${login}`)
  await job.join()
  expect(await job.read()).toEqual(['ok'])
  await job.join()
  expect(await profileOf(pool, 1)).toMatchObject({
    last_codehost_at: clock.now().toISOString(),
    codehost_profiles: {
      login,
      user_id: recorded.body.id,
      type: 'User',
      url: `https://github.com/${login}`,
      followers: recorded.body.followers,
      account_created_at: '2010-07-09T06:10:06.000Z',
      total_stars: 43,
      top_languages: ['Python', 'C++'],
      last_push_at: '2026-02-02T03:04:05.000Z',
      verified: false,
      source: 'socialindex',
      fetched_at: clock.now().toISOString(),
    },
  })
  const { rows } = await pool.query('select has_codehost from agent where fid = 1')
  expect(rows).toEqual([{ has_codehost: true }])
})

test('what has not changed is asked for by its tag, costs no row, and moves the time', async () => {
  const { pool } = database
  const double = await startDouble()
  double.accounts.set('steady', { user: { ...recorded.body, login: 'steady' }, repositories: [repo('steady')] })
  const job = startUpstreamJob({ database, clock, url: double.url, create: codehost })
  await addAgent(2, 'steady')
  await job.join()
  await pool.query(`delete from source_state where subject <> 'fid:2'`)
  await job.read()
  const row = async () => (await pool.query('select xmin::text from codehost_profile where fid = 2')).rows
  const before = await row()
  const at = clock.pass(2 * day)
  expect(await job.read()).toEqual(['ok'])
  expect(double.requests.slice(-2).map(({ headers }) => typeof headers['if-none-match'])).toEqual(['string', 'string'])
  expect(await row()).toEqual(before)
  expect((await profileOf(pool, 2)).codehost_profiles.fetched_at).toBe(at.toISOString())
  double.accounts.set('steady', { user: { ...recorded.body, login: 'steady', followers: 99 }, repositories: [] })
  clock.pass(2 * day)
  await job.read()
  expect((await profileOf(pool, 2)).codehost_profiles).toMatchObject({ followers: 99, total_stars: 0 })
})

test('an account that does not exist gives way to the next that the agent names; none at all clears the old one', async () => {
  const { pool } = database
  const double = await startDouble()
  double.accounts.set('second', { user: { ...recorded.body, login: 'Second' }, repositories: [] })
  const job = startUpstreamJob({ database, clock, url: double.url, create: codehost })
  await addAgent(3, 'first')
  const fetched = { sources: [], fetched_at: clock.now() }
  await insert(pool, 'agent_identity', { fid: 3, platform: 'github', identity: 'second', ...fetched })
  await job.join()
  await pool.query(`delete from source_state where subject <> 'fid:3'`)
  expect(await job.read()).toEqual(['ok'])
  expect((await profileOf(pool, 3)).codehost_profiles).toMatchObject({ login: 'Second', source: 'identity' })

  await pool.query('delete from agent_identity where fid = 3')
  await job.join()
  expect(await job.read()).toEqual(['empty'])
  await job.join()
  expect((await profileOf(pool, 3)).codehost_profiles).toBeNull()
  expect((await pool.query('select has_codehost from agent where fid = 3')).rows).toEqual([{ has_codehost: false }])
})

test('an account that only a registration sent by a stranger names is not the agent’s', async () => {
  const { pool } = database
  const double = await startDouble()
  double.accounts.set('stranger', { user: { ...recorded.body, login: 'stranger' }, repositories: [] })
  const job = startUpstreamJob({ database, clock, url: double.url, create: codehost })
  await addAgent(9, null)
  await seedSent(pool, { chain: 'base', id: 9_999, owner: addressOf('wallet of 9'), uri: '' })
  const services = JSON.stringify([{ name: 'web', endpoint: 'https://github.com/stranger', version: null }])
  await insert(pool, 'registration_document', {
    chain: 'base',
    agent_id: 9_999,
    uri_status: 'ok',
    services,
    updated_at: birth,
  })
  await job.join()
  await pool.query(`delete from source_state where subject <> 'fid:9'`)
  await job.read()
  await job.join()
  expect((await profileOf(pool, 9)).codehost_profiles).toBeNull()
  expect(double.requests).toEqual([])
})

test('the recorded answer about nobody is an answer; wrong credentials and somebody else are none', async () => {
  const { pool } = database
  const refused = fixture('sources/codehost/github.bad-credentials.401.json')
  let answer: { status: number; body: unknown } = { status: 200, body: recorded.body }
  const server = await serveCanned((path) => (path.endsWith('/repos') ? { body: [] } : answer))
  onTestFinished(server.stop)
  const job = startUpstreamJob({ database, clock, url: server.url, create: codehost })
  await addAgent(4, recorded.body.login)
  await job.join()
  await pool.query(`delete from source_state where subject <> 'fid:4'`)
  expect(await job.read()).toEqual(['ok'])
  for (const [given, outcome] of [
    [refused, 'refused'],
    [{ status: 200, body: { ...recorded.body, login: 'somebody-else', id: 5 } }, 'bad_answer'],
  ] as const) {
    answer = given
    clock.pass(2 * day)
    expect(await job.read()).toEqual([outcome])
    expect((await profileOf(pool, 4)).codehost_profiles.login).toBe(recorded.body.login)
  }
  answer = unknown
  clock.pass(2 * day)
  expect(await job.read()).toEqual(['empty'])
  expect((await profileOf(pool, 4)).codehost_profiles).toBeNull()
})

test('the last request of an hour is answered and closes the host until the next', async () => {
  const { pool } = database
  const reset = Math.floor(clock.now().getTime() / 1000) + 1_800
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) }
  const server = await serveCanned((path) => ({ headers, body: path.endsWith('/repos') ? [] : recorded.body }))
  onTestFinished(server.stop)
  const job = startUpstreamJob({ database, clock, url: server.url, create: codehost, name: 'spent' })
  await addAgent(5, recorded.body.login)
  await job.join()
  await pool.query(`delete from source_state where subject <> 'fid:5'`)
  expect(await job.read()).toEqual(['postponed']) // between the account and its repositories
  expect(await job.read()).toEqual([])
  const { due_at, failures } = await stateOf(pool, 'codehost', 5)
  expect([due_at.getTime(), failures]).toEqual([reset * 1000, 0])
})

test('a login is found in a handle and in an address, and nowhere else', () => {
  const logins = [
    'octocat',
    '@Octocat',
    'https://github.com/octocat/repo',
    'github.com/octocat?tab=1',
    'https://www.github.com/orgs/octocat',
  ]
  expect(logins.map(loginOf)).toEqual(logins.map(() => 'octocat'))
  expect(loginOf(readFixture('documents/code__01-managed-user.txt'))).toBe('mona_shop')
  const none = [
    '',
    'a b',
    '-x',
    'https://gitlab.com/octocat',
    'https://github.com/topics/ai',
    'x'.repeat(40),
    '../admin',
    'mona_',
    'mona_a_shop',
    `${'x'.repeat(36)}_shop`,
  ]
  expect(none.map(loginOf)).toEqual(none.map(() => undefined))
})

test('an account is verified when it names the agent as well', () => {
  const agent = { fid: 1, handle: 'ada', addresses: [addressOf('ada')], named: [], pages: ['https://www.ada.shop/a2a'] }
  const verified = (blog: string | null, bio: string | null) => namesAgent({ blog, bio }, agent)
  expect(verified(null, `pay ${addressOf('ada').toUpperCase().replace('0X', '0x')}`)).toBe(true)
  expect(verified('https://farcaster.xyz/ada', null)).toBe(true)
  expect(verified('ada.shop', null)).toBe(true)
  expect(verified('https://farcaster.xyz/adam', 'I am ada')).toBe(false)
  expect(verified('https://other.shop', null)).toBe(false)
  expect(namesAgent({ blog: 'https://github.com/x', bio: null }, { ...agent, pages: ['https://github.com/y'] })).toBe(
    false,
  )
})

test('the home page of an account verifies it if its host names the agent, not because the agent names it', async () => {
  const { pool } = database
  await pool.query('delete from source_state')
  const double = await startDouble()
  const homed = { ...recorded.body, login: 'homed', blog: 'https://www.homed.shop', bio: null }
  double.accounts.set('homed', { user: homed, repositories: [] })
  const job = startUpstreamJob({ database, clock, url: double.url, create: codehost, name: 'homed' })
  const fid = 11
  await addAgent(fid, 'homed')
  await pool.query(`update social_profile set profile_url = 'https://homed.shop/me' where fid = $1`, [fid])
  const services = JSON.stringify([{ name: 'A2A', endpoint: 'https://homed.shop/a2a', version: null }])
  const document = { chain: 'base', agent_id: fid * 100, uri_status: 'ok', services, updated_at: birth }
  await insert(pool, 'registration_document', document)
  await job.join()
  const verified = async () => {
    clock.pass(2 * day)
    expect(await job.read()).toContain('ok')
    return (await profileOf(pool, fid)).codehost_profiles.verified
  }
  expect(await verified()).toBe(false)

  await insert(pool, 'agent_spec', {
    fid,
    kind: 'a2a',
    url: 'https://homed.shop/.well-known/agent-card.json',
    declared: true,
    has_content: true,
    skills: [],
    tools: [],
    domain_verified: false,
    first_seen_at: birth,
    last_alive_at: birth,
    last_check_at: birth,
    last_check_status: 'ok',
    consecutive_failures: 0,
  })
  expect(await verified()).toBe(false)
  await pool.query('update agent_spec set domain_verified = true where fid = $1', [fid])
  expect(await verified()).toBe(true)
  await pool.query('delete from agent_spec where fid = $1', [fid])
  expect(await verified()).toBe(false)

  const proof = { proof: '{}', proof_sha256: Buffer.alloc(32), signer: 'homed.shop', verified_addresses: [] }
  const times = { received_at: birth, claimed_at: birth }
  await insert(pool, 'claim', { fid, method: 'well-known', nonce: 'homed', ...proof, ...times })
  expect(await verified()).toBe(true)
  await pool.query(`update claim set state = 'suspended' where fid = $1`, [fid])
  expect(await verified()).toBe(false)
})
