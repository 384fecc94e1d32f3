import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HubEvent } from '../../devnet/hub/events.ts'
import type { Fault } from '../../devnet/hub/faults.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import type { Removal } from '../../devnet/hub/verifications.ts'

const samples = new URL('../../../shared/sources/socialindex/', import.meta.url)
const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const solana = '7uFVJ36ZyqcAFGEHCPYNTtDtaSmmNpgzUsBvA72mSjEc'

/** The parts of answers that the tests look into. */
interface Body {
  readonly fids: number[]
  readonly nextPageToken?: string
  readonly events: HubEvent[]
  readonly messages: { data: Record<string, { address: string; protocol?: string }> }[]
  readonly users: { username: string }[]
  readonly is_auth: boolean
  readonly post_one_of: object[]
  readonly [key: string]: unknown
}

/** Accounts 1 to 5; account 3 has something of everything. */
let hub: Hub
beforeEach(async () => {
  const state = new HubState()
  for (let fid = 1; fid <= 5; fid++) {
    state.addAccount({ fid, custody: wallet(100 + fid), authAddresses: fid === 3 ? [wallet(200)] : [] })
  }
  const first = state.cast(1, 'gm')
  state.setProfile(3, { username: 'ada', displayName: 'Ada', bio: 'counts', pfp: 'https://a.example/a.png' })
  state.setProfile(3, { banner: 'https://a.example/b.png', twitter: 'ada' })
  state.addVerification(3, wallet(31), { oldBody: true, at: new Date(Date.now() - 60_000) })
  state.addVerification(3, solana, { protocol: 'solana' })
  state.cast(3, 'hello', { parent: first })
  state.follow(3, 1)
  hub = await startHub(state)
})
afterEach(() => hub.stop())

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(hub.url + path, { headers })
  return { status: response.status, body: (await response.json()) as Body }
}

const verifiedBy = async (fid: number) => {
  const { body } = await get(`/v1/verificationsByFid?fid=${fid}`)
  return body.messages
    .map(({ data }) => data.verificationAddAddressBody ?? data.verificationAddEthAddressBody)
    .filter((given) => given?.protocol !== 'PROTOCOL_SOLANA')
    .map((given) => given?.address)
}

const newEvents = async (fid: number, from = 0): Promise<HubEvent[]> => {
  const { body } = await get(`/v1/events?shard_index=${(fid % 2) + 1}&from_event_id=${from}`)
  return body.events
}

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
    const { status, body } = await get(path)
    expect(status).toBe(200)
    expect(differences(sample(name), body)).toEqual([])
  })

  test('hub.events and hub.eventById', async () => {
    const { body } = await get('/v1/events?shard_index=2&from_event_id=0')
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
    const one = await get(`/v1/eventById?shard_index=2&event_id=${ours[0]?.id}`)
    expect(differences(sample('hub.eventById'), one.body)).toEqual([])
    for (const { id, blockNumber } of ours) expect(Math.floor(id / 2 ** 14)).toBe(blockNumber)
  })

  test('neynar.user-objects', async () => {
    hub.state.addVerification(3, wallet(32))
    const { body } = await get('/v2/farcaster/user/bulk?fids=3', { 'x-api-key': 'devnet' })
    const allowed = ['$.auth_addresses', '$.pro.', '$.verified_accounts']
    const found = differences(sample('neynar.user-objects')[0], body.users[0])
    expect(found.filter((path) => !allowed.some((start) => path.startsWith(start)))).toEqual([])
  })
})

describe('a verification', () => {
  test.each<Removal>(['message', 'revoke', 'prune', 'merge'])('ended by %s is gone and was reported', async (how) => {
    const before = (await newEvents(3)).at(-1)?.id ?? 0
    hub.state.removeVerification(3, wallet(31), how)
    expect(await verifiedBy(3)).toEqual([])
    const reported = JSON.stringify(await newEvents(3, before + 1))
    const type = { message: 'MERGE', merge: 'MERGE', revoke: 'REVOKE', prune: 'PRUNE' }[how]
    expect(reported).toContain(`HUB_EVENT_TYPE_${type}_MESSAGE`)
    expect(reported).toContain(wallet(31))
    expect(reported.includes('VERIFICATION_REMOVE')).toBe(how === 'message')
  })

  test('made again stays live although its first message is reported as deleted', async () => {
    hub.state.addVerification(3, wallet(31), { at: new Date(Date.now() + 5_000) })
    const last = (await newEvents(3)).at(-1)?.mergeMessageBody as { deletedMessages: object[] }
    expect(last.deletedMessages).toHaveLength(1)
    expect(await verifiedBy(3)).toEqual([wallet(31)])
  })

  test('moves to another FID', async () => {
    hub.state.moveVerification(wallet(31), 3, 4)
    expect([await verifiedBy(3), await verifiedBy(4)]).toEqual([[], [wallet(31)]])
  })

  test('may be of two FIDs at once', async () => {
    hub.state.addVerification(4, wallet(31))
    const { body } = await get(`/v2/farcaster/user/bulk-by-address?addresses=${wallet(31)}`, { 'x-api-key': 'devnet' })
    expect(body[wallet(31)]).toMatchObject([{ fid: 3 }, { fid: 4 }])
  })

  test('of a custody or auth address does not exist', async () => {
    expect((await get(`/v1/fidAddressType?fid=3&address=${wallet(103)}`)).body).toEqual({
      is_custody: true,
      is_auth: false,
      is_verified: false,
    })
    expect((await get(`/v1/fidAddressType?fid=3&address=${wallet(200)}`)).body.is_auth).toBe(true)
  })

  test('is repeated by the block shard, and forgotten events leave only the state', async () => {
    const { body } = await get('/v1/events?shard_index=0')
    expect(JSON.stringify(body)).toContain(wallet(31))
    hub.state.forgetEvents()
    expect(await newEvents(3)).toEqual([])
    expect(await verifiedBy(3)).toEqual([wallet(31)])
  })
})

