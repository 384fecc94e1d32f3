import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { HubEvent } from '../../devnet/hub/events.ts'
import { startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { type SmallHub, startSmallHub, wallet } from '../doubles/small-hub.ts'
import { fixture } from '../support/fixture.ts'

let hub: SmallHub
beforeEach(async () => {
  hub = await startSmallHub()
})
afterEach(() => hub.stop())

describe('answers have the shape of the recorded ones', () => {
  const recorded: Record<string, string> = {
    'hub.info': '/v1/info',
    'hub.fids': '/v1/fids?shard_id=2&pageSize=2',
    'hub.verificationsByFid': '/v1/verificationsByFid?fid=3&pageSize=1',
    'hub.userDataByFid.single-type': '/v1/userDataByFid?fid=3&user_data_type=1',
    'hub.castsByFid': '/v1/castsByFid?fid=3&pageSize=1&reverse=1',
    'hub.linksByFid': '/v1/linksByFid?fid=3&link_type=follow',
    'hub.fidAddressType': `/v1/fidAddressType?fid=3&address=${wallet(31)}`,
    'hub.onChainSignersByFid': '/v1/onChainSignersByFid?fid=3',
    'hub.onChainEventsByFid': '/v1/onChainEventsByFid?fid=3&event_type=1',
    'hub.onChainIdRegistryEventByAddress': `/v1/onChainIdRegistryEventByAddress?address=${wallet(103)}`,
    'hub.userNameProofByName': '/v1/userNameProofByName?name=ada',
  }
  test.each(Object.entries(recorded))('%s', async (name, path) => {
    const { status, body } = await hub.get(path)
    expect(status).toBe(200)
    expect(differences(sample(name), body)).toEqual([])
  })

  test('hub.events and hub.eventById', async () => {
    const { body } = await hub.get('/v1/events?shard_index=2&from_event_id=0')
    const [confirmed, merged] = sample('hub.events').events
    const ours = body.events as HubEvent[]
    const cast = ours.find((event) => (event.mergeMessageBody as { message: object } | undefined)?.message)
    expect(
      differences(
        confirmed,
        ours.find(({ type }) => type === confirmed.type),
      ),
    ).toEqual([])
    const ofMerge = differences(merged, cast).filter((path) => !path.includes('.reactionBody'))
    expect(ofMerge).toEqual([])
    const one = await hub.get(`/v1/eventById?shard_index=2&event_id=${ours[0]?.id}`)
    expect(differences(sample('hub.eventById'), one.body)).toEqual([])
    for (const { id, blockNumber } of ours) expect(Math.floor(id / 2 ** 14)).toBe(blockNumber)
  })

  test('neynar.user-objects', async () => {
    hub.state.addVerification(3, wallet(32))
    const { body } = await hub.get('/v2/farcaster/user/bulk?fids=3', { 'x-api-key': 'devnet' })
    const allowed = ['$.auth_addresses', '$.pro.', '$.verified_accounts']
    const found = differences(sample('neynar.user-objects')[0], body.users[0])
    expect(found.filter((path) => !allowed.some((start) => path.startsWith(start)))).toEqual([])
  })
})

describe('pages', () => {
  test('walk over every FID of a shard exactly once', async () => {
    for (let fid = 10; fid < 40; fid++) hub.state.addAccount({ fid, custody: wallet(fid) })
    const seen: number[] = []
    for (let token = ''; ; ) {
      const { body } = await hub.get(`/v1/fids?shard_id=1&pageSize=4&pageToken=${encodeURIComponent(token)}`)
      seen.push(...body.fids)
      if (!body.nextPageToken) break
      token = body.nextPageToken
    }
    expect(seen).toEqual([2, 4, ...Array.from({ length: 15 }, (_, i) => 10 + 2 * i)])
  })

  test('of events start at the given id, the id included', async () => {
    const all = await hub.newEvents(3)
    expect(await hub.newEvents(3, all[2]?.id)).toEqual(all.slice(2))
    expect((await hub.get(`/v1/events?shard_index=2&from_event_id=${all[1]?.id}&pageSize=2`)).body.events).toHaveLength(
      2,
    )
  })
})

describe('what is not there', () => {
  test.each([
    '/v1/userNameProofByName?name=nobody',
    `/v1/onChainIdRegistryEventByAddress?address=${wallet(9)}`,
    '/v1/userDataByFid?fid=1&user_data_type=1',
    '/v1/eventById?event_id=1&shard_index=1',
    '/v1/verificationsByFid?fid=-1',
    '/v1/fids',
  ])('is a HubError with status 400: %s', async (path) => {
    const { status, body } = await hub.get(path)
    expect(status).toBe(400)
    expect(Object.keys(body).sort()).toEqual(['error', 'error_detail'])
  })

  test('a FID nobody registered has no messages, and a made-up name in bulk answers', async () => {
    expect((await hub.get('/v1/verificationsByFid?fid=999')).body.messages).toEqual([])
    expect((await hub.get('/v2/farcaster/user/bulk?fids=999')).body.users[0]?.username).toBe('fid:999')
    expect((await hub.get('/v2/farcaster/user/bulk?fids=999', { 'x-api-key': 'devnet' })).body.users).toEqual([])
  })

  test('by address there is no answer without a key, and none for a wrong one', async () => {
    const path = `/v2/farcaster/user/bulk-by-address?addresses=${wallet(31)}`
    expect((await hub.get(path)).status).toBe(401)
    expect((await hub.get(path, { 'x-api-key': 'wrong' })).status).toBe(401)
    const custody = `/v2/farcaster/user/bulk-by-address?addresses=${wallet(103)}`
    expect((await hub.get(custody, { 'x-api-key': 'devnet' })).status).toBe(200)
    const verified = await hub.get(`${custody}&address_types=verified_address`, { 'x-api-key': 'devnet' })
    expect(verified).toMatchObject({ status: 404, body: { code: 'NotFound', status: 404 } })
  })
})

function sample(name: string) {
  return fixture(`sources/socialindex/${name}.json`)
}

/** Paths of the expected value that are missing or of another type in ours; of lists, the first items are compared. */
function differences(expected: unknown, ours: unknown, path = '$'): string[] {
  if (kind(expected) !== kind(ours)) return [`${path} is ${kind(ours)}, not ${kind(expected)}`]
  if (Array.isArray(expected))
    return expected.length === 0 ? [] : differences(expected[0], (ours as unknown[])[0], `${path}[]`)
  if (kind(expected) !== 'object') return []
  return Object.entries(expected as object).flatMap(([key, value]) =>
    differences(value, (ours as Record<string, unknown>)[key], `${path}.${key}`),
  )
}

function kind(value: unknown) {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
}

test('a hub whose port is taken takes another', async () => {
  const first = await startHub(new HubState())
  onTestFinished(first.stop)
  const second = await startHub(new HubState(), { port: Number(new URL(first.url).port) })
  onTestFinished(second.stop)
  expect(second.url).not.toBe(first.url)
})
