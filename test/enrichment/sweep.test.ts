import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { sources } from '../../config/sources.ts'
import { reachedAges } from '../../db/queries/sources/cursors.ts'
import { askForSubjects } from '../../db/queries/sources/source-state.ts'
import { verificationKey } from '../../devnet/hub/account.ts'
import { runPass } from '../../enrichment/schedule/scheduler.ts'
import type { Source } from '../../enrichment/schedule/source.ts'
import { socialFids, storeUntimedSets, storeVerifiedSet } from '../../enrichment/socialindex/fids.ts'
import { createHost } from '../../hosts/host.ts'
import { createHub } from '../../social/hub.ts'
import { wallet } from '../support/chain/rows.ts'
import { type Scene, startScene } from '../support/chain/scene.ts'

let scene: Scene
beforeEach(async () => {
  scene = await startScene()
})
afterEach(() => scene.stop())

const day = 24 * 3_600_000
const token = { chain: 'celo', id: 5 } as const

/** Adds FIDs from 1; every tenth verifies the wallet of its number. The events no longer have any of it. */
function populate(count: number) {
  scene.register(...Array.from({ length: count }, (_, index) => index + 1))
  for (let fid = 10; fid <= count; fid += 10) scene.hub.state.addVerification(fid, wallet(fid))
  scene.hub.state.forgetEvents()
}
async function stored(): Promise<string[]> {
  const { rows } = await scene.database.pool.query(
    `select fid || ' ' || ltrim(encode(address, 'hex'), '0') as pair from verified_address
      where ended_at is null order by fid, address`,
  )
  return rows.map(({ pair }) => pair)
}
const expected = (count: number) =>
  Array.from({ length: count / 10 }, (_, i) => `${10 * (i + 1)} ${(10 * (i + 1)).toString(16)}`)
const asked = (part: string) => scene.hub.requests.filter((path) => path.includes(part))

describe('a sweep', () => {
  test('stores what every FID of every shard verifies, and asks singly only for those who were given a token', async () => {
    populate(470)
    await scene.rows.transfer(token, null, wallet(20), scene.clock.pass(1_000))
    await scene.settle()
    expect(await stored()).toEqual(expected(470))
    expect(asked('/v1/fids')).toHaveLength(6) // three pages in each of two shards
    expect(asked('/user/bulk')).toHaveLength(6)
    expect(asked('verificationsByFid').map((path) => path.split('&')[0]?.split('=')[1])).toEqual(['20'])
  })

  test('and a stream say how old they are, from the first time they were through', async () => {
    const ages = (source: string) => reachedAges(scene.database.pool, source, scene.clock.now())
    expect(await ages(sources.sweep.name)).toEqual([])
    populate(20)
    await scene.settle()
    const fresh = [1, 2].map((shard) => ({ shard: String(shard), seconds: 0 }))
    expect(await ages(sources.sweep.name)).toEqual(fresh)
    expect(await ages(sources.events.name)).toEqual(fresh)
    const throughAt = scene.clock.now().getTime()
    scene.clock.pass(60_000)
    await scene.settle()
    const seconds = (scene.clock.now().getTime() - throughAt) / 1_000
    expect(await ages(sources.sweep.name)).toEqual(fresh.map((one) => ({ ...one, seconds })))
    // Both streams were polled again and had no events.
    for (const stream of await ages(sources.events.name)) expect(stream.seconds).toBeLessThan(60)
  })

  test('asks for every FID singly where the hub does not answer in bulk', async () => {
    scene.hub.faults.add({ kind: 'status', status: 404 }, { path: '/user/bulk' })
    populate(60)
    await scene.settle()
    expect(await stored()).toEqual(expected(60))
    expect(asked('/user/bulk')).toHaveLength(1)
    expect(asked('verificationsByFid')).toHaveLength(60)
  })

  test('makes a token that comes later to a known address an agent without asking again, and its times are read then', async () => {
    const verifiedAt = scene.clock.now()
    populate(20)
    await scene.settle()
    const times = async () =>
      (await scene.database.pool.query('select fid, verified_at, seen_from from verified_address where fid = 10')).rows
    expect(await times()).toEqual([{ fid: 10, verified_at: -Infinity, seen_from: expect.any(Date) }])
    const mintedAt = scene.clock.pass(1_000)
    await scene.rows.transfer(token, null, wallet(10), mintedAt)
    await scene.job.join()
    const listed = { agent_status: 'active', chains: ['celo'], listed_at: mintedAt.getTime() }
    expect(await scene.agent(10)).toMatchObject(listed)
    expect(asked('verificationsByFid')).toHaveLength(0)
    await scene.settle()
    expect(await times()).toEqual([{ fid: 10, verified_at: verifiedAt, seen_from: null }])
    expect(await scene.agent(10)).toMatchObject(listed)
  })

  test('leaves what events say of accounts without times in order', async () => {
    populate(40)
    await scene.settle()
    scene.clock.pass(1_000)
    scene.hub.state.addVerification(10, wallet(10)) // again, with a time
    scene.hub.state.removeVerification(20, wallet(20), 'prune')
    scene.hub.state.addVerification(30, wallet(31))
    await scene.settle()
    expect(await stored()).toEqual(['10 a', '30 1e', '30 1f', '40 28'])
  })

  test('is done again after thirty days, and then asks singly for nobody who did not change', async () => {
    populate(40)
    await scene.settle()
    const before = asked('verificationsByFid').length
    scene.hub.state.removeVerification(20, wallet(20))
    scene.hub.state.forgetEvents()
    scene.clock.pass(2 * day)
    await scene.settle()
    expect(await stored()).toContain('20 14')
    for (let days = 0; days < 32; days += 2) {
      scene.clock.pass(2 * day)
      await scene.settle()
    }
    expect(await stored()).not.toContain('20 14')
    expect(asked('verificationsByFid')).toHaveLength(before + 1) // a set that is empty now is asked for again
  })

  test('goes on after a page that failed, and loses none', async () => {
    populate(470)
    for (let failure = 0; failure < 5; failure++) {
      scene.hub.faults.add({ kind: 'status', status: 500 }, { path: ['/v1/fids', '/user/bulk'][failure % 2] })
      await scene.settle()
      scene.clock.pass(60_000)
    }
    await scene.settle()
    expect(await stored()).toEqual(expected(470))
  })

  test('starts over when the hub has not known the page for an hour', async () => {
    populate(470)
    scene.hub.faults.add({ kind: 'status', status: 400 }, { path: 'pageToken', times: Number.POSITIVE_INFINITY })
    await scene.settle()
    for (let minutes = 0; minutes < 80; minutes += 10) {
      scene.clock.pass(10 * 60_000)
      await scene.settle()
    }
    const beginnings = asked('/v1/fids').filter((path) => !path.includes('pageToken')).length
    expect(beginnings).toBe(4) // one in each of two shards, and another
    scene.hub.faults.clear()
    scene.clock.pass(20 * 60_000)
    await scene.settle()
    expect(await stored()).toEqual(expected(470))
  })
})

