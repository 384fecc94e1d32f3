import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FetchOptions } from '../../net/door.ts'
import type { DoorReason } from '../../net/errors.ts'
import { rounds } from '../support/rounds.ts'
import { type Canary, startCanary } from './canary.ts'
import { doorTo, failureOf } from './doors.ts'
import { carriers, forbidden4, forbidden6, reservedHosts, spellings } from './forbidden.ts'

const publicAddresses = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']

let canary: Canary
/** Options of a fetch that allow the canary's port: only the address check keeps a request from reaching the canary. */
let options: FetchOptions
beforeAll(async () => {
  canary = await startCanary()
  options = { maxBytes: 1_000, timeoutMs: 60_000, redirects: 3, ports: [canary.port] }
})
afterAll(() => canary.stop())

const doorAnswering = (addresses: readonly string[]) => doorTo([], { lookup: async () => addresses })

async function reasonOf(request: Promise<unknown>): Promise<DoorReason> {
  return (await failureOf(request)).reason
}

/** Runs `requests` and asserts that they opened no socket, hence reached nobody. */
async function withoutASocket(requests: () => Promise<void>) {
  const before = canary.sockets()
  await requests()
  expect(canary.sockets() - before).toBe(0)
  expect(canary.arrivals).toEqual([])
}

function literalTargets(port: number): string[] {
  const hosts = [
    ...forbidden4.flatMap(spellings),
    ...[...forbidden6, ...forbidden4.flatMap(carriers)].map((address) => `[${address}]`),
    '[::1%25lo]',
    '[fe80::1%eth0]',
    '[::127.0.0.1.]',
    '[v1.x]',
    '[]',
    '',
  ]
  return hosts.flatMap((host) => [`https://${host}:${port}/`, `http://${host}:${port}/`, `https://${host}/`])
}

test('an address in any spelling is refused, forbidden or not', async () => {
  const targets = [
    ...literalTargets(canary.port),
    ...publicAddresses.flatMap((a) => [`https://${a}/`, `https://[${a}]/`]),
  ]
  expect(new Set(targets).size).toBeGreaterThan(1_000)
  // The name server resolves everything to this machine: a spelling that is taken for a name would reach the canary.
  const door = doorAnswering(['127.0.0.1', '::1'])
  await withoutASocket(async () => {
    for (const target of targets)
      expect([target, await reasonOf(door.fetch(target, options))]).toEqual([target, 'blocked'])
  })
})

test('names that are reserved, private or malformed are refused', async () => {
  const door = doorAnswering(publicAddresses)
  await withoutASocket(async () => {
    for (const host of reservedHosts) {
      expect([host, await reasonOf(door.fetch(`https://${host}/`, options))]).toEqual([host, 'blocked'])
    }
  })
})

test('users, passwords, schemes and closed ports are refused', async () => {
  const { port } = canary
  const door = doorAnswering(publicAddresses)
  const targets = [
    'https://user@agent.shop.xyz/',
    'https://:pass@agent.shop.xyz/',
    `https://agent.shop.xyz@127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}@agent.shop.xyz/`,
    `https://agent.shop.xyz:443@127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}\\@agent.shop.xyz/`,
    `https://127.0.0.1:${port}#@agent.shop.xyz/`,
    `https://127.0.0.1:${port}?@agent.shop.xyz/`,
    `https:127.0.0.1:${port}`,
    `https:///127.0.0.1:${port}`,
    'http://agent.shop.xyz/',
    'http://agent.shop.xyz:443/',
    'ftp://agent.shop.xyz/',
    'file:///etc/passwd',
    'data:,1',
    'ws://agent.shop.xyz/',
    'gopher://agent.shop.xyz/',
    'blob:https://agent.shop.xyz/1',
    'javascript:1',
    '//a.xyz/',
    'https://agent.shop.xyz:80/',
    'https://agent.shop.xyz:22/',
    'https://agent.shop.xyz:0/',
    'agent.shop.xyz',
    '',
    'https://agent.shop.xyz:6379/',
    'https://agent.shop.xyz:65536/',
    `https://agent.shop.xyz/${'a'.repeat(2_048)}`,
  ]
  await withoutASocket(async () => {
    for (const target of targets)
      expect([target, await reasonOf(door.fetch(target, options))]).toEqual([target, 'blocked'])
  })
})

test('one forbidden address among a name’s answers refuses the whole set', async () => {
  const addresses = [
    ...forbidden4,
    ...forbidden6,
    ...forbidden4.flatMap(carriers),
    'fe80::1%eth0',
    '',
    'agent.shop.xyz',
  ]
  let tried = 0
  await withoutASocket(async () => {
    for (const address of addresses) {
      const answers = [[address], [...publicAddresses, address], [address, ...publicAddresses]]
      for (const answer of answers) {
        const target = `https://agent.shop.xyz:${canary.port}/`
        expect([answer, await reasonOf(doorAnswering(answer).fetch(target, options))]).toEqual([answer, 'blocked'])
        tried++
      }
    }
  })
  expect(tried).toBeGreaterThan(1_000)
})

test('a name that answers otherwise the second time gains nothing', async () => {
  // Unallocated (IANA IPv6 Global Unicast Address Assignments): it passes the address check, and no host answers.
  const nobody = '2d00::1'
  const private_ = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '0.0.0.0']
  for (let round = 0; round < 20; round++) {
    const asked: string[][] = []
    const door = doorTo([], {
      lookup: async () => {
        asked.push(asked.length % 2 === 0 ? [nobody] : private_)
        return asked.at(-1)!
      },
    })
    const target = `https://agent.shop.xyz:${canary.port}/`
    const first = await reasonOf(door.fetch(target, { ...options, timeoutMs: 50 }))
    expect(['connect_error', 'timeout']).toContain(first)
    expect(asked).toEqual([[nobody]]) // judged and connected to from one answer
    expect(await reasonOf(door.fetch(target, options))).toBe('blocked')
    expect(asked).toEqual([[nobody], private_])
  }
  expect(canary.arrivals).toEqual([])
})

test('no text of a URL leads to this machine', { tags: ['rounds'] }, async () => {
  const piece = fc.constantFrom(
    ...['https:', 'http:', 'HTTPS:', '/', '//', '\\', '@', ':', '.', '?', '#', '%', '[', ']', '::1', '::ffff:', '0x7f'],
    ...[
      '127.0.0.1',
      '127.1',
      '2130706433',
      'localhost',
      'agent.shop.xyz',
      'xyz',
      '％',
      '。',
      '%2e',
      '%40',
      '\t',
      '\n',
      ' ',
    ],
    `:${canary.port}`,
    `:${canary.port}/`,
  )
  const text = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((pieces) => `https://${pieces.join('')}:${canary.port}/`),
    fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join('')),
    fc.webUrl(),
  )
  const door = doorAnswering(['127.0.0.1'])
  await withoutASocket(async () => {
    await fc.assert(
      fc.asyncProperty(text, async (url) => {
        expect(await reasonOf(door.fetch(url, options))).toBe('blocked')
      }),
      { numRuns: rounds(200, 1_000) },
    )
  })
})