describe('pages', () => {
  test('walk over every FID of a shard exactly once', async () => {
    for (let fid = 10; fid < 40; fid++) hub.state.addAccount({ fid, custody: wallet(fid) })
    const seen: number[] = []
    for (let token = ''; ; ) {
      const { body } = await get(`/v1/fids?shard_id=1&pageSize=4&pageToken=${encodeURIComponent(token)}`)
      seen.push(...body.fids)
      if (!body.nextPageToken) break
      token = body.nextPageToken
    }
    expect(seen).toEqual([2, 4, ...Array.from({ length: 15 }, (_, i) => 10 + 2 * i)])
  })

  test('of events start at the given id, the id included', async () => {
    const all = await newEvents(3)
    expect(await newEvents(3, all[2]?.id)).toEqual(all.slice(2))
    expect((await get(`/v1/events?shard_index=2&from_event_id=${all[1]?.id}&pageSize=2`)).body.events).toHaveLength(2)
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
    const { status, body } = await get(path)
    expect(status).toBe(400)
    expect(Object.keys(body).sort()).toEqual(['error', 'error_detail'])
  })

  test('a FID nobody registered has no messages, and a made-up name in bulk answers', async () => {
    expect((await get('/v1/verificationsByFid?fid=999')).body.messages).toEqual([])
    expect((await get('/v2/farcaster/user/bulk?fids=999')).body.users[0]?.username).toBe('fid:999')
    expect((await get('/v2/farcaster/user/bulk?fids=999', { 'x-api-key': 'devnet' })).body.users).toEqual([])
  })

  test('by address there is no answer without a key, and none for a wrong one', async () => {
    const path = `/v2/farcaster/user/bulk-by-address?addresses=${wallet(31)}`
    expect((await get(path)).status).toBe(401)
    expect((await get(path, { 'x-api-key': 'wrong' })).status).toBe(401)
    const custody = `/v2/farcaster/user/bulk-by-address?addresses=${wallet(103)}`
    expect((await get(custody, { 'x-api-key': 'devnet' })).status).toBe(200)
    const verified = await get(`${custody}&address_types=verified_address`, { 'x-api-key': 'devnet' })
    expect(verified).toMatchObject({ status: 404, body: { code: 'NotFound', status: 404 } })
  })
})

describe('faults', () => {
  const seen = async (fault: Fault) => {
    hub.faults.add(fault, { path: '/v1/info' })
    try {
      const response = await fetch(`${hub.url}/v1/info`, { signal: AbortSignal.timeout(300) })
      const text = await response.text()
      return { status: response.status, retryAfter: response.headers.get('retry-after'), text }
    } catch (error) {
      return { failed: (error as Error).name }
    }
  }
  test('are what they say, hit the requests they are meant for, and end', async () => {
    hub.faults.add({ kind: 'hang' }, { path: '/v1/fids' })
    expect(await seen({ kind: 'rate-limited', retryAfter: 7 })).toMatchObject({ status: 429, retryAfter: '7' })
    expect(await seen({ kind: 'status', status: 503 })).toMatchObject({ status: 503, retryAfter: null })
    expect((await seen({ kind: 'html' })).text).toContain('<!doctype html>')
    const half = (await seen({ kind: 'half-json' })).text ?? ''
    expect(() => JSON.parse(half)).toThrow(SyntaxError)
    expect(await seen({ kind: 'truncated' })).toEqual({ failed: 'TypeError' })
    expect(await seen({ kind: 'hang' })).toEqual({ failed: 'TimeoutError' })
    expect(await seen({ kind: 'slow', delayMs: 5_000 })).toEqual({ failed: 'TimeoutError' })
    expect(JSON.parse((await seen({ kind: 'wrong-schema' })).text ?? '').messages).toBe('none')
    expect((await seen({ kind: 'huge', bytes: 100_000 })).text?.length).toBeGreaterThan(100_000)
    expect((await get('/v1/info')).status).toBe(200)
    expect(hub.faults.list()).toHaveLength(1)
  })

  test('and changes can be ordered by hand', async () => {
    const order = (body: object) => fetch(`${hub.url}/control`, { method: 'POST', body: JSON.stringify(body) })
    expect((await order({ do: 'verify', fid: 4, address: wallet(77) })).status).toBe(200)
    expect(await verifiedBy(4)).toEqual([wallet(77)])
    expect((await order({ do: 'unverify', fid: 4, address: wallet(77), how: 'revoke' })).status).toBe(200)
    expect(await verifiedBy(4)).toEqual([])
    await order({ do: 'fault', fault: { kind: 'status', status: 500 }, times: 2 })
    expect([(await fetch(`${hub.url}/v1/info`)).status, (await fetch(`${hub.url}/v1/fids`)).status]).toEqual([500, 500])
    expect((await order({ do: 'unverify', fid: 4, address: wallet(77) })).status).toBe(400)
    expect((await order({ do: 'nonsense' })).status).toBe(400)
    expect((await get('/control')).body.post_one_of.length).toBeGreaterThan(5)
  })
})

function sample(name: string) {
  return JSON.parse(readFileSync(new URL(`${name}.json`, samples), 'utf8'))
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
