import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDoor, type FetchOptions } from '../../net/door.ts'
import { parseEgressAllow } from '../../net/egress.ts'
import { DoorError, type DoorReason } from '../../net/errors.ts'
import { type Canary, startCanary, startHost } from './canary.ts'
import { carriers, forbidden4, forbidden6, reservedHosts, spellings } from './forbidden.ts'

const userAgent = 'agent-directory-test/1.0 (+https://agents.shop.xyz/about)'
const impatient = { intervalMs: 0, maxWaiting: 1_000, maxWaitMs: 10_000 }
const publicAddresses = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']

let canary: Canary
/** The port of the canary is open, so that nothing but the judgement stands between a target and the canary. */
let options: FetchOptions
beforeAll(async () => {
  canary = await startCanary()
  options = { maxBytes: 1_000, timeoutMs: 5_000, redirects: 3, ports: [canary.port] }
})
afterAll(() => canary.stop())

const doorAnswering = (addresses: readonly string[], egressAllow?: string) =>
  createDoor({
    userAgent,
    egressAllow: parseEgressAllow(egressAllow),
    lookup: async () => addresses,
    politeness: impatient,
  })

async function reasonOf(request: Promise<unknown>): Promise<DoorReason> {
  const error = await request.then(
    () => expect.fail('the request went through'),
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(DoorError)
  return (error as DoorError).reason
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
    ...['[::1%25lo]', '[fe80::1%eth0]', '[::127.0.0.1.]', '[v1.x]', '[]', ''],
  ]
  return hosts.flatMap((host) => [`https://${host}:${port}/`, `http://${host}:${port}/`, `https://${host}/`])
}