describe('the event stream', () => {
  test('finds a holder who verifies after the sweep', async () => {
    populate(20)
    await scene.settle()
    await scene.rows.transfer(token, null, wallet(77), scene.clock.pass(1_000))
    scene.hub.state.addVerification(11, wallet(77))
    await scene.settle()
    expect(await scene.agent(11)).toMatchObject({ agent_status: 'active' })
    expect(asked('/v1/fids')).toHaveLength(2)
  })

  test('brings a changed profile and a new post of an agent, and nobody else’s', async () => {
    populate(20)
    await scene.rows.transfer(token, null, wallet(10), scene.clock.pass(1_000))
    await scene.settle()
    const changes = async () => (await scene.database.pool.query('select from agent_change')).rowCount
    scene.hub.state.setProfile(10, { displayName: 'Ten' })
    scene.hub.state.setProfile(11, { displayName: 'Eleven' })
    await scene.settle()
    const { rows } = await scene.database.pool.query('select display_name, changed_at from agent')
    expect(rows[0].display_name).toBe('Ten')
    expect(asked('userDataByFid')).toHaveLength(1) // when it was listed: the event itself tells what changed
    expect((await scene.database.pool.query('select from social_profile')).rowCount).toBe(1)

    const before = await changes()
    const at = scene.clock.pass(5 * 60_000)
    scene.hub.state.cast(10, 'hello')
    await scene.settle()
    const { rows: after } = await scene.database.pool.query('select last_message_at, changed_at from agent')
    expect(after).toEqual([{ last_message_at: at, changed_at: rows[0].changed_at }])
    expect(await changes()).toBe(before) // a post is activity, not a change
  })

  test('starts over with a sweep after more than three days of silence', async () => {
    populate(20)
    await scene.settle()
    scene.hub.state.removeVerification(10, wallet(10))
    scene.hub.state.addVerification(15, wallet(15))
    scene.hub.state.forgetEvents()
    scene.clock.pass(4 * day)
    await scene.settle()
    expect(await stored()).toEqual(['10 a', '15 f', '20 14'])
    scene.clock.pass(2 * 3_600_000)
    await scene.settle()
    expect(await stored()).toEqual(['15 f', '20 14'])
  })

  test('starts over with a sweep when the hub has refused the id it stood at for an hour', async () => {
    populate(20)
    await scene.settle()
    scene.hub.state.addVerification(15, wallet(15))
    scene.hub.state.forgetEvents()
    const path = '/v1/events?shard_index=2'
    scene.hub.faults.add({ kind: 'status', status: 400 }, { path, times: Number.POSITIVE_INFINITY })
    await scene.settle()
    expect(await stored()).toEqual(['10 a', '20 14'])
    scene.clock.pass(62 * 60_000)
    await scene.settle()
    expect(await stored()).toEqual(['10 a', '15 f', '20 14'])
  })

  test('starts over with a sweep when it stands far above the head of the hub', async () => {
    populate(20)
    await scene.settle()
    await scene.database.pool.query(`update source_cursor set position = '900000000000' where source = 'social_events'`)
    scene.hub.state.addVerification(15, wallet(15))
    scene.clock.pass(2 * 3_600_000)
    await scene.settle()
    expect(await stored()).toContain('15 f')
  })

  test('applies pages of events in their order, however many there are', async () => {
    populate(20)
    await scene.settle()
    for (let turn = 0; turn < 150; turn++) {
      scene.clock.pass(1_000)
      scene.hub.state.addVerification(11, wallet(77))
      scene.clock.pass(1_000)
      scene.hub.state.removeVerification(11, wallet(77))
    }
    scene.clock.pass(1_000)
    scene.hub.state.addVerification(11, wallet(77))
    await scene.settle()
    const { rows } = await scene.database.pool.query(
      'select count(*) as made, count(ended_at) as ended from verified_address where fid = 11',
    )
    expect(rows).toEqual([{ made: 151, ended: 150 }])
  })
})

