import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createDoor } from '../../net/door.ts'
import { doorTo, failureOf, hostAnswering, ok, options, patiently, userAgent } from './doors.ts'

test('a request names us, asks for plain bytes and carries nothing else', async () => {
  const { host, door, url } = await hostAnswering((socket) =>
    socket.end(ok('{"name":"Ada"}', 'ETag: "v1"', 'X-A: 1', 'x-a: 2')),
  )
  const fetched = await door.fetchJson(`${url}?q=ä#part`, options)
  expect(fetched).toMatchObject({ status: 200, json: { name: 'Ada' }, url: `${url}?q=%C3%A4#part` })
  expect(fetched.headers.get('etag')).toBe('"v1"')
  expect(fetched.headers.get('x-a')).toBe('1, 2')
  expect(host.heads).toEqual([
    [
      'GET /card.json?q=%C3%A4 HTTP/1.1',
      `host: 127.0.0.1:${host.port}`,
      'connection: close',
      'accept: application/json',
      `user-agent: ${userAgent}`,
      'accept-encoding: identity',
      '',
      '',
    ].join('\r\n'),
  ])
})

test('a caller cannot set headers that carry credentials or change the message', async () => {
  const { host, door, url } = await hostAnswering((socket) => socket.end(ok('1')))
  for (const name of ['authorization', 'cookie', 'host', 'user-agent', 'accept-encoding', 'content-length', 'Accept']) {
    await expect(door.fetch(url, { ...options, headers: { [name]: 'x' } })).rejects.toThrow(TypeError)
  }
  for (const value of ['"v1"\r\ncookie: a', '"v1"\0', '"ä中"']) {
    await expect(door.fetch(url, { ...options, headers: { 'if-none-match': value } })).rejects.toThrow(TypeError)
  }
  expect(host.heads).toEqual([])
})

test('a user agent without a contact is refused', () => {
  for (const userAgent of ['', 'agents/1.0', 'agents/1.0 (+mailto:a@b.c)', 'a\r\nb (+https://shop.xyz)']) {
    expect(() => createDoor({ userAgent, egressAllow: new Set() })).toThrow(TypeError)
  }
})

test('a conditional request brings 304 and no body', async () => {
  const { door, url } = await hostAnswering((socket, head) =>
    socket.end(
      head.includes('if-none-match: "v1"') ? 'HTTP/1.1 304 Same\r\netag: "v1"\r\n\r\n' : ok('1', 'etag: "v1"'),
    ),
  )
  const first = await door.fetch(url, options)
  const second = await door.fetch(url, { ...options, headers: { 'if-none-match': first.headers.get('etag')! } })
  expect([first.status, String(first.body)]).toEqual([200, '1'])
  expect([second.status, second.body.length]).toEqual([304, 0])
})

test('a POST sends its body, and keeps it over a 307', async () => {
  const bodies: string[] = []
  const { door, url, host } = await hostAnswering((socket, head) => {
    let body = head.split('\r\n\r\n')[1]!
    const answerWhenWhole = (chunk: Buffer | string) => {
      body += chunk
      if (body.length < '{"id":1}'.length) return
      bodies.push(body)
      socket.end(head.startsWith('POST /card.json') ? 'HTTP/1.1 307 There\r\nlocation: /mcp/\r\n\r\n' : ok('{"id":1}'))
    }
    socket.on('data', answerWhenWhole)
    answerWhenWhole('')
  })
  const headers = { 'content-type': 'application/json' }
  const post = { ...options, method: 'POST', body: '{"id":1}', redirects: 1, headers } as const
  expect((await door.fetchJson(url, post)).json).toEqual({ id: 1 })
  expect(bodies).toEqual(['{"id":1}', '{"id":1}'])
  expect(host.heads[1]).toMatch(/^POST \/mcp\/ HTTP/)
})

test('the time taken is the hosts’, not ours', async () => {
  const { host } = await hostAnswering((socket, head) =>
    socket.end(head.startsWith('GET /0') ? 'HTTP/1.1 302 On\r\nlocation: /1\r\n\r\n' : ok('1')),
  )
  let clock = 0
  const door = doorTo([host.name], { now: () => (clock += 7) })
  expect((await door.fetch(`${host.origin}/1`, options)).elapsedMs).toBe(7)
  expect((await door.fetch(`${host.origin}/0`, { ...options, redirects: 1 })).elapsedMs).toBe(14)
})

test('a host is asked one request at a time, different hosts at once', async () => {
  let inside = 0
  let most = 0
  const { host: one } = await hostAnswering((socket) => {
    most = Math.max(most, ++inside)
    setTimeout(() => {
      inside--
      socket.end(ok('1'))
    }, 5)
  })
  // Both requests are answered only once both have arrived.
  const waiting: Socket[] = []
  const meet = (socket: Socket) => {
    waiting.push(socket)
    if (waiting.length === 2) for (const each of waiting) each.end(ok('1'))
  }
  const { host: left } = await hostAnswering(meet)
  const { host: right } = await hostAnswering(meet)
  const door = doorTo([one.name, left.name, right.name])
  const answers = await Promise.all(Array.from({ length: 20 }, () => door.fetch(one.origin, options)))
  expect([answers.length, most]).toEqual([20, 1])
  const met = await Promise.all([door.fetch(left.origin, options), door.fetch(right.origin, options)])
  expect(met.map(({ status }) => status)).toEqual([200, 200])
})

test('closing ends what is under way and refuses what comes', async () => {
  const { host, door, url } = await hostAnswering(() => {})
  const underWay = failureOf(door.fetch(url, options))
  const inLine = failureOf(door.fetch(url, options))
  await expect.poll(() => host.heads.length, patiently).toBe(1)
  door.close()
  expect((await underWay).reason).toBe('closed')
  expect((await inLine).reason).toBe('closed')
  expect((await failureOf(door.fetch(url, options))).reason).toBe('closed')
  await expect.poll(host.open, patiently).toBe(0)
  expect((await underWay).checkStatus).toBeNull()
})

test('nobody listening is a connect error', async () => {
  const { host, door } = await hostAnswering(() => {})
  await host.stop()
  expect((await failureOf(door.fetch(host.origin, options))).reason).toBe('connect_error')
})
