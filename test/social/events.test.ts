import { describe, expect, test } from 'vitest'
import { eventPage, toChanges } from '../../social/events.ts'

const address = `0x${'a'.repeat(40)}`
const other = `0x${'b'.repeat(40)}`
const now = new Date('2026-03-01T00:00:00Z')
const at = (seconds: number) => new Date(Date.UTC(2021, 0, 1) + seconds * 1000)
const block = 9_254_285
const id = block * 2 ** 14

const message = (type: string, timestamp: number, body: object = {}, fid = 7) => ({
  data: { type: `MESSAGE_TYPE_${type}`, fid, timestamp, ...body },
})
const add = (of: string, timestamp: number, protocol = 'PROTOCOL_ETHEREUM') =>
  message('VERIFICATION_ADD_ETH_ADDRESS', timestamp, { verificationAddAddressBody: { address: of, protocol } })
const remove = (of: string, timestamp: number) =>
  message('VERIFICATION_REMOVE', timestamp, { verificationRemoveBody: { address: of, protocol: 'PROTOCOL_ETHEREUM' } })
const bio = message('USER_DATA_ADD', 5, { userDataBody: { type: 'USER_DATA_TYPE_BIO', value: 'b' } })

const bioChange = { kind: 'profile', fid: 7, part: 'bio', text: 'b' }

const confirmed = { type: 'HUB_EVENT_TYPE_BLOCK_CONFIRMED', blockConfirmedBody: { timestamp: 1_000 } }
const merge = (message: object, ...deletedMessages: object[]) => ({
  type: 'HUB_EVENT_TYPE_MERGE_MESSAGE',
  mergeMessageBody: { message, deletedMessages },
})
const revoke = (message: object) => ({ type: 'HUB_EVENT_TYPE_REVOKE_MESSAGE', revokeMessageBody: { message } })
const prune = (message: object) => ({ type: 'HUB_EVENT_TYPE_PRUNE_MESSAGE', pruneMessageBody: { message } })

/** Changes of events of one block, activity left out. */
function changesOf(...events: object[]) {
  const numbered = events.map((event, index) => ({ id: id + index, blockNumber: block, shardIndex: 1, ...event }))
  const { changes } = toChanges(eventPage.parse({ events: numbered }).events, id, 250, now)
  // The messages that changes carry are covered by other tests.
  return changes.filter(({ kind }) => kind !== 'activity').map((change) => ({ ...change, message: undefined }))
}

