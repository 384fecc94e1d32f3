import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Registration } from '../../db/model/registration.model.ts'
import type { EventPlace, RegistrationEvent } from '../../processors/mapping/registration-events.ts'
import { applyRegistrationEvents, maxUriBytes } from '../../processors/mapping/registrations.ts'

const [alice, bob, wallet] = ['a1', 'b0', 'ee'].map((byte) => Buffer.from(byte.repeat(20), 'hex')) as [
  Buffer,
  Buffer,
  Buffer,
]

/** Maps events, each in a block of its own from `from` on, onto existing registrations. */
function run(events: Partial<RegistrationEvent>[], existing: Registration[] = [], from = 100) {
  const placed = events.map(
    (event, index) => ({ agentId: 0n, ...placeOf(from + index), ...event }) as RegistrationEvent,
  )
  return applyRegistrationEvents('base', existing, placed)
}

function placeOf(blockNumber: number): Omit<EventPlace, 'agentId'> {
  const blockTimestamp = new Date(1_700_000_000_000 + blockNumber * 1000)
  return { blockNumber, logIndex: 1, blockTimestamp, txHash: Buffer.from([blockNumber]) }
}

const mint = (to: Buffer, agentId = 0n) => ({ kind: 'transfer', from: null, to, agentId }) as const
const transfer = (from: Buffer, to: Buffer | null) => ({ kind: 'transfer', from, to }) as const
const uri = (text: string | Buffer) => ({ kind: 'uri', uri: Buffer.from(text) }) as const
const registered = (text: string) => ({ kind: 'registered', uri: Buffer.from(text) }) as const
const metadata = (key: string | Buffer, value: Buffer) => ({ kind: 'metadata', key: Buffer.from(key), value }) as const

describe('an identity', () => {
  test('is minted, told where its file is, and given a wallet', () => {
    const {
      registrations,
      transfers,
      metadata: entries,
    } = run([mint(alice), uri('ipfs://x'), metadata('agentWallet', wallet)])
    expect(registrations).toEqual([
      new Registration({
        id: 'base-0',
        chain: 'base',
        agentId: 0n,
        owner: alice,
        burned: false,
        agentWallet: wallet,
        agentUri: 'ipfs://x',
        agentUriLength: 8,
        agentUriSha256: null,
        registeredBlock: 100,
        registeredAt: placeOf(100).blockTimestamp,
        registeredTx: Buffer.from([100]),
        acquiredBlock: 100,
        acquiredAt: placeOf(100).blockTimestamp,
        updatedBlock: 102,
        updatedAt: placeOf(102).blockTimestamp,
      }),
    ])
    expect(transfers.map(({ id, from, to }) => [id, from, to])).toEqual([['base-100-1', null, alice]])
    expect(entries.map(({ key, value }) => [key, value])).toEqual([['agentWallet', wallet]])
  })

  test('that was passed on before it was announced belongs to its last receiver', () => {
    const { registrations } = run([mint(alice), transfer(alice, bob), uri('')])
    expect(registrations[0]).toMatchObject({ owner: bob, agentUri: '', acquiredBlock: 101, registeredBlock: 100 })
  })

  describe('whose receiver acts in its hook', () => {
    const inHook = (...hook: Partial<RegistrationEvent>[]) => {
      const events = [mint(alice), ...hook, registered(''), metadata('agentWallet', alice)]
      return run(events.map((event, logIndex) => ({ ...event, ...placeOf(100), logIndex })))
    }

    test('and passes it on has no wallet, and no trace of one in its metadata', () => {
      const cleared = metadata('agentWallet', Buffer.alloc(0))
      const { registrations, metadata: entries } = inHook(cleared, transfer(alice, bob))
      expect(registrations[0]).toMatchObject({ owner: bob, agentWallet: null })
      expect(entries.map(({ value }) => value)).toEqual([Buffer.alloc(0)])
    })

    test('and names a wallet has that one', () => {
      expect(inHook(metadata('agentWallet', wallet)).registrations[0]).toMatchObject({ agentWallet: wallet })
    })

    test('and names a file keeps it when the registration has none', () => {
      expect(inHook(uri('ipfs://hook')).registrations[0]).toMatchObject({ agentUri: 'ipfs://hook', agentWallet: alice })
    })

    test('and sets nothing has the wallet of its registrant; one that is set later counts', () => {
      const { registrations } = inHook()
      expect(registrations[0]).toMatchObject({ agentUri: '', agentWallet: alice })
      expect(run([metadata('agentWallet', wallet)], registrations, 200).registrations[0]?.agentWallet).toEqual(wallet)
    })
  })

  test('that is transferred loses its wallet and keeps the rest', () => {
    const { registrations } = run([mint(alice), uri('u'), metadata('agentWallet', wallet), transfer(alice, bob)])
    expect(registrations[0]).toMatchObject({ owner: bob, agentWallet: null, agentUri: 'u', updatedBlock: 103 })
  })

  test('that is burned has no owner, and remembers its mint', () => {
    const { registrations, transfers } = run([mint(alice), transfer(alice, null)])
    expect(registrations[0]).toMatchObject({ owner: null, burned: true, registeredBlock: 100, acquiredBlock: 101 })
    expect(transfers[1]).toMatchObject({ from: alice, to: null })
  })

  test('of which no transfer was seen has no owner', () => {
    expect(run([uri('u')]).registrations[0]).toMatchObject({ owner: null, burned: false, agentUri: 'u' })
  })

  test('goes on from what is stored, and other ones stay untouched', () => {
    const stored = run([mint(alice), uri('old'), mint(bob, 7n)]).registrations
    const { registrations } = run([uri('new')], stored, 200)
    expect(registrations).toHaveLength(1)
    expect(registrations[0]).toMatchObject({
      id: 'base-0',
      owner: alice,
      agentUri: 'new',
      registeredBlock: 100,
      updatedBlock: 200,
    })
  })

  test('has the id of its number, however large', () => {
    const agentId = 2n ** 256n - 1n
    expect(run([mint(alice, agentId)]).registrations[0]).toMatchObject({ id: `base-${agentId}`, agentId })
  })
})

