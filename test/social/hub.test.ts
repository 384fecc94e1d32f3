import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import type { NoAnswer } from '../../hosts/no-answer.ts'
import { createHub } from '../../social/hub.ts'
import { createNeynar } from '../../social/neynar.ts'
import type { SocialIndex } from '../../social/social-index.ts'
import { type Canned, type CannedServer, serveCanned } from '../doubles/canned.ts'

let server: CannedServer | undefined
let hub: SocialIndex | undefined
afterEach(async () => {
  await hub?.close()
  await server?.stop()
})

async function hubThat(answer: (path: string, query: URLSearchParams) => Canned | undefined, timeoutMs = 5_000) {
  server = await serveCanned(answer)
  hub = createHub({ url: `${server.url}/`, timeoutMs })
  return hub
}

const address = `0x${'Ab'.repeat(20)}`
const verification = (
  body: object,
  { fid = 7, timestamp = 100, type = 'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS' } = {},
) => ({
  data: { type, fid, timestamp, network: 'FARCASTER_NETWORK_MAINNET', ...body },
  hash: '0x00',
})
const added = (fields: object = {}) => ({
  verificationAddAddressBody: { address, protocol: 'PROTOCOL_ETHEREUM', ...fields },
})
const at = (seconds: number) => new Date(Date.UTC(2021, 0, 1) + seconds * 1000)
const page = (...messages: object[]): Canned => ({ body: { messages, nextPageToken: '' } })

describe('a verified set', () => {
  test.each([
    ['the body of today', added()],
    ['the older body, which knows one protocol', { verificationAddEthAddressBody: { address } }],
  ])('is read from %s, lowercase', async (_, body) => {
    const hub = await hubThat(() => page(verification(body)))
    expect(await hub.verifications(7)).toMatchObject([
      { address: address.toLowerCase(), verifiedAt: at(100), contractChainId: null },
    ])
  })

  test.each([
    ['a key', added({ type: 0, chainId: 0 }), null],
    ['a contract wallet', added({ type: 1, chainId: 10 }), 10],
    ['a contract wallet as hubs of 2024 wrote it', added({ verificationType: 1, chainId: 1 }), 1],
    ['a contract wallet without a chain', added({ type: 1 }), 0],
    ['a key with a chain, which means nothing', added({ chainId: 10 }), null],
  ])('says of an address that it is %s', async (_, body, chainId) => {
    const hub = await hubThat(() => page(verification(body)))
    expect(await hub.verifications(7)).toMatchObject([{ contractChainId: chainId }])
  })

  test('leaves out other protocols, whose messages have the same name', async () => {
    const solana = added({ address: '7uFVJ36ZyqcAFGEHCPYNTtDtaSmmNpgzUsBvA72mSjEc', protocol: 'PROTOCOL_SOLANA' })
    const hub = await hubThat(() => page(verification(solana)))
    expect(await hub.verifications(7)).toEqual([])
    expect(await hub.everyVerification(7)).toEqual({
      live: [],
      others: [{ address: '7uFVJ36ZyqcAFGEHCPYNTtDtaSmmNpgzUsBvA72mSjEc', verifiedAt: at(100), hash: null }],
    })
  })

  test('takes the newest of several messages about one address', async () => {
    const hub = await hubThat(() =>
      page(verification(added(), { timestamp: 9 }), verification(added(), { timestamp: 5 })),
    )
    expect(await hub.verifications(7)).toMatchObject([{ address: address.toLowerCase(), verifiedAt: at(9) }])
  })

  test.each([[''], [null], [undefined]])('ends at a next page token of %j', async (nextPageToken) => {
    const other = added({ address: `0x${'2'.repeat(40)}` })
    const hub = await hubThat((_, query) => {
      const second = query.get('pageToken') === 'a+/='
      const messages = [verification(second ? other : added())]
      return { body: second ? { messages, nextPageToken } : { messages, nextPageToken: 'a+/=' } }
    })
    expect(await hub.verifications(7)).toHaveLength(2)
  })

  test.each([
    ['an empty page, although it names a token', [[verification(added())], []], ['a', 'b']],
    ['a token seen before', [[verification(added())], [verification(added())], []], ['a', 'a']],
  ])('ends at %s', async (_, pages, tokens) => {
    let asked = 0
    const hub = await hubThat(() => ({ body: { messages: pages[asked] ?? [], nextPageToken: tokens[asked++] } }))
    expect(await hub.verifications(7)).toHaveLength(1)
    expect(server?.requests).toHaveLength(2)
  })

  test('that never ends is no answer', async () => {
    let asked = 0
    const hub = await hubThat(() => ({ body: { messages: [verification(added())], nextPageToken: `${++asked}` } }))
    await expect(hub.verifications(7)).rejects.toMatchObject({ failure: 'bad_answer' })
    expect(server?.requests).toHaveLength(20)
  })

  test.each([
    ['a body under an unknown name', verification({ verificationAddBody: { address } })],
    ['a malformed address', verification(added({ address: '0x12' }))],
    ['a message of another type', verification(added(), { type: 'MESSAGE_TYPE_CAST_ADD' })],
    ['somebody else’s message', verification(added(), { fid: 8 })],
    ['a malformed time', verification(added(), { timestamp: -1 })],
  ])('with %s is no answer, and above all not an empty one', async (_, message) => {
    const hub = await hubThat(() => page(message))
    await expect(hub.verifications(7)).rejects.toMatchObject({ name: 'NoAnswer', failure: 'bad_answer' })
  })

  test.each([
    [400, { error: 'NotFound', error_detail: null }],
    [400, { error: 'Failed to get messages', error_detail: 'fid not found' }],
  ])('is empty when the hub answers %i %j', async (status, body) => {
    const hub = await hubThat(() => ({ status, body }))
    expect(await hub.verifications(7)).toEqual([])
  })
})

