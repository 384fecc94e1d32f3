import { expect, test } from 'vitest'
import { publicV4, publicV6 } from '../public-host.ts'
import { runInNamespace } from './namespace.ts'

/** What came of requests in a network prepared by these commands of `ip`, with a host at `address`. */
const askIn = (network: readonly string[], address?: string) =>
  runInNamespace(
    'ask-hosts.ts',
    network.map((command) => `ip ${command}`),
    address ? [address] : [],
  )

const unreachable = ['connect_error', 'connect_error']
const nowhere = {
  'A only': unreachable,
  'AAAA only': unreachable,
  both: unreachable,
  'many A': unreachable,
  'many AAAA': unreachable,
  none: ['dns_error', 'dns_error'],
  unanswered: [expect.stringMatching(/^(dns_error|timeout)$/)],
}

test.each<[string, string[]]>([
  ['without an interface', []],
  ['without a route', ['link set lo up']],
  [
    'whose routes refuse',
    ['link set lo up', 'route add unreachable 93.184.0.0/16', '-6 route add prohibit 2606:2800::/32'],
  ],
  [
    'whose routes drop',
    ['link set lo up', 'route add blackhole 93.184.0.0/16', '-6 route add blackhole 2606:2800::/32'],
  ],
])('in a network %s, every name ends in an error of its request', async (_network, commands) => {
  expect((await askIn(commands)).names).toEqual(nowhere)
})

test.each([
  ['IPv6', publicV4, ['link set lo up', '-6 addr flush dev lo', `addr add ${publicV4}/32 dev lo`], ['A only', 'both']],
  [
    'IPv4',
    publicV6,
    ['link set lo up', '-4 addr flush dev lo', `-6 addr add ${publicV6}/128 dev lo`],
    ['AAAA only', 'both'],
  ],
])(
  'without %s a name with another address is reached, and a connection may break at any byte',
  async (_no, address, commands, reached) => {
    const { names, moments } = await askIn(commands, address)
    expect(names).toEqual({ ...nowhere, ...Object.fromEntries(reached.map((kind) => [kind, [200, 200]])) })
    expect(Object.keys(moments)).toEqual(['end', 'reset', 'garbage', 'silence'])
    for (const outcomes of Object.values(moments)) {
      expect(Object.keys(outcomes as object).filter((outcome) => !broken.includes(outcome))).toEqual([])
    }
  },
)

/** How a request may end whose connection breaks. */
const broken = ['200', 'tls_error', 'connect_error', 'broken_answer', 'timeout']
