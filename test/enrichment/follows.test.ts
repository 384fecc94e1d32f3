import fc from 'fast-check'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { makeMessage } from '../../devnet/hub/messages.ts'
import { runPass } from '../../enrichment/schedule/scheduler.ts'
import type { Source } from '../../enrichment/schedule/source.ts'
import { socialFollows } from '../../enrichment/socialindex/follows.ts'
import { createHost } from '../../hosts/host.ts'
import { createHub } from '../../social/hub.ts'
import { wallet } from '../support/chain/rows.ts'
import { type Scene, startScene } from '../support/chain/scene.ts'
import { rounds } from '../support/rounds.ts'

const agents = [7, 8, 9]
const others = [20, 21, 22]
const second = 1_000
const day = 86_400_000

let scene: Scene
beforeEach(async () => {
  scene = await startScene({ follows: true })
  scene.register(...agents, ...others)
  for (const fid of agents) {
    scene.hub.state.addVerification(fid, wallet(fid))
    await scene.rows.transfer({ chain: 'base', id: fid }, null, wallet(fid), scene.clock.now())
  }
  follow(7, 20)
  await scene.settle()
})
afterEach(() => scene.stop())

function follow(fid: number, target: number) {
  scene.clock.pass(second)
  scene.hub.state.follow(fid, target, scene.clock.now())
}
function unfollow(fid: number, target: number) {
  scene.clock.pass(second)
  scene.hub.state.unfollow(fid, target)
}

/** Stored follows of each agent, newest first, as `[fid, since]` with Unix milliseconds. */
async function stored() {
  const { rows } = await scene.database.pool.query('select fid, targets, followed_at from social_follow order by fid')
  return rows.map(({ fid, targets, followed_at }) => ({
    fid,
    follows: targets.map((target: string, index: number) => [Number(target), followed_at[index].getTime()]),
  }))
}
function atTheHub() {
  return agents.map((fid) => {
    const links = [...scene.hub.state.accounts.get(fid)!.links]
    const since = links.map(([target, { data }]) => [target, (data.timestamp + 1_609_459_200) * 1_000] as const)
    return { fid, follows: since.sort((one, other) => other[1] - one[1]) }
  })
}
const readings = () => scene.hub.requests.filter((path) => path.startsWith('/v1/linksByFid')).length

test('whom agents follow is read once a day, and comes from events in between', async () => {
  expect(await stored()).toEqual(atTheHub())
  const before = readings()
  expect(before).toBe(agents.length)
  follow(7, 8)
  follow(7, 21)
  follow(20, 7) // not an agent of the index
  unfollow(7, 20)
  await scene.settle()
  expect(await stored()).toEqual(atTheHub())
  expect(await stored()).toContainEqual({
    fid: 7,
    follows: [expect.arrayContaining([21]), expect.arrayContaining([8])],
  })
  expect(readings()).toBe(before)
  scene.hub.state.forgetEvents()
  unfollow(7, 8)
  scene.hub.state.forgetEvents()
  scene.clock.pass(1.2 * day)
  await scene.settle()
  expect(await stored()).toEqual(atTheHub())
  expect(readings()).toBe(2 * before)
})

test('a reading that events have overtaken is not stored, and begins again', async () => {
  scene.clock.pass(1.2 * day)
  const host = createHost({ name: 'hub', requestsPerSecond: 1_000, now: scene.clock.now })
  const social = createHub({ url: scene.hub.url })
  onTestFinished(() => social.close())
  const source = socialFollows({ social, host })
  const read: Source['read'] = async (subjects) => {
    const reading = await source.read(subjects)
    if (subjects[0]?.subject !== 'fid:7') return reading
    follow(7, 22)
    await scene.job.pass('social_events')
    return reading
  }
  const { pool } = scene.database
  const pass = { pool, now: scene.clock.now, random: () => 0.5, failed: () => {} }
  const { outcomes } = await runPass({ ...source, read }, pass)
  expect(outcomes.toSorted()).toEqual(['empty', 'empty', 'lease_lost'])
  expect(await stored()).toEqual(atTheHub())
  await scene.settle()
  expect(await stored()).toEqual(atTheHub())
})

test('an end that nobody signed is looked up: an event alone ends no follow', async () => {
  const before = readings()
  const account = scene.hub.state.accounts.get(7)!
  const [message] = [...account.links.values()]
  const prune = { type: 'HUB_EVENT_TYPE_PRUNE_MESSAGE', pruneMessageBody: { message: message! } } as const
  const log = scene.hub.state.shards.get(account.shard)!
  log.append(scene.clock.pass(second).getTime(), [prune])
  await scene.settle()
  expect(readings()).toBe(before + 1)
  expect(await stored()).toContainEqual({ fid: 7, follows: [[20, expect.any(Number)]] })
  account.links.clear()
  log.append(scene.clock.pass(second).getTime(), [prune])
  await scene.settle()
  expect(await stored()).toContainEqual({ fid: 7, follows: [] })
})

test('an account that sends its follows again as one list is read again', async () => {
  const before = readings()
  const account = scene.hub.state.accounts.get(7)!
  const about = { fid: 7, signer: account.signer, unixMs: scene.clock.now().getTime() }
  const body = { linkCompactStateBody: { type: 'follow', targetFids: [] } }
  const message = makeMessage('MESSAGE_TYPE_LINK_COMPACT_STATE', about, body)
  account.links.clear()
  const merge = { type: 'HUB_EVENT_TYPE_MERGE_MESSAGE', mergeMessageBody: { message, deletedMessages: [] } } as const
  scene.hub.state.shards.get(account.shard)!.append(scene.clock.now().getTime(), [merge])
  await scene.settle()
  expect(readings()).toBe(before + 1)
  expect(await stored()).toEqual(atTheHub())
})

test('after any history the agents follow whom the hub says', { tags: ['rounds'] }, async () => {
  const deed = fc.record({
    fid: fc.constantFrom(...agents),
    target: fc.constantFrom(...agents, ...others),
    ends: fc.boolean(),
    settles: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 20 }), async (deeds) => {
      for (const { fid, target, ends, settles } of deeds) {
        if (!ends) follow(fid, target)
        else if (scene.hub.state.accounts.get(fid)!.links.has(target)) unfollow(fid, target)
        if (settles) await scene.settle()
      }
      await scene.settle()
      expect(await stored()).toEqual(atTheHub())
    }),
    { numRuns: rounds(5, 25) },
  )
})
