import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Canary, startCanary } from './canary.ts'
import { doorTo, failureOf, hostAnswering, options } from './doors.ts'

let canary: Canary
beforeAll(async () => {
  canary = await startCanary()
})
afterAll(() => canary.stop())

const lookup = async () => ['127.0.0.1']

test('EGRESS_ALLOW opens the host and port it names and nothing near them', async () => {
  const { host } = await hostAnswering((socket, head) => {
    const location = /^GET \/\?(\S+)/.exec(head)?.[1]
    socket.end(location ? `HTTP/1.1 302 Found\r\nlocation: ${location}\r\n\r\n` : 'HTTP/1.1 200 OK\r\n\r\n1')
  })
  const door = doorTo([host.name, `agent.shop.xyz:${host.port}`], { lookup })
  for (const name of ['127.0.0.1', '127.1', '2130706433', 'agent.shop.xyz', 'AGENT.shop.xyz']) {
    expect((await door.fetch(`http://${name}:${host.port}/`, options)).status).toBe(200)
  }

  const otherHosts = [
    '127.0.0.2',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    'other.shop.xyz',
    'agent.shop.xyz.',
    'shop.xyz',
    'a.agent.shop.xyz',
    'user@127.0.0.1',
    '0.0.0.0',
  ].map((name) => `http://${name}:${host.port}/`)
  const otherPorts = ['http://127.0.0.1', 'https://127.0.0.1', 'http://agent.shop.xyz', 'https://agent.shop.xyz']
  const near = [
    ...otherHosts,
    ...otherPorts,
    ...otherPorts.map((origin) => `${origin}:${canary.port}/`),
    `ftp://127.0.0.1:${host.port}/`,
    `https://other.shop.xyz:${canary.port}/`,
  ]
  const redirected = { ...options, redirects: 1, ports: [canary.port] }
  for (const target of near) {
    expect([target, (await failureOf(door.fetch(target, redirected))).reason]).toEqual([target, 'blocked'])
    const { reason } = await failureOf(door.fetch(`${host.origin}/?${target}`, redirected))
    expect(['blocked', 'redirect_refused']).toContain(reason)
  }
  expect(canary.arrivals).toEqual([])
})

test('a canary that is allowed sings, so that its silence elsewhere means something', async () => {
  const hasIPv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'))
  const names = ['127.0.0.1', '127.0.0.2', 'agent.shop.xyz', ...(hasIPv6 ? ['[::1]'] : [])]
  const before = canary.sockets()
  const door = doorTo(
    names.map((name) => `${name}:${canary.port}`),
    { lookup },
  )
  for (const name of names) expect((await door.fetch(`http://${name}:${canary.port}/`, options)).status).toBe(200)
  expect(canary.arrivals).toEqual(['127.0.0.1', '127.0.0.2', '127.0.0.1', ...(hasIPv6 ? ['::1'] : [])])
  expect(canary.sockets() - before).toBe(names.length)
})
