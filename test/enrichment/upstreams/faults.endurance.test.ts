import { expect, onTestFinished, test } from 'vitest'
import { startCodehost } from '../../../devnet/upstreams/codehost.ts'
import { startExplorer } from '../../../devnet/upstreams/explorer.ts'
import { startIdentityService } from '../../../devnet/upstreams/identity.ts'
import { codehost } from '../../../enrichment/codehost/source.ts'
import { explorer } from '../../../enrichment/explorer/source.ts'
import { identity } from '../../../enrichment/identity/source.ts'
import { profileOf } from '../../derive/agents/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { fixture } from '../../support/fixture.ts'
import { addressOf, insert } from '../../support/seed.ts'
import { expectUnharmed, mintTo, startUpstreamJob } from './job.ts'

const database = testDatabase()
const clock = createClock('2026-06-01T00:00:00Z')

test('no misbehaviour of the host clears a tag', async () => {
  const { pool } = database
  const double = await startExplorer()
  onTestFinished(double.stop)
  double.addTag(addressOf('tagged'), 8453, { slug: 's', name: 'kept', tagType: 'name', ordinal: 1, meta: '{}' })
  const job = startUpstreamJob({ database, clock, url: double.url, create: explorer })
  await mintTo(pool, { fid: 6, addresses: [addressOf('tagged')] })
  await job.join()
  await job.read()
  await job.join()
  const shown = async () => {
    const { oli, oli_tags } = await profileOf(pool, 6)
    return [oli, oli_tags.map(({ name }: { name: string }) => name)]
  }
  expect(await shown()).toEqual(['kept', ['kept']])
  await expectUnharmed({ database, clock, job, server: double, source: 'explorer', fid: 6, shown })
})

test('no misbehaviour of the host clears an identity', async () => {
  const { pool } = database
  await pool.query('delete from source_state')
  const profiles = fixture('sources/identity/web3bio.profile.batch.json')
  const known = profiles.find(({ platform }: { platform: string }) => platform === 'farcaster')
  const double = await startIdentityService()
  onTestFinished(double.stop)
  double.profiles.set('farcaster,#50', { ...known, social: { uid: 50, follower: 7, following: 1 } })
  const job = startUpstreamJob({ database, clock, url: double.url, create: identity })
  await mintTo(pool, { fid: 50, addresses: [addressOf('named')] })
  await job.join()
  await job.read()
  await job.join()
  const shown = async () => {
    return (await profileOf(pool, 50)).agent_identities.map(({ identity }: { identity: string }) => identity)
  }
  expect(await shown()).toEqual(['dwr.eth'])
  await expectUnharmed({ database, clock, job, server: double, source: 'identity', fid: 50, shown })
})

test('no misbehaviour of the host clears an account', async () => {
  const { pool } = database
  await pool.query('delete from source_state')
  const double = await startCodehost()
  onTestFinished(double.stop)
  const { body } = fixture('sources/codehost/github.get-user.200.json')
  double.accounts.set('hurt', { user: { ...body, login: 'hurt' }, repositories: [] })
  const job = startUpstreamJob({ database, clock, url: double.url, create: codehost, name: 'github' })
  await mintTo(pool, { fid: 7, addresses: [addressOf('wallet of 7')] })
  await insert(pool, 'social_profile', { fid: 7, handle: 'agent7', github: 'hurt', updated_at: clock.now() })
  await job.join()
  await job.read()
  await job.join()
  const shown = async () => (await profileOf(pool, 7)).codehost_profiles.login
  expect(await shown()).toBe('hurt')
  await expectUnharmed({ database, clock, job, server: double, source: 'codehost', fid: 7, shown })
})
