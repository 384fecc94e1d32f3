import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Fault } from '../../devnet/hub/faults.ts'
import type { Removal } from '../../devnet/hub/verifications.ts'
import { type SmallHub, startSmallHub, wallet } from '../doubles/small-hub.ts'

let hub: SmallHub
beforeEach(async () => {
  hub = await startSmallHub()
})
afterEach(() => hub.stop())

describe('a verification', () => {
  test.each<Removal>(['message', 'revoke', 'prune', 'merge'])('ended by %s is gone and was reported', async (how) => {
    const before = (await hub.newEvents(3)).at(-1)?.id ?? 0
    hub.state.removeVerification(3, wallet(31), how)
    expect(await hub.verifiedBy(3)).toEqual([])
    const reported = JSON.stringify(await hub.newEvents(3, before + 1))
    const type = { message: 'MERGE', merge: 'MERGE', revoke: 'REVOKE', prune: 'PRUNE' }[how]
    expect(reported).toContain(`HUB_EVENT_TYPE_${type}_MESSAGE`)
    expect(reported).toContain(wallet(31))
    expect(reported.includes('VERIFICATION_REMOVE')).toBe(how === 'message')
  })

  test('made again stays live although its first message is reported as deleted', async () => {
    hub.state.addVerification(3, wallet(31), { at: new Date(Date.now() + 5_000) })
    const last = (await hub.newEvents(3)).at(-1)?.mergeMessageBody as { deletedMessages: object[] }
    expect(last.deletedMessages).toHaveLength(1)
    expect(await hub.verifiedBy(3)).toEqual([wallet(31)])
  })

  test('moves to another FID', async () => {
    hub.state.moveVerification(wallet(31), 3, 4)
    expect([await hub.verifiedBy(3), await hub.verifiedBy(4)]).toEqual([[], [wallet(31)]])
  })

  test('may be of two FIDs at once', async () => {
    hub.state.addVerification(4, wallet(31))
    const { body } = await hub.get(`/v2/farcaster/user/bulk-by-address?addresses=${wallet(31)}`, {
      'x-api-key': 'devnet',
    })
    expect(body[wallet(31)]).toMatchObject([{ fid: 3 }, { fid: 4 }])
  })

  test('of a custody or auth address does not exist', async () => {
    expect((await hub.get(`/v1/fidAddressType?fid=3&address=${wallet(103)}`)).body).toEqual({
      is_custody: true,
      is_auth: false,
      is_verified: false,
    })
    expect((await hub.get(`/v1/fidAddressType?fid=3&address=${wallet(200)}`)).body.is_auth).toBe(true)
  })

  test('is repeated by the block shard, and forgotten events leave only the state', async () => {
    const { body } = await hub.get('/v1/events?shard_index=0')
    expect(JSON.stringify(body)).toContain(wallet(31))
    hub.state.forgetEvents()
    expect(await hub.newEvents(3)).toEqual([])
    expect(await hub.verifiedBy(3)).toEqual([wallet(31)])
  })
})

describe('faults', () => {
  const seen = async (fault: Fault, withinMs = 60_000) => {
    hub.faults.add(fault, { path: '/v1/info' })
    try {
      const response = await fetch(`${hub.url}/v1/info`, { signal: AbortSignal.timeout(withinMs) })
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
    expect(await seen({ kind: 'hang' }, 300)).toEqual({ failed: 'TimeoutError' })
    expect(await seen({ kind: 'slow', delayMs: 5_000 }, 300)).toEqual({ failed: 'TimeoutError' })
    expect(JSON.parse((await seen({ kind: 'wrong-schema' })).text ?? '').messages).toBe('none')
    expect((await seen({ kind: 'huge', bytes: 100_000 })).text?.length).toBeGreaterThan(100_000)
    expect((await hub.get('/v1/info')).status).toBe(200)
    expect(hub.faults.list()).toHaveLength(1)
  })

  test('and changes can be ordered by hand', async () => {
    const order = (body: object) => fetch(`${hub.url}/control`, { method: 'POST', body: JSON.stringify(body) })
    expect((await order({ do: 'verify', fid: 4, address: wallet(77) })).status).toBe(200)
    expect(await hub.verifiedBy(4)).toEqual([wallet(77)])
    expect((await order({ do: 'unverify', fid: 4, address: wallet(77), how: 'revoke' })).status).toBe(200)
    expect(await hub.verifiedBy(4)).toEqual([])
    await order({ do: 'fault', fault: { kind: 'status', status: 500 }, times: 2 })
    expect([(await fetch(`${hub.url}/v1/info`)).status, (await fetch(`${hub.url}/v1/fids`)).status]).toEqual([500, 500])
    expect((await order({ do: 'unverify', fid: 4, address: wallet(77) })).status).toBe(400)
    expect((await order({ do: 'nonsense' })).status).toBe(400)
    expect((await hub.get('/control')).body.post_one_of.length).toBeGreaterThan(5)
  })
})