describe('an event', () => {
  test('of a verification opens it at the time it was signed', () => {
    expect(changesOf(confirmed, merge(add(address, 900)))).toEqual([
      { kind: 'verified', fid: 7, address, verifiedAt: at(900), at: at(1_000) },
    ])
  })

  test('of a removal message ends the address’s verification when it was signed', () => {
    const ended = { kind: 'unverified', fid: 7, address, at: at(950) }
    expect(changesOf(confirmed, merge(remove(address, 950)))).toEqual([ended])
  })

  test.each([
    ['revocation', revoke(add(address, 900))],
    ['pruning', prune(add(address, 900))],
  ])('of %s ends the one verification it names when its block was confirmed', (_, event) => {
    const ended = { kind: 'unverified', fid: 7, address, verifiedAt: at(900) }
    expect(changesOf(confirmed, event)).toEqual([{ ...ended, at: at(1_000) }])
    expect(changesOf(event)).toEqual([{ ...ended, at: now }])
  })

  test('of a merge ends what it deleted, whatever was merged', () => {
    expect(changesOf(confirmed, merge(bio, add(address, 900)))).toEqual([
      { kind: 'unverified', fid: 7, address, verifiedAt: at(900), at: at(1_000) },
      bioChange,
    ])
  })

  test('of a verification made again ends the old one before it opens the new', () => {
    expect(changesOf(merge(add(address, 950), add(address, 900))).map(({ kind }) => kind)).toEqual([
      'unverified',
      'verified',
    ])
  })

  test('that takes a removal away brings nothing back', () => {
    expect(changesOf(revoke(remove(address, 950)), prune(remove(address, 950)), merge(bio, remove(other, 1)))).toEqual([
      bioChange,
    ])
  })

  test('of another protocol has the account read again, which shows its addresses', () => {
    const solana = add('7uFVJ36ZyqcAFGEHCPYNTtDtaSmmNpgzUsBvA72mSjEc', 900, 'PROTOCOL_SOLANA')
    const read = { kind: 'unknown_profile', fid: 7 }
    expect(changesOf(merge(solana), revoke(solana), prune(solana))).toEqual([read, read, read])
  })

  test('of a link begins and ends a follow at the time it was signed, and a link of another type none', () => {
    const link = (kind: 'ADD' | 'REMOVE', timestamp: number, type = 'follow') =>
      message(`LINK_${kind}`, timestamp, { linkBody: { type, targetFid: 8 } })
    const change = { kind: 'follow', fid: 7, target: 8 }
    const since = { ...change, follows: true, at: at(900) }
    const until = { ...change, follows: false }
    expect(changesOf(confirmed, merge(link('ADD', 900)))).toEqual([since])
    expect(changesOf(merge(link('REMOVE', 950), link('ADD', 900)))).toEqual([{ ...until, at: at(950) }])
    expect(changesOf(merge(link('ADD', 950), link('ADD', 900)))).toEqual([{ ...since, at: at(950) }])
    // What nobody signed is looked up: whoever answers for the hub could say it of anybody.
    const unsigned = { kind: 'unknown_follows', fid: 7 }
    expect(changesOf(confirmed, revoke(link('ADD', 900)), prune(link('ADD', 900)))).toEqual([unsigned, unsigned])
    const another = message('LINK_ADD', 800, { linkBody: { type: 'follow', targetFid: 9 } })
    expect(changesOf(merge(link('ADD', 950), another))).toEqual([unsigned, { ...since, at: at(950) }])
    expect(changesOf(merge(link('REMOVE', 950), another))).toEqual([unsigned, { ...until, at: at(950) }])
    expect(changesOf(revoke(link('REMOVE', 950)), merge(link('ADD', 900, 'block')))).toEqual([])
    expect(changesOf(merge(message('LINK_COMPACT_STATE', 900)))).toEqual([{ kind: 'unknown_follows', fid: 7 }])
  })

  test('of a name’s proof concerns who has it and who had it', () => {
    const body = { usernameProof: { fid: 8 }, deletedUsernameProof: { fid: 7 } }
    expect(changesOf({ type: 'HUB_EVENT_TYPE_MERGE_USERNAME_PROOF', mergeUsernameProofBody: body })).toEqual([
      { kind: 'unknown_profile', fid: 8 },
      { kind: 'unknown_profile', fid: 7 },
    ])
  })

  test.each(['HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT', 'HUB_EVENT_TYPE_MERGE_FAILURE', 'HUB_EVENT_TYPE_OF_TOMORROW'])(
    'of type %s changes nothing',
    (type) => {
      expect(changesOf({ type, somethingBody: {} })).toEqual([])
    },
  )

  test('with a verification of an unknown shape names the account that is to be read instead', () => {
    const unknown = message('VERIFICATION_ADD_ETH_ADDRESS', 1, { verificationAddBody: { address } })
    expect(changesOf(merge(unknown))).toEqual([{ kind: 'unreadable', fid: 7 }])
  })
})

test('a page goes on behind its last event, and does not repeat what came before its first', () => {
  const events = [5, 6, 9].map((id) => ({ id, blockNumber: 0, ...merge(bio) }))
  const page = toChanges(eventPage.parse({ events }).events, 6, 3, now)
  expect([page.next, page.more, page.changes.length]).toEqual([10, true, 4])
  expect(toChanges([], 6, 3, now)).toEqual({ changes: [], next: 6, more: false, newestBlockAt: undefined })
})

test('a page tells when the newest of its blocks was confirmed, whatever their order', () => {
  const of = (blockNumber: number, timestamp: number) => ({
    ...confirmed,
    id: blockNumber * 2 ** 14,
    blockNumber,
    blockConfirmedBody: { timestamp },
  })
  const { events } = eventPage.parse({ events: [of(1, 60), of(3, 180), of(2, 120)] })
  expect(toChanges(events, 0, 3, now).newestBlockAt).toEqual(at(180))
})