test('an address in any spelling is refused, forbidden or not', async () => {
  const targets = [
    ...literalTargets(canary.port),
    ...publicAddresses.flatMap((a) => [`https://${a}/`, `https://[${a}]/`]),
  ]
  expect(new Set(targets).size).toBeGreaterThan(1_000)
  // A name server that resolves everything to this machine: a spelling taken for a name would still be caught here.
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
    ...['https://user@agent.shop.xyz/', 'https://:pass@agent.shop.xyz/', `https://agent.shop.xyz@127.0.0.1:${port}/`],
    ...[`https://127.0.0.1:${port}@agent.shop.xyz/`, `https://agent.shop.xyz:443@127.0.0.1:${port}/`],
    ...[`https://127.0.0.1:${port}\\@agent.shop.xyz/`, `https://127.0.0.1:${port}#@agent.shop.xyz/`],
    ...[`https://127.0.0.1:${port}?@agent.shop.xyz/`, `https:127.0.0.1:${port}`, `https:///127.0.0.1:${port}`],
    ...[
      'http://agent.shop.xyz/',
      'http://agent.shop.xyz:443/',
      'ftp://agent.shop.xyz/',
      'file:///etc/passwd',
      'data:,1',
    ],
    ...[
      'ws://agent.shop.xyz/',
      'gopher://agent.shop.xyz/',
      'blob:https://agent.shop.xyz/1',
      'javascript:1',
      '//a.xyz/',
    ],
    ...['https://agent.shop.xyz:80/', 'https://agent.shop.xyz:22/', 'https://agent.shop.xyz:0/', 'agent.shop.xyz', ''],
    ...['https://agent.shop.xyz:6379/', 'https://agent.shop.xyz:65536/', `https://agent.shop.xyz/${'a'.repeat(2_048)}`],
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
  // Unallocated space (IANA IPv6 Global Unicast Address Assignments): passes the judgement, and nobody is there.
  const nobody = '2d00::1'
  const private_ = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '0.0.0.0']
  for (let round = 0; round < 20; round++) {
    const asked: string[][] = []
    const door = createDoor({
      userAgent,
      egressAllow: parseEgressAllow(''),
      politeness: impatient,
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

test('a redirect to a forbidden target is refused at every hop', async () => {
  const host = await startHost((socket, head) => {
    const [, left, to] = /^GET \/(\d)\/(\S*)/.exec(head)!
    const location = left === '1' ? Buffer.from(to!, 'base64url') : `/${Number(left) - 1}/${to}`
    socket.end(`HTTP/1.1 ${[301, 302, 303, 307, 308][to!.length % 5]} Elsewhere\r\nlocation: ${location}\r\n\r\n`)
  })
  const targets = [
    ...spellings('127.0.0.1').map((spelling) => `https://${spelling}:${canary.port}/`),
    ...carriers('127.0.0.1').map((address) => `https://[${address}]:${canary.port}/`),
    ...[`https://[::1]:${canary.port}/`, `http://127.0.0.1:${canary.port}/`, `//127.0.0.1:${canary.port}/`],
    ...[`https://user@agent.shop.xyz:${canary.port}/`, `http://agent.shop.xyz:${canary.port}/`, 'file:///etc/passwd'],
    ...[`http://localhost:${host.port}/`, `http://127.0.0.2:${host.port}/`, `http://[::ffff:127.0.0.1]:${host.port}/`],
    ...[`https://localhost:${canary.port}/`, 'https://agent.localhost/', 'https://169.254.169.254/latest/meta-data/'],
  ]
  try {
    const door = doorAnswering(['127.0.0.1', '::1'], `127.0.0.1:${host.port}`)
    for (const target of targets) {
      for (const hops of [1, 2, 3]) {
        const start = `${host.origin}/${hops}/${Buffer.from(target).toString('base64url')}`
        const before = host.heads.length
        // A header carries Latin-1: a spelling beyond ASCII arrives as a strange name, and is judged by its addresses.
        const reason = /[^\0-\x7f]/.test(target)
          ? expect.stringMatching(/blocked|redirect_refused/)
          : 'redirect_refused'
        expect([target, await reasonOf(door.fetch(start, options))]).toEqual([target, reason])
        expect(host.heads.length - before).toBe(hops)
      }
    }
    const named = `${host.origin}/3/${Buffer.from(`https://agent.shop.xyz:${canary.port}/`).toString('base64url')}`
    expect(await reasonOf(door.fetch(named, options))).toBe('blocked')
    expect(canary.arrivals).toEqual([])
  } finally {
    await host.stop()
  }
})

test('no text of a URL leads to this machine', async () => {
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
      { numRuns: 1_000 },
    )
  })
})

test('EGRESS_ALLOW opens exactly what it names, and the canary is one that sings', async () => {
  const { port } = canary
  const host = await startHost((socket, head) => {
    const location = /^GET \/\?(\S+)/.exec(head)?.[1]
    socket.end(location ? `HTTP/1.1 302 Found\r\nlocation: ${location}\r\n\r\n` : 'HTTP/1.1 200 OK\r\n\r\n1')
  })
  const door = doorAnswering(['127.0.0.1'], `127.0.0.1:${host.port} agent.shop.xyz:${host.port}`)
  try {
    for (const name of ['127.0.0.1', '127.1', '2130706433', 'agent.shop.xyz', 'AGENT.shop.xyz']) {
      expect((await door.fetch(`http://${name}:${host.port}/`, options)).status).toBe(200)
    }
    const near = [
      ...[
        `http://127.0.0.1:${port}/`,
        `https://127.0.0.1:${port}/`,
        'http://127.0.0.1/',
        `http://127.0.0.2:${host.port}/`,
      ],
      ...[`http://[::1]:${host.port}/`, `http://[::ffff:127.0.0.1]:${host.port}/`, `http://localhost:${host.port}/`],
      ...[
        `http://other.shop.xyz:${host.port}/`,
        `http://agent.shop.xyz:${port}/`,
        `http://agent.shop.xyz.:${host.port}/`,
      ],
      ...[`http://a.agent.shop.xyz:${host.port}/`, `http://shop.xyz:${host.port}/`, 'http://agent.shop.xyz/'],
      ...[`http://user@127.0.0.1:${host.port}/`, `ftp://127.0.0.1:${host.port}/`, `https://agent.shop.xyz:${port}/`],
      ...['https://agent.shop.xyz/', `https://other.shop.xyz:${port}/`],
    ]
    for (const target of near)
      expect([target, await reasonOf(door.fetch(target, options))]).toEqual([target, 'blocked'])
    for (const target of near) {
      const reason = await reasonOf(door.fetch(`http://127.0.0.1:${host.port}/?${target}`, options))
      expect(['blocked', 'redirect_refused']).toContain(reason)
    }
    expect(canary.arrivals).toEqual([])
  } finally {
    await host.stop()
  }
  const open = doorAnswering(['127.0.0.1'], `127.0.0.1:${port} [::1]:${port} 127.0.0.2:${port} agent.shop.xyz:${port}`)
  for (const name of ['127.0.0.1', '[::1]', '127.0.0.2', 'agent.shop.xyz']) {
    expect((await open.fetch(`http://${name}:${port}/`, options)).status).toBe(200)
  }
  expect(canary.arrivals).toEqual(['::ffff:127.0.0.1', '::1', '::ffff:127.0.0.2', '::ffff:127.0.0.1'])
})