describe('no answer', () => {
  const failure = async (canned: Canned | undefined, timeoutMs?: number): Promise<NoAnswer> => {
    const hub = await hubThat(() => canned, timeoutMs)
    return hub.verifications(7).then(
      () => expect.fail('there was an answer'),
      (error) => error,
    )
  }

  test.each<[string, Canned, string]>([
    ['429', { status: 429, body: '' }, 'rate_limited'],
    ['500', { status: 500, body: '' }, 'unavailable'],
    ['503', { status: 503, body: '' }, 'unavailable'],
    ['400 about something else', { status: 400, body: { error: 'missing field `fid`' } }, 'refused'],
    ['404 of a proxy, even in JSON', { status: 404, body: { message: 'Not Found' } }, 'refused'],
    ['401', { status: 401, body: '' }, 'refused'],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' }, body: '' }, 'bad_answer'],
    ['JSON null', { body: null }, 'bad_answer'],
    ['an empty body', { body: '' }, 'bad_answer'],
    ['more than two MiB', { body: ' '.repeat(2 * 1024 * 1024 + 1) }, 'bad_answer'],
    ['a compressed body', { headers: { 'content-encoding': 'gzip' }, body: gzipSync('{"messages":[]}') }, 'bad_answer'],
  ])('is %s', async (_, canned, expected) => {
    expect(await failure(canned)).toMatchObject({ name: 'NoAnswer', failure: expected })
  })

  test.each([
    ['120', 120],
    ['0', 1],
    ['86400', 3_600],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 1],
    ['soon', 30],
  ])('with Retry-After: %s asks for %s seconds', async (header, seconds) => {
    const error = await failure({ status: 429, headers: { 'retry-after': header }, body: '' })
    expect(error.retryAfterSeconds).toBe(seconds)
  })

  test('is silence, after the time for a whole answer', async () => {
    expect(await failure(undefined, 200)).toMatchObject({ failure: 'unavailable' })
  })

  test('is a hub that is not there', async () => {
    const hub = await hubThat(() => undefined)
    await server?.stop()
    await expect(hub.verifications(7)).rejects.toMatchObject({ failure: 'unavailable' })
  })
})

