import { expect, test } from 'vitest'
import { parseEgressAllow } from '../../net/egress.ts'

test('without entries there is no exception', () => {
  for (const text of [undefined, '', ' ', ',,\n']) expect([...parseEgressAllow(text)]).toEqual([])
})

test('hosts and ports are read as they stand', () => {
  const text = '127.0.0.1:8080, localhost:80 [::1]:443\nagents.internal:65535,127.0.0.1:8080'
  expect([...parseEgressAllow(text)]).toEqual(['127.0.0.1:8080', 'localhost:80', '[::1]:443', 'agents.internal:65535'])
})

test('an entry that is not exact is refused with what would be right', () => {
  const entries: [string, string][] = [
    ['localhost', 'must be host:port'],
    ['::1:80', 'must be host:port, an IPv6 address in brackets'],
    ['[::1]', 'must be host:port'],
    ['http://localhost:80', 'without scheme or path'],
    ['localhost:80/', 'without scheme or path'],
    ['10.0.0.0/8:80', 'without scheme or path'],
    ['*:80', 'is a pattern'],
    ['*.devnet:80', 'is a pattern'],
    ['localhost:0', 'no port from 1 to 65535'],
    ['localhost:65536', 'no port from 1 to 65535'],
    ['localhost:080', 'no port from 1 to 65535'],
    ['localhost:*', 'is a pattern'],
    [':80', 'no host name'],
    ['user@localhost:80', 'no host name'],
    ['256.1.1.1:80', 'no host name'],
    ['127.1:80', 'must be spelled 127.0.0.1:80'],
    ['0x7f000001:80', 'must be spelled 127.0.0.1:80'],
    ['LOCALHOST:80', 'must be spelled localhost:80'],
    ['localhost.:80', 'must be spelled localhost:80'],
    ['[0:0::1]:80', 'must be spelled [::1]:80'],
  ]
  for (const [entry, problem] of entries) {
    expect(() => parseEgressAllow(`a.devnet:1 ${entry}`), entry).toThrow(problem)
  }
})

test('every bad entry is named at once', () => {
  expect(() => parseEgressAllow('one two:2 three')).toThrow(/^EGRESS_ALLOW: "one" .*; "three" /)
  expect(() => parseEgressAllow(Array.from({ length: 257 }, (_, n) => `a:${n + 1}`).join())).toThrow('at most 256')
})
