import { toBytes } from '../../net/address.ts'

/** Addresses of every kind the door does not go to. */
export const forbidden4 = [
  ...['127.0.0.1', '127.0.0.2', '127.1.2.3', '127.255.255.254', '0.0.0.0', '0.1.2.3'],
  ...['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.254', '192.168.0.1', '192.168.255.255'],
  ...['169.254.169.254', '169.254.0.1', '168.63.129.16', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
  ...['192.0.0.1', '192.0.0.192', '192.0.2.1', '198.51.100.7', '203.0.113.9', '198.18.0.1', '198.19.255.255'],
  ...['192.88.99.1', '192.31.196.1', '192.52.193.1', '192.175.48.1'],
  ...['224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255'],
]

export const forbidden6 = [
  ...['::', '::1', '::2', 'fe80::1', 'febf::1', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'fdff::1', 'ff02::1', 'ff0e::1'],
  ...['100::1', '100:0:0:1::1', '5f00::1', '4000::1', '1fff::1', 'c000::1', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  ...['2001::1', '2001:1::1', '2001:2::1', '2001:3::1', '2001:4:112::1', '2001:10::1', '2001:20::1', '2001:30::1'],
  ...['2001:1ff:ffff::1', '2002::1', '2620:4f:8000::1', '3ffe::1'],
]

/** IPv6 addresses that carry an IPv4 address: compatible, mapped, translated, NAT64, 6to4, Teredo, ISATAP. */
export function carriers(address: string): string[] {
  const [a, b, c, d] = toBytes(address)!
  const high = ((a! << 8) | b!).toString(16)
  const low = ((c! << 8) | d!).toString(16)
  const inverted = [a!, b!, c!, d!].map((byte) => byte ^ 0xff)
  const hidden = [(inverted[0]! << 8) | inverted[1]!, (inverted[2]! << 8) | inverted[3]!].map((group) =>
    group.toString(16),
  )
  return [
    ...[`::${address}`, `::${high}:${low}`, `0:0:0:0:0:0:${address}`, `0000:0000:0000:0000:0000:0000:${high}:${low}`],
    ...[`::ffff:${address}`, `::ffff:${high}:${low}`, `0:0:0:0:0:ffff:${address}`, `0:0:0:0:0:FFFF:${high}:${low}`],
    ...[`::ffff:0:${address}`, `64:ff9b::${address}`, `64:ff9b:1::${address}`, `64:ff9b::${high}:${low}`],
    ...[`2002:${high}:${low}::`, `2002:${high}:${low}::1`, `2001:0:${high}:${low}::${hidden.join(':')}`],
    ...[`2a00:1450::5efe:${address}`, `2a00:1450:0:1:200:5efe:${high}:${low}`],
  ]
}

/** Spellings of an IPv4 address that a URL parser reads as that address, or refuses. */
export function spellings(address: string): string[] {
  const bytes = [...toBytes(address)!]
  const [a, b, c, d] = bytes as [number, number, number, number]
  const whole = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
  const hex = (n: number) => `0x${n.toString(16)}`
  const octal = (n: number) => `0${n.toString(8)}`
  const fullWidth = String.fromCodePoint
  const digits = (text: string, to: (digit: number) => string) => text.replace(/\d/g, (digit) => to(Number(digit)))
  return [
    ...[address, `${address}.`, `${address}..`, `.${address}`],
    ...[`${whole}`, hex(whole), octal(whole), hex(whole).toUpperCase(), `0x0000000${whole.toString(16)}`, `${whole}.`],
    ...[`${a}.${(b << 16) | (c << 8) | d}`, `${a}.${b}.${(c << 8) | d}`, `${hex(a)}.${(b << 16) | (c << 8) | d}`],
    ...[bytes.map(hex).join('.'), bytes.map(octal).join('.'), `${hex(a)}.${octal(b)}.${c}.${hex(d)}`],
    ...[
      bytes.map((byte) => `000${byte.toString(8)}`).join('.'),
      bytes.map((byte) => String(byte).padStart(3, '0')).join('.'),
    ],
    ...[digits(address, (n) => fullWidth(0xff10 + n)), digits(address, (n) => (n ? fullWidth(0x245f + n) : '⓪'))],
    ...[digits(address, (n) => fullWidth(0x1d7ce + n)), digits(address, (n) => fullWidth(0x2080 + n))],
    ...['。', '．', '｡'].map((dot) => address.replaceAll('.', dot)),
    ...[digits(address, (n) => `%3${n}`), address.replaceAll('.', '%2e'), address.replaceAll('.', '%E3%80%82')],
    ...[`${address}%00`, `${address}%20`, `${address}%09`, `${a}.\t${b}.${c}.${d}`, `${a}.${b}.${c}.\u00ad${d}`],
  ]
}

/** Names no public host has. */
export const reservedHosts = [
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    '%6cocalhost',
    'ⓛocalhost',
    'ｌｏｃａｌｈｏｓｔ',
    'local\u00adhost',
    'localhost.localdomain',
  ],
  ...[
    'agent.localhost',
    'a.test',
    'a.example',
    'example.com',
    'www.example.com',
    'a.example.org',
    'a.example.net',
    'a.invalid',
  ],
  ...[
    'printer.local',
    'db.internal',
    'metadata.google.internal',
    'a.home.arpa',
    '1.0.0.127.in-addr.arpa',
    'x.onion',
    'x.alt',
  ],
  ...['nas.lan', 'git.corp', 'a.home', 'a.mail', 'a.intranet', 'a.private', 'kubernetes.default.svc.cluster.local'],
  ...[
    'redis',
    'postgres',
    'metadata',
    'com',
    'agent.shop.xyz.',
    'agent..shop.xyz',
    '.shop.xyz',
    '-a.shop.xyz',
    'a-.shop.xyz',
  ],
  ...[
    `${'a'.repeat(64)}.xyz`,
    `${'a.'.repeat(130)}xyz`,
    'a.b1',
    'a.1b',
    'a.x-n',
    'agent.shop.xyz%00',
    'a b.xyz',
    'a+b.xyz',
  ],
]
