import { expect, test } from 'vitest'
import { testDatabase } from '../../support/database.ts'
import { publicV4, publicV6 } from '../public-host.ts'
import { aroundDatabase } from './namespace.ts'

const run = aroundDatabase(testDatabase())
/** What came of claims at the API in a network that is no more than these addresses. */
const claimIn = (addresses: readonly string[], host?: string) => run('ask-claims.ts', addresses, host ? [host] : [])

const failed = '422 ERR_MANIFEST_FETCH_FAILED'
const nowhere = {
  'A only': failed,
  'AAAA only': failed,
  both: failed,
  'many A': failed,
  'many AAAA': failed,
  none: failed,
  unanswered: failed,
}
/** A claim whose host was reached; what it serves is no manifest. */
const reached = '400 ERR_PAYLOAD_INVALID'
const went = { strays: 0, alive: 200, code: 0 }

test('without a route, a claim by any name is a manifest that cannot be read, and the API goes on', async () => {
  expect(await claimIn(['-6 addr flush dev lo'])).toEqual({ names: nowhere, ...went })
})

test.each([
  ['IPv6', publicV4, ['-6 addr flush dev lo', `addr add ${publicV4}/32 dev lo`], ['A only', 'both']],
  ['IPv4', publicV6, [`-6 addr add ${publicV6}/128 dev lo`], ['A only', 'AAAA only', 'both']],
])(
  'without a route of %s, a claim may lose its host at any moment, and the API goes on',
  async (_no, address, addresses, known) => {
    const { names, moments, ...rest } = await claimIn(addresses, address)
    expect(names).toEqual({ ...nowhere, ...Object.fromEntries(known.map((kind) => [kind, reached])) })
    expect(Object.keys(moments)).toEqual(['end', 'reset', 'garbage', 'silence'])
    for (const outcomes of Object.values(moments)) {
      expect(Object.keys(outcomes as object).filter((one) => one !== failed && one !== reached)).toEqual([])
    }
    expect(rest).toEqual(went)
  },
)
