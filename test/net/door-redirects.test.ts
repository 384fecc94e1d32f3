import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Canary, startCanary } from './canary.ts'
import { briefly, doorTo, failureOf, hostAnswering, ok, options, patiently, reasonFor } from './doors.ts'
import { carriers, spellings } from './forbidden.ts'

let canary: Canary
beforeAll(async () => {
  canary = await startCanary()
})
afterAll(() => canary.stop())

test('a POST is not turned into a GET, nor sent again where 301, 302 or 303 point', async () => {
  for (const status of [301, 302, 303]) {
    const { host, door, url } = await hostAnswering((socket, head) =>
      socket.end(head.includes('/mcp') ? ok('1') : `HTTP/1.1 ${status} There\r\nlocation: /mcp\r\n\r\n`),
    )
    const failure = await failureOf(door.fetch(url, { ...options, method: 'POST', body: '{}', redirects: 3 }))
    expect([failure.reason, host.heads.length]).toEqual(['redirect_refused', 1])
  }
})

test('the body of a redirect is not read', async () => {
  let first: Socket | undefined
  const { host, door } = await hostAnswering((socket, head) => {
    if (head.startsWith('GET /there')) return socket.end(ok('1'))
    first = socket
    socket.write('HTTP/1.1 302 There\r\nlocation: /there\r\n\r\nendless')
  })
  expect((await door.fetch(`${host.origin}/`, { ...options, redirects: 1 })).status).toBe(200)
  await expect.poll(() => first?.destroyed, patiently).toBe(true)
})

test('redirects are followed up to the number given, each request on its own', async () => {
  const { host, door } = await hostAnswering((socket, head) => {
    const left = Number(/^GET \/(\d+)/.exec(head)![1])
    socket.end(
      left === 0 ? ok('true') : `HTTP/1.1 302 Found\r\nlocation: ${left - 1}\r\ncontent-length: 9\r\n\r\nelsewhere`,
    )
  })
  const fetched = await door.fetch(`${host.origin}/3`, { ...options, redirects: 3 })
  expect([fetched.url, fetched.status]).toEqual([`${host.origin}/0`, 200])
  expect((await failureOf(door.fetch(`${host.origin}/4`, { ...options, redirects: 3 }))).reason).toBe(
    'redirect_refused',
  )
  expect((await failureOf(door.fetch(`${host.origin}/1`, options))).reason).toBe('redirect_refused')
  const only = {
    ...options,
    redirects: 3,
    mayRedirect: (from: URL, to: URL) => from.host === to.host && to.pathname !== '/1',
  }
  expect((await failureOf(door.fetch(`${host.origin}/3`, only))).reason).toBe('redirect_refused')
  expect(host.heads).toHaveLength(4 + 4 + 1 + 2)
})

test('a redirect in circles or to nowhere ends', async () => {
  const three = { ...options, redirects: 3 }
  expect(await reasonFor('HTTP/1.1 301 Here\r\nlocation: /card.json\r\n\r\n', three)).toBe('redirect_refused')
  expect(await reasonFor('HTTP/1.1 301 Nowhere\r\n\r\n', three)).toBe('redirect_refused')
  expect(await reasonFor('HTTP/1.1 301 Bad\r\nlocation: https://[\r\n\r\n', three)).toBe('redirect_refused')
  expect(await reasonFor(`HTTP/1.1 301 Long\r\nlocation: /${'a'.repeat(3_000)}\r\n\r\n`, three)).toBe(
    'redirect_refused',
  )
})

test('the duration covers all redirects together', async () => {
  const { host, door } = await hostAnswering((socket, head) => {
    const number = Number(/^GET \/(\d+)/.exec(head)![1])
    setTimeout(() => socket.end(`HTTP/1.1 302 On\r\nlocation: /${number + 1}\r\n\r\n`), 50)
  })
  const error = await failureOf(door.fetch(`${host.origin}/0`, { ...briefly, redirects: 1_000 }))
  expect(error.reason).toBe('timeout')
})

test('a redirect to a forbidden target is refused at every hop', async () => {
  const { host } = await hostAnswering((socket, head) => {
    const [, left, to] = /^GET \/(\d)\/(\S*)/.exec(head)!
    const location = left === '1' ? Buffer.from(to!, 'base64url') : `/${Number(left) - 1}/${to}`
    socket.end(`HTTP/1.1 ${[301, 302, 303, 307, 308][to!.length % 5]} Elsewhere\r\nlocation: ${location}\r\n\r\n`)
  })
  const door = doorTo([host.name], { lookup: async () => ['127.0.0.1', '::1'] })
  // The canary's port is allowed: only the address check keeps a redirect from reaching the canary.
  const three = { ...options, redirects: 3, ports: [canary.port] }
  const startOf = (hops: number, target: string) =>
    `${host.origin}/${hops}/${Buffer.from(target).toString('base64url')}`
  const canaries = [
    ...spellings('127.0.0.1'),
    ...carriers('127.0.0.1').map((address) => `[${address}]`),
    '[::1]',
    'localhost',
    'user@agent.shop.xyz',
    'agent.localhost',
  ].map((name) => `https://${name}:${canary.port}/`)
  const targets = [
    ...canaries,
    `http://127.0.0.1:${canary.port}/`,
    `//127.0.0.1:${canary.port}/`,
    `http://agent.shop.xyz:${canary.port}/`,
    'file:///etc/passwd',
    'https://169.254.169.254/latest/meta-data/',
    ...['localhost', '127.0.0.2', '[::ffff:127.0.0.1]'].map((name) => `http://${name}:${host.port}/`),
  ]
  for (const target of targets) {
    // A header carries Latin-1: a spelling beyond ASCII arrives as a strange name, and is judged by its addresses.
    const reason = /[^\0-\x7f]/.test(target) ? expect.stringMatching(/blocked|redirect_refused/) : 'redirect_refused'
    for (const hops of [1, 2, 3]) {
      const before = host.heads.length
      const failure = await failureOf(door.fetch(startOf(hops, target), three))
      expect([target, failure.reason]).toEqual([target, reason])
      expect(host.heads.length - before).toBe(hops)
    }
  }
  const named = `https://agent.shop.xyz:${canary.port}/`
  for (const hops of [1, 2, 3]) {
    expect((await failureOf(door.fetch(startOf(hops, named), three))).reason).toBe('blocked')
  }
  expect(canary.arrivals).toEqual([])
})