describe('a profile', () => {
  const data = (type: string, value: string, timestamp = 100) => ({
    data: {
      type: 'MESSAGE_TYPE_USER_DATA_ADD',
      fid: 7,
      timestamp,
      userDataBody: { type: `USER_DATA_TYPE_${type}`, value },
    },
  })
  const profileOf = async (userData: object[], proof?: object, posts: object[] = []) => {
    const hub = await hubThat((path) => {
      if (path === '/v1/userDataByFid') return page(...userData)
      if (path === '/v1/castsByFid') return page(...posts)
      return proof ? { body: proof } : { status: 400, body: { error: 'not found' } }
    })
    return hub.profile(7)
  }

  test('takes the latest value of each part, and none for an emptied one', async () => {
    const profile = await profileOf([
      data('BIO', 'old', 5),
      data('BIO', 'new', 6),
      data('DISPLAY', 'x', 5),
      data('DISPLAY', '', 6),
    ])
    expect(profile).toMatchObject({ bio: 'new', displayName: null, lastMessageAt: at(6) })
  })

  test('has a handle while the proof of the name is its own', async () => {
    expect(await profileOf([data('USERNAME', 'ada.eth')], { name: 'ada.eth', fid: 7 })).toMatchObject({
      handle: 'ada.eth',
    })
  })

  test.each([
    ['the proof is gone', 'ada', undefined],
    ['the proof is somebody else’s', 'ada', { name: 'ada', fid: 8 }],
    ['the name stands for none', 'fid:7', { name: 'fid:7', fid: 7 }],
    ['the name stands for none in the other way', '!7', { name: '!7', fid: 7 }],
  ])('has no handle when %s', async (_, name, proof) => {
    expect(await profileOf([data('USERNAME', name)], proof)).toMatchObject({ handle: null })
  })

  test('counts the newest post as activity', async () => {
    const post = { data: { type: 'MESSAGE_TYPE_CAST_ADD', fid: 7, timestamp: 900 } }
    expect(await profileOf([data('BIO', 'b', 5)], undefined, [post])).toMatchObject({ lastMessageAt: at(900) })
    expect(server?.requests.map(({ path }) => path)).toContain('/v1/castsByFid?fid=7&pageSize=1&reverse=true')
  })
})

describe('shards', () => {
  test('are those the hub counts, with the first id of their highest block', async () => {
    const shardInfos = [0, 1, 2].map((shardId) => ({ shardId, maxHeight: 10 + shardId }))
    const hub = await hubThat(() => ({ body: { numShards: 2, shardInfos } }))
    expect((await hub.network()).shards).toEqual([
      { shard: 1, head: 11 * 16_384 },
      { shard: 2, head: 12 * 16_384 },
    ])
  })

  test('are those the hub lists when it does not count them; the block shard is not among them', async () => {
    const hub = await hubThat(() => ({ body: { shardInfos: [0, 3].map((shardId) => ({ shardId, maxHeight: 1 })) } }))
    expect((await hub.network()).shards.map(({ shard }) => shard)).toEqual([3])
  })
})

test('a hub that counts more shards than can be is no hub', async () => {
  const hub = await hubThat(() => ({ body: { numShards: 1_025 } }))
  await expect(hub.network()).rejects.toMatchObject({ failure: 'bad_answer' })
})

test('a page of FIDs without any, or with the token that led to it, is the last', async () => {
  // What hubs answer behind their last key: farcasterxyz/snapchain #554, #556, #482.
  const empty = await hubThat(() => ({ body: { fids: [], nextPageToken: 'W251bGwsbnVsbF0=' } }))
  const isEndless = true // which the sweep does not take for an end at once
  expect(await empty.fids(1, 'W251bGwsbnVsbF0=')).toEqual({ fids: [], nextPageToken: undefined, isEndless })
  expect(await empty.fids(1)).toEqual({ fids: [], nextPageToken: undefined, isEndless })
  await server?.stop()
  const again = await hubThat(() => ({ body: { fids: [7], nextPageToken: 'again' } }))
  expect(await again.fids(1, 'again')).toEqual({ fids: [7], nextPageToken: undefined, isEndless })
})

