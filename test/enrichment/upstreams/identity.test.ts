import { expect, onTestFinished, test } from 'vitest'
import { startIdentityService } from '../../../devnet/upstreams/identity.ts'
import { identity } from '../../../enrichment/identity/source.ts'
import { profileOf } from '../../derive/agents/job.ts'
import { serveCanned } from '../../doubles/canned.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { fixture } from '../../support/fixture.ts'
import { addressOf } from '../../support/seed.ts'
import { mintTo, startUpstreamJob } from './job.ts'

const database = testDatabase()

const clock = createClock('2026-06-01T00:00:00Z')
const [vitalik, ...others] = fixture('sources/identity/web3bio.profile.batch.json')
const dwr = others.find(({ platform }: { platform: string }) => platform === 'farcaster')

async function startDouble() {
  const double = await startIdentityService()
  onTestFinished(double.stop)
  return double
}

test('recorded profiles become the agent’s identities, with what they link to and who says so', async () => {
  const { pool } = database
  const server = await serveCanned(() => ({ body: [dwr, ...others, vitalik] })) // more than was asked for, in any order
  onTestFinished(server.stop)
  const job = startUpstreamJob({ database, clock, url: server.url, create: identity })
  await mintTo(pool, { fid: 3, addresses: [vitalik.address] })
  await job.join()
  expect(await job.read()).toEqual(['ok'])
  await job.join()
  const { agent_identities, last_identity_at } = await profileOf(pool, 3)
  expect(last_identity_at).toBe(clock.now().toISOString())
  const names = agent_identities.map(({ platform, identity }: Record<string, string>) => `${platform} ${identity}`)
  expect(names.sort()).toEqual([
    'ens vitalik.eth',
    'farcaster dwr.eth',
    'github vbuterin',
    'twitter VitalikButerin',
    'website vitalik.ca',
  ])
  expect(agent_identities).toContainEqual({
    platform: 'farcaster',
    identity: 'dwr.eth',
    display_name: 'Dan Romero',
    address: dwr.address,
    url: 'https://farcaster.xyz/dwr.eth',
    avatar_url: dwr.avatar,
    description: dwr.description,
    sources: [],
    follower_count: 612797,
    fetched_at: clock.now().toISOString(),
  })
  expect(decodeURIComponent(server.requests[0]!.path)).toBe(
    `/profile/batch/["farcaster,#3","ethereum,${vitalik.address}"]`,
  )
})

test('neither e-mail nor location is stored, wherever they stand', async () => {
  const { pool } = database
  const double = await startDouble()
  const link = (link: string, handle: string) => ({ link, handle, sources: [] })
  double.profiles.set('farcaster,#20', {
    ...dwr,
    email: 'me@private.example',
    location: 'Private Street 1',
    social: { uid: 20, follower: 1, following: 1 },
    links: {
      email: link('mailto:me@private.example', 'me@private.example'),
      website: link('mailto:me@private.example', 'me@private.example'),
      location: link('https://maps.example', 'Private Street 1'),
      url: link('https://fine.example', 'fine.example'),
    },
  })
  const job = startUpstreamJob({ database, clock, url: double.url, create: identity })
  await mintTo(pool, { fid: 20, addresses: [addressOf('private')] })
  await job.join()
  await job.read()
  await job.join()
  const { rows } = await pool.query('select i::text as text from agent_identity i where fid = 20')
  expect(rows).toHaveLength(2)
  expect(JSON.stringify(rows)).not.toMatch(/private/i)
})

test('an account of another FID at the same address is not the agent’s', async () => {
  const { pool } = database
  const double = await startDouble()
  const address = addressOf('shared')
  double.profiles.set(`ethereum,${address}`, { ...dwr, address })
  const job = startUpstreamJob({ database, clock, url: double.url, create: identity })
  await mintTo(pool, { fid: 21, addresses: [address] })
  await job.join()
  expect(await job.read()).toEqual(['empty'])
  const { rows } = await pool.query('select from agent_identity where fid = 21')
  expect(rows).toEqual([])
})

test('an agent with many addresses is asked about in batches that the service takes', async () => {
  const { pool } = database
  const double = await startDouble()
  const job = startUpstreamJob({ database, clock, url: double.url, create: identity })
  for (const fid of [31, 32, 33, 34, 35]) {
    await mintTo(pool, { fid, addresses: Array.from({ length: 9 }, (_, index) => addressOf(`${fid} ${index}`)) })
  }
  await job.join()
  expect(await job.read()).toEqual(['empty'])
  expect(double.requests).toHaveLength(2) // 50 identities
})

test('what the service answers when it knows nobody is an answer', async () => {
  const { pool } = database
  const body = fixture('sources/identity/web3bio.error.not-found.json')
  const server = await serveCanned(() => ({ status: 404, body }))
  onTestFinished(server.stop)
  const job = startUpstreamJob({ database, clock, url: server.url, create: identity })
  await mintTo(pool, { fid: 40, addresses: [addressOf('unknown')] })
  await job.join()
  expect(await job.read()).toEqual(['empty'])
})

test('a new address is a reason to ask before the time', async () => {
  const { pool } = database
  const double = await startDouble()
  const job = startUpstreamJob({ database, clock, url: double.url, create: identity })
  await job.join()
  expect(await job.read()).toEqual([])
  await mintTo(pool, { fid: 41, addresses: [addressOf('first')] })
  await job.join()
  expect(await job.read()).toEqual(['empty'])
  await pool.query(`insert into verified_address values (41, $1, now())`, [
    Buffer.from(addressOf('second').slice(2), 'hex'),
  ])
  await job.join()
  expect(await job.read()).toEqual(['empty'])
  await job.join()
  expect(await job.read()).toEqual([])
})
