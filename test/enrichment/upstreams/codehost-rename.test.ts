import { expect, onTestFinished, test } from 'vitest'
import { startCodehost } from '../../../devnet/upstreams/codehost.ts'
import { codehost } from '../../../enrichment/codehost/source.ts'
import { profileOf } from '../../derive/agents/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { fixture } from '../../support/fixture.ts'
import { addressOf, insert } from '../../support/seed.ts'
import { mintTo, startUpstreamJob } from './job.ts'

const database = testDatabase()

const clock = createClock('2026-06-01T00:00:00Z')
const day = 86_400_000
const recorded = fixture('sources/codehost/github.get-user.200.json')
const [{ response: repository }] = fixture('sources/codehost/github.get-repository.octokit-fixture.json')
const repo = (login: string, more: object = {}) => ({
  ...repository,
  owner: { ...repository.owner, login },
  fork: false,
  ...more,
})

/** A double, and the source that asks it about one agent whose account in the network names one on GitHub. */
async function start(fid: number, github: string) {
  const { pool } = database
  const double = await startCodehost()
  onTestFinished(double.stop)
  const job = startUpstreamJob({ database, clock, url: double.url, create: codehost })
  await mintTo(pool, { fid, addresses: [addressOf(`wallet of ${fid}`)] })
  await insert(pool, 'social_profile', { fid, handle: `agent${fid}`, github, updated_at: clock.now() })
  await job.join()
  await pool.query('delete from source_state where subject <> $1', [`fid:${fid}`])
  return { double, job }
}

test('an account that took another login is followed, and nobody steps into its place', async () => {
  const { double, job } = await start(7, 'before')
  const account = (login: string, id: number) => ({
    user: { ...recorded.body, login, id },
    repositories: [repo(login)],
  })
  double.accounts.set('before', account('before', 7_001))
  const shown = async () => {
    clock.pass(2 * day)
    const outcomes = await job.read()
    await job.join()
    const { codehost_profiles } = await profileOf(database.pool, 7)
    return [...outcomes, codehost_profiles?.login, codehost_profiles?.user_id]
  }
  expect(await shown()).toEqual(['ok', 'before', 7_001])
  double.accounts.delete('before')
  double.accounts.set('after', account('after', 7_001))
  expect(await shown()).toEqual(['ok', 'after', 7_001])
  expect(await shown()).toEqual(['ok', 'after', 7_001])
  double.accounts.set('before', account('before', 7_002))
  expect(await shown()).toEqual(['ok', 'after', 7_001])
  double.accounts.delete('after')
  expect(await shown()).toEqual(['ok', 'before', 7_002])
  double.accounts.clear()
  expect(await shown()).toEqual(['empty', undefined, undefined])
})

test('times that cannot be are left out', async () => {
  const { double, job } = await start(8, 'odd')
  double.accounts.set('odd', {
    user: { ...recorded.body, login: 'odd', created_at: '-100000-01-01T00:00:00Z' },
    repositories: [repo('odd', { pushed_at: '+200000-01-01T00:00:00Z' })],
  })
  expect(await job.read()).toEqual(['ok'])
  expect((await profileOf(database.pool, 8)).codehost_profiles).toMatchObject({
    account_created_at: null,
    last_push_at: null,
  })
})