test.each([
  ['below the newest block has more behind it', 5, true],
  ['up to the newest block is the end', 4, false],
])('a short page of events %s', async (_, maxHeight, more) => {
  const events = [{ type: 'HUB_EVENT_TYPE_BLOCK_CONFIRMED', id: 4 * 2 ** 14, blockNumber: 4 }]
  const info = { numShards: 1, shardInfos: [{ shardId: 1, maxHeight }] }
  const hub = await hubThat((path) => ({ body: path === '/v1/info' ? info : { events } }))
  expect(await hub.events(1, 0, new Date())).toMatchObject({ more, next: 4 * 2 ** 14 + 1 })
  expect(await hub.events(1, 4 * 2 ** 14 + 1, new Date())).toMatchObject({ more: false }) // only what came before
})

test('an event as long as the network lets one be is read: thousands of links that an account takes back at once', async () => {
  const link = { data: { fid: 7 }, hash: `0x${'ab'.repeat(20)}`, signature: 'x'.repeat(400) }
  const deletedMessages = Array.from({ length: 7_000 }, () => link)
  const event = { type: 'HUB_EVENT_TYPE_PRUNE_MESSAGE', id: 4 * 2 ** 14, blockNumber: 4, deletedMessages }
  expect(JSON.stringify(event).length).toBeGreaterThan(3_000_000)
  const hub = await hubThat((path) => ({ body: path === '/v1/info' ? { numShards: 1 } : { events: [event] } }))
  expect(await hub.events(1, 0, new Date())).toMatchObject({ next: 4 * 2 ** 14 + 1 })
})

test('an answer about one account, or one event, that is too long is not its hub’s failure', async () => {
  const hub = await hubThat(() => ({ body: `{"messages":[],"events":[],"padding":"${'x'.repeat(17 * 2 ** 20)}"}` }))
  const aboutOne = { failure: 'bad_answer', isAboutOne: true }
  await expect(hub.statements(7)).rejects.toMatchObject(aboutOne)
  await expect(hub.events(1, 0, new Date(), 1)).rejects.toMatchObject(aboutOne)
  await expect(hub.events(1, 0, new Date())).rejects.toMatchObject({ failure: 'bad_answer', isAboutOne: false })
})

test('pages of follows that never end are a bad answer', async () => {
  let asked = 0
  const link = verification({ linkBody: { type: 'follow', targetFid: 8 } }, { type: 'MESSAGE_TYPE_LINK_ADD' })
  const hub = await hubThat(() => ({ body: { messages: [link], nextPageToken: `${++asked}` } }))
  await expect(hub.follows(7)).rejects.toMatchObject({ failure: 'bad_answer' })
  expect(server?.requests).toHaveLength(20)
})

test('a hub without the bulk route is asked for it once', async () => {
  const hub = await hubThat(() => ({ status: 404, body: 'Not Found' }))
  expect([await hub.verifiedSets([1]), await hub.verifiedSets([2])]).toEqual([undefined, undefined])
  expect(server?.requests).toHaveLength(1)
})

test('addresses nobody verifies are an empty answer of Neynar’s, a missing route is no answer', async () => {
  const notFound = { code: 'NotFound', message: 'No users found', property: 'addresses', status: 404 }
  let body: unknown = notFound
  const hub = await hubThat(() => ({ status: 404, body }))
  const neynar = createNeynar(hub, { url: server!.url, apiKey: 'key' })
  expect(await neynar.fidsByAddress?.([address])).toEqual(new Map())
  body = '<h1>404</h1>'
  await expect(neynar.fidsByAddress?.([address])).rejects.toMatchObject({ failure: 'refused' })
})