test('an answer that was asked for before an event does not undo what the event said', async () => {
  const pool = scene.database.pool
  scene.register(10)
  await scene.settle()
  const askedAt = scene.clock.now()
  scene.clock.pass(1_000)
  scene.hub.state.addVerification(10, wallet(10))
  await scene.settle()
  const now = scene.clock.pass(1_000)
  await storeVerifiedSet(pool, { fid: 10, live: [], askedAt, now }, scene.hub.url)
  expect(await stored()).toEqual(['10 a'])
  scene.hub.state.removeVerification(10, wallet(10))
  await scene.settle()
  const { rows } = await pool.query('select address, verified_at from verified_address')
  const live = [{ address: wallet(10), verifiedAt: rows[0].verified_at }]
  await storeVerifiedSet(pool, { fid: 10, live, askedAt, now }, scene.hub.url)
  expect(await stored()).toEqual([])
})

describe('what an event brought is unknown to a node that is up to ten minutes behind:', () => {
  const minute = 60_000
  const here = wallet(10)
  const other = wallet(11)
  const both = ['10 a', '10 b']
  beforeEach(async () => {
    scene.register(10)
    await scene.settle() // so that events tell what follows
    for (const address of [here, other]) scene.hub.state.addVerification(10, address)
    await scene.settle()
    expect(await stored()).toEqual(both)
    scene.clock.pass(60 * minute)
  })

  /** What became of an answer of these addresses to a question that was asked so long after the last event. */
  async function answer(addresses: readonly string[], afterMs: number, untimed = false) {
    const { pool } = scene.database
    const { rows } = await pool.query(
      `select '0x' || encode(address, 'hex') as address, verified_at, max(observed_at) over () as newest
         from verified_address`,
    )
    const askedAt = new Date(rows[0].newest.getTime() + afterMs)
    if (untimed) return storeUntimedSets(pool, { sets: [{ fid: 10, addresses }], askedAt, now: askedAt })
    const known = rows.filter(({ address }) => addresses.includes(address))
    const live = known.map(({ address, verified_at: verifiedAt }) => ({ address, verifiedAt }))
    return storeVerifiedSet(pool, { fid: 10, live, askedAt, now: askedAt }, scene.hub.url)
  }
  async function prune() {
    scene.hub.state.removeVerification(10, other, 'prune')
    await scene.settle()
    expect(await stored()).toEqual(['10 a'])
  }
  const isUnsettled = { emptied: [], unsettled: [10] }
  const isStored = { emptied: [], unsettled: [] }

  test('its answer without a new verification does not end it', async () => {
    expect(await answer([here], 1_000)).toBe('unsettled')
    expect(await answer([here], 10 * minute)).toBe('unsettled')
    expect(await stored()).toEqual(both)
    expect(await answer([here], 10 * minute + 1_000)).toBe('stored')
    expect(await stored()).toEqual(['10 a'])
  })

  test('its answer without times and without a new verification does not end it', async () => {
    expect(await answer([here], 10 * minute, true)).toEqual(isUnsettled)
    expect(await stored()).toEqual(both)
    expect(await answer([here], 10 * minute + 1_000, true)).toEqual(isStored)
    expect(await stored()).toEqual(['10 a'])
  })

  test('its answer that still has a pruned verification does not open it again', async () => {
    await prune()
    expect(await answer([here, other], 1_000)).toBe('unsettled')
    expect(await answer([here, other], 10 * minute)).toBe('unsettled')
    expect(await stored()).toEqual(['10 a'])
    expect(await answer([here, other], 10 * minute + 1_000)).toBe('stored')
    expect(await stored()).toEqual(both)
  })

  test('its answer without times that still has a pruned verification does not open it again', async () => {
    await prune()
    expect(await answer([here, other], 10 * minute, true)).toEqual(isUnsettled)
    expect(await stored()).toEqual(['10 a'])
    expect(await answer([here, other], 10 * minute + 1_000, true)).toEqual(isStored)
    expect(await stored()).toEqual(both)
  })

  test('an account that a sweep finds different is asked about until that is settled, agent or not', async () => {
    const { pool } = scene.database
    scene.hub.state.addVerification(10, wallet(12))
    await scene.settle()
    scene.hub.state.accounts.get(10)!.verifications.delete(verificationKey('ethereum', wallet(12))) // without an event
    const before = asked('verificationsByFid').length
    const shards = ['shard:1', 'shard:2']
    await askForSubjects(pool, sources.sweep.name, shards, { priority: 2, dueAt: scene.clock.pass(1_000) })
    const bulk = asked('/user/bulk').length
    await scene.job.run()
    expect(asked('/user/bulk').length).toBeGreaterThan(bulk)
    expect(await stored()).toEqual([...both, '10 c'])
    for (const [reads, left] of [
      [1, [...both, '10 c']],
      [2, both],
    ] as const) {
      scene.clock.pass(7 * minute)
      await scene.job.run()
      expect(asked('verificationsByFid')).toHaveLength(before + reads)
      expect(await stored()).toEqual(left)
    }
    const { rows } = await pool.query('select from source_state where source = $1', [sources.fids.name])
    expect(rows).toEqual([])
  })
})

