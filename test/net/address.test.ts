import { BlockList } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { refusalOf, toBytes } from '../../net/address.ts'
import { carriers, forbidden4, forbidden6 } from './forbidden.ts'

test('every special address is refused, and every form that carries an IPv4 address', () => {
  for (const address of [...forbidden4, ...forbidden6]) expect([address, refusalOf(address)]).not.toContain(undefined)
  for (const address of ['8.8.8.8', ...forbidden4].flatMap(carriers)) {
    expect([address, refusalOf(address)]).not.toContain(undefined)
  }
})

test('a special block is refused from its first to its last address and not beyond', () => {
  const edges = [
    ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
    ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
    ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
    ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
    ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
    ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
    ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
    ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
    ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
    ['2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
    ['2001:db7:ffff::1', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
    ['2001:ffff::1', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
    ['3ffd:ffff::1', '3ffe::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ] as const
  for (const [below, first, last, above] of edges) {
    for (const address of [below, above]) expect([address, refusalOf(address)]).toEqual([address, undefined])
    for (const address of [first, last]) expect([address, refusalOf(address)]).not.toContain(undefined)
  }
  expect(refusalOf('0.255.255.255')).toBeDefined()
  expect(refusalOf('1.0.0.0')).toBeUndefined()
  expect(refusalOf('223.255.255.255')).toBeUndefined()
  expect(refusalOf('224.0.0.0')).toBeDefined()
  expect(refusalOf('1fff:ffff::1')).toBeDefined()
  expect(refusalOf('4000::')).toBeDefined()
})

test('addresses of public services pass', () => {
  const addresses = [
    '1.1.1.1',
    '8.8.8.8',
    '93.184.215.14',
    '185.199.108.153',
    '2606:4700::1111',
    '2a00:1450:4001:812::200e',
  ]
  for (const address of addresses) expect([address, refusalOf(address)]).toEqual([address, undefined])
})

test('text that is no address is refused', () => {
  const texts = [
    '',
    ' ',
    '127.1',
    '0x7f.0.0.1',
    '010.0.0.1',
    '1.2.3.4 ',
    '1.2.3.4.5',
    '256.1.1.1',
    'localhost',
    '1',
    ':::1',
  ]
  for (const text of [...texts, '2606:4700::1111%eth0', '[2606:4700::1111]', '2606:4700:::1', '1::2::3', '12345::']) {
    expect([text, refusalOf(text)]).toEqual([text, 'not an IP address'])
  }
})

const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 })
const ipv6 = fc.uint8Array({ minLength: 16, maxLength: 16 })
const groupsOf = (bytes: Uint8Array) =>
  Array.from({ length: 8 }, (_, i) => ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16))

test('every spelling of the same IPv6 address gives the same bytes', () => {
  const sparse = fc
    .tuple(ipv6, fc.nat(16), fc.nat(16))
    .map(([bytes, from, length]) =>
      Uint8Array.from(bytes, (byte, index) => (index >= from && index < from + length ? 0 : byte)),
    )
  fc.assert(
    fc.property(sparse, (bytes) => {
      const groups = groupsOf(bytes)
      const dotted = [...groups.slice(0, 6), bytes.slice(12).join('.')].join(':')
      const compressed = new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1)
      const padded = groups.map((group) => group.padStart(4, '0').toUpperCase()).join(':')
      for (const text of [groups.join(':'), dotted, compressed, padded]) expect(toBytes(text)).toEqual(bytes)
    }),
  )
})

test('the judgement agrees with an independent reading of the registries', () => {
  // Two lists: one alone reads an IPv4 address as mapped too, and ::/3 would cover it.
  const special = { ipv4: new BlockList(), ipv6: new BlockList() }
  const blocks = [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '168.63.129.16/32',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '192.175.48.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/3',
    '::/3',
    '4000::/2',
    '8000::/1',
    '2001::/32',
    '2001:1::/32',
    '2001:2::/31',
    '2001:4::/30',
    '2001:8::/29',
    '2001:10::/28',
    '2001:20::/27',
    '2001:40::/26',
    '2001:80::/25',
    '2001:100::/24',
    '2001:db8::/32',
    '2002::/16',
    '2620:4f:8000::/48',
    '3ffe::/16',
    '3fff::/20',
  ].map((cidr) => cidr.split('/') as [string, string])
  const family = (address: string) => (address.includes(':') ? 'ipv6' : 'ipv4')
  for (const [prefix, bits] of blocks) special[family(prefix)].addSubnet(prefix, Number(bits), family(prefix))
  // Random bytes rarely meet a small block: a third of the addresses begins like one.
  const starts = blocks.map(([prefix]) => [...toBytes(prefix)!])
  const address = fc.oneof(
    ipv4,
    ipv6,
    fc
      .tuple(fc.constantFrom(...starts), ipv6, fc.nat(16))
      .map(([start, rest, kept]) => Uint8Array.from(start, (byte, index) => (index < kept ? byte : rest[index]!))),
  )
  fc.assert(
    fc.property(address, (bytes) => {
      const isatap = bytes.length === 16 && /^0[02]005efe$/.test(Buffer.from(bytes.slice(8, 12)).toString('hex'))
      const text = bytes.length === 4 ? bytes.join('.') : groupsOf(bytes).join(':')
      const expected = isatap || special[family(text)].check(text, family(text))
      expect([text, refusalOf(text) !== undefined]).toEqual([text, expected])
    }),
    { numRuns: 5_000 },
  )
})
