import { readdirSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { createHub } from '../../social/hub.ts'
import { createNeynar } from '../../social/neynar.ts'
import { type CannedServer, serveCanned } from '../doubles/canned.ts'
import { fixture, fixtures } from '../support/fixture.ts'

const recorded = (name: string) => fixture(`sources/socialindex/${name}.json`)

let server: CannedServer | undefined
afterEach(() => server?.stop())

/** A hub that answers with recordings by path, and otherwise with NotFound. */
async function hubOf(answers: Record<string, unknown>) {
  server = await serveCanned((path) => {
    if (path in answers) return { body: answers[path] }
    return { status: 400, body: { error: 'NotFound', error_detail: 'not found' } }
  })
  return { url: server.url, hub: createHub({ url: server.url }) }
}

/** Recordings of requests that no code makes yet. */
const unasked = [
  'hub.eventById',
  'hub.fidAddressType',
  'hub.linksByFid',
  'hub.onChainEventsByFid',
  'hub.onChainIdRegistryEventByAddress',
  'hub.onChainSignersByFid',
]
const asked = [
  'hub.castsByFid',
  'hub.events',
  'hub.fids',
  'hub.info',
  'hub.userDataByFid.single-type',
  'hub.userNameProofByName',
  'hub.verificationsByFid',
  'neynar.user-objects',
]

test('every recorded answer is either read here or known not to be asked for', () => {
  const files = readdirSync(new URL('sources/socialindex/', fixtures)).map((file) => file.replace(/\.json$/, ''))
  expect(files.sort()).toEqual([...asked, ...unasked].sort())
})

test('verificationsByFid, in the older body’s name', async () => {
  const { hub } = await hubOf({ '/v1/verificationsByFid': recorded('hub.verificationsByFid') })
  expect(await hub.verifications(2)).toMatchObject([
    {
      address: '0x91031dcfdea024b4d51e775486111d2b2a715871',
      verifiedAt: new Date('2023-04-28T17:42:20Z'),
      contractChainId: null,
    },
  ])
})

test('verificationsByFid of somebody else is no answer', async () => {
  const { hub } = await hubOf({ '/v1/verificationsByFid': recorded('hub.verificationsByFid') })
  await expect(hub.verifications(3)).rejects.toMatchObject({ failure: 'bad_answer' })
})

test('userDataByFid and castsByFid', async () => {
  const userData = { messages: [recorded('hub.userDataByFid.single-type')], nextPageToken: '' }
  const { hub } = await hubOf({ '/v1/userDataByFid': userData })
  expect(await hub.profile(6833)).toEqual({
    handle: null,
    handleOwner: null,
    displayName: null,
    bio: null,
    pfpUrl: 'https://i.imgur.com/HG54Hq6.png',
    profileUrl: null,
    github: null,
    twitter: null,
    lastMessageAt: new Date('2023-08-24T16:03:51Z'),
  })
  await server?.stop()
  const posts = await hubOf({ '/v1/castsByFid': recorded('hub.castsByFid') })
  expect((await posts.hub.profile(226)).lastMessageAt).toEqual(new Date('2022-07-22T00:07:35Z'))
})

test('userNameProofByName: the name counts for the FID of its proof alone', async () => {
  const named = (fid: number) => {
    const data = {
      type: 'MESSAGE_TYPE_USER_DATA_ADD',
      fid,
      timestamp: 1,
      userDataBody: { type: 'USER_DATA_TYPE_USERNAME', value: 'adityapk' },
    }
    return hubOf({
      '/v1/userDataByFid': { messages: [{ data }] },
      '/v1/userNameProofByName': recorded('hub.userNameProofByName'),
    })
  }
  expect((await (await named(6833)).hub.profile(6833)).handle).toBe('adityapk')
  await server?.stop()
  expect((await (await named(7)).hub.profile(7)).handle).toBeNull()
})

test('fids', async () => {
  const { hub } = await hubOf({ '/v1/fids': recorded('hub.fids') })
  const { fids, nextPageToken } = await hub.fids(1)
  expect([fids.length, fids[0], fids.at(-1), nextPageToken]).toEqual([50, 1, 106, 'DAEDAAAGlQarXegAAACK'])
})

test('info of a hub that does not list its shards: the usual two, and all events it has kept', async () => {
  const { hub } = await hubOf({ '/v1/info': recorded('hub.info') })
  expect((await hub.network()).shards).toEqual([
    { shard: 1, head: 0 },
    { shard: 2, head: 0 },
  ])
})

test('events: a reaction is activity, and the next id follows the last', async () => {
  const { hub } = await hubOf({ '/v1/events': recorded('hub.events') })
  expect(await hub.events(1, 0, new Date())).toEqual({
    changes: [{ kind: 'activity', fid: 310826, at: new Date('2025-07-11T00:00:00Z') }],
    next: 151622205442,
    more: false,
    newestBlockAt: new Date('2025-07-11T00:00:01Z'),
  })
})

test('user objects, in bulk and by address: only addresses listed as verified count', async () => {
  const users: { fid: number; custody_address: string; verified_addresses: { eth_addresses: string[] } }[] =
    recorded('neynar.user-objects')
  const [user] = users
  const [verified] = user!.verified_addresses.eth_addresses as [string]
  const byAddress = { [user!.custody_address]: [user], [verified]: [user] }
  const { hub, url } = await hubOf({
    '/v2/farcaster/user/bulk': { users },
    '/v2/farcaster/user/bulk-by-address': byAddress,
  })
  const sets = await hub.verifiedSets(users.map(({ fid }) => fid))
  for (const one of users) expect(sets?.get(one.fid)).toEqual(one.verified_addresses.eth_addresses)
  const neynar = createNeynar(hub, { url, apiKey: 'secret' })
  const found = await neynar.fidsByAddress?.([user!.custody_address, verified, '0x'.padEnd(42, '1')])
  expect(found).toEqual(new Map([[verified, [user!.fid]]]))
  expect(server?.requests.at(-1)?.headers['x-api-key']).toBe('secret')
  expect(server?.requests[0]?.headers['x-api-key']).toBeUndefined()
})