test('a read that a profile event has overtaken is not stored, and begins again', async () => {
  const { pool } = scene.database
  populate(10)
  scene.hub.state.setProfile(10, { bio: 'old' })
  await scene.rows.transfer(token, null, wallet(10), scene.clock.pass(1_000))
  await scene.settle()
  scene.clock.pass(1.2 * day)
  const host = createHost({ name: 'hub', requestsPerSecond: 1_000, now: scene.clock.now })
  const social = createHub({ url: scene.hub.url })
  onTestFinished(() => social.close())
  const source = socialFids({ social, host, url: () => scene.hub.url, now: scene.clock.now })
  const read: Source['read'] = async (subjects) => {
    const reading = await source.read(subjects)
    scene.hub.state.setProfile(10, { bio: 'new' })
    await scene.job.pass(sources.events.name)
    return reading
  }
  const pass = { pool, now: scene.clock.now, random: () => 0.5, failed: () => {} }
  expect((await runPass({ ...source, read }, pass)).outcomes).toEqual(['lease_lost'])
  expect((await pool.query('select bio from social_profile')).rows).toEqual([{ bio: 'new' }])
  const { rows } = await pool.query(`select due_at from source_state where source = $1`, [source.name])
  expect(rows).toEqual([{ due_at: scene.clock.now() }])
})

test('with a key, holders are looked up by address and read before they are believed; nobody is swept', async () => {
  await scene.stop()
  scene = await startScene({ lookups: true })
  populate(40)
  scene.hub.state.addAccount({ fid: 41, custody: wallet(41) })
  await scene.rows.transfer(token, null, wallet(10), scene.clock.pass(1_000))
  await scene.rows.transfer({ chain: 'base', id: 1 }, null, wallet(41), scene.clock.now())
  await scene.rows.transfer({ chain: 'base', id: 2 }, null, wallet(99), scene.clock.now())
  await scene.settle()
  expect(await scene.agent(10)).toMatchObject({ agent_status: 'active' })
  expect(await stored()).toEqual(['10 a'])
  expect(asked('/v1/fids')).toEqual([])
  expect(asked('bulk-by-address')).toHaveLength(1)
  expect(asked('bulk-by-address')[0]).toContain('address_types=verified_address')
  // A later verification whose event is gone is found by the next look-up, a day later.
  scene.hub.state.addVerification(15, wallet(99))
  scene.hub.state.forgetEvents()
  scene.clock.pass(1.2 * day)
  await scene.settle()
  expect(await scene.agent(15)).toMatchObject({ agent_status: 'active' })
})