describe('a URI', () => {
  test('of broken UTF-8 and NUL is kept readable, with the length it was sent with', () => {
    const { registrations } = run([uri(Buffer.from([0x61, 0x00, 0xff, 0x62]))])
    expect(registrations[0]).toMatchObject({ agentUri: 'a\ufffd\ufffdb', agentUriLength: 4, agentUriSha256: null })
  })

  test('at the limit is kept, above it only its length and hash are, until it is short again', () => {
    const limit = Buffer.alloc(maxUriBytes, 0x61)
    expect(run([uri(limit)]).registrations[0]?.agentUri).toHaveLength(maxUriBytes)
    const long = Buffer.alloc(maxUriBytes + 1, 0x61)
    const { registrations } = run([uri(long)])
    expect(registrations[0]).toMatchObject({
      agentUri: null,
      agentUriLength: maxUriBytes + 1,
      agentUriSha256: createHash('sha256').update(long).digest(),
    })
    expect(run([uri('short')], registrations).registrations[0]).toMatchObject({
      agentUri: 'short',
      agentUriSha256: null,
    })
  })
})

describe('metadata', () => {
  test('has its newest value', () => {
    const { metadata: entries } = run([metadata('k', alice), metadata('other', bob), metadata('k', bob)])
    expect(entries.map(({ key, value, blockNumber }) => [key, value, blockNumber])).toEqual([
      ['k', bob, 102],
      ['other', bob, 101],
    ])
  })

  test('of a key that only looks like the reserved one sets no wallet', () => {
    for (const key of ['agentwallet', 'agentWallet ', 'agentWallet\u0000', 'AGENTWALLET']) {
      expect(run([mint(alice), metadata(key, wallet)]).registrations[0]?.agentWallet).toBeNull()
    }
  })

  test('of keys that read the same but are not stays apart', () => {
    const { metadata: entries } = run([
      metadata(Buffer.from([0xff]), alice),
      metadata(Buffer.from([0xfe]), bob),
      metadata(Buffer.from('\ufffd'), wallet),
    ])
    expect(new Set(entries.map(({ id }) => id)).size).toBe(3)
    expect(entries.map(({ key }) => key)).toEqual(['\ufffd', '\ufffd', '\ufffd'])
  })

  test('that is very long is kept in part, and known by the whole key', () => {
    const long = 'k'.repeat(70_000)
    const { metadata: entries } = run([metadata(long, Buffer.alloc(70_000)), metadata(`${long}.`, alice)])
    expect(entries.map(({ key, value }) => [key.length, value.length])).toEqual([
      [65_536, 65_536],
      [65_536, 20],
    ])
    expect(new Set(entries.map(({ id }) => id)).size).toBe(2)
  })

  test("is known by the first sixteen bytes of its key's hash", () => {
    const hash = createHash('sha256').update('agentWallet').digest('hex').slice(0, 32)
    expect(run([metadata('agentWallet', wallet)]).metadata[0]?.id).toBe(`base-0-${hash}`)
  })
})
