import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { briefly, hostAnswering, ok, options, reasonFor } from './doors.ts'

test('any status is an answer, with its body when that can be had', async () => {
  const answers: [string | Buffer, number, string, unknown][] = [
    ['HTTP/1.1 404 Not Found\r\n\r\n<html>', 404, '<html>', undefined],
    ['HTTP/1.1 402 Pay\r\n\r\n{"accepts":[]}', 402, '{"accepts":[]}', { accepts: [] }],
    [`HTTP/1.1 500 Oh\r\n\r\n${'x'.repeat(100_000)}`, 500, '', undefined],
    ['HTTP/1.1 503 No\r\ncontent-length: 99999999\r\n\r\n', 503, '', undefined],
    [
      Buffer.concat([Buffer.from('HTTP/1.1 404 No\r\ncontent-encoding: gzip\r\n\r\n'), gzipSync('{}')]),
      404,
      '',
      undefined,
    ],
    ['HTTP/1.1 300 Many\r\nlocation: /a\r\n\r\n[1]', 300, '[1]', [1]],
    ['HTTP/1.0 200 OK\r\n\r\n{"old":true}', 200, '{"old":true}', { old: true }],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n0\r\n\r\n', 200, '[]', []],
    ['HTTP/1.1 103 Soon\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}surplus', 200, '{}', {}],
    ['HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\ncontent-type: text/html\r\n\r\n1', 200, '1', 1],
    ['HTTP/1.1 200 OK\r\nconstructor: a\r\n__proto__: b\r\ntoString: c\r\n\r\n1', 200, '1', 1],
  ]
  for (const [answer, status, body, json] of answers) {
    const { door, url } = await hostAnswering((socket) => socket.end(answer))
    const fetched = await door.fetchJson(url, options)
    expect([fetched.status, String(fetched.body), fetched.json]).toEqual([status, body, json])
  }
})

test('a body above the cap is broken off, announced or not', async () => {
  const cap = { ...options, maxBytes: 10 }
  expect(await reasonFor(ok('1234567890 '), cap)).toBe('too_large')
  expect(await reasonFor('HTTP/1.1 200 OK\r\ncontent-length: 50000000\r\n\r\n', cap)).toBe('too_large')
  expect(await reasonFor(`HTTP/1.1 200 OK\r\n\r\n${' '.repeat(11)}`, cap)).toBe('too_large')
  const { door, url } = await hostAnswering((socket) => socket.end(ok('1234567890')))
  expect((await door.fetch(url, cap)).body).toHaveLength(10)
})

test('fifty megabytes and endless bodies are left after the cap', async () => {
  const block = Buffer.alloc(1 << 16, 'a')
  for (const total of [50_000_000, Number.POSITIVE_INFINITY]) {
    let sent = 0
    const pour = (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const more = () => {
        while (!socket.destroyed && sent < total) {
          sent += block.length
          if (!socket.write(block)) return void socket.once('drain', more)
        }
        socket.end()
      }
      more()
    }
    expect(await reasonFor(pour, options)).toBe('too_large')
    expect(sent).toBeLessThan(20_000_000) // what the sockets of both ends hold
  }
})

test('a compressed body is refused unread, whatever it would inflate to', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  for (const encoding of ['gzip', 'GZIP', 'br', 'deflate', 'zstd', 'identity, gzip', 'x-gzip']) {
    expect(await reasonFor(ok(bomb, `content-encoding: ${encoding}`), options)).toBe('encoded')
  }
  expect(await reasonFor(ok(bomb), options)).toBe('not_json')
})

test('a drip does not outlast the whole duration, in the head or in the body', async () => {
  const drip = (start: string, drop: string) => (socket: Socket) => {
    socket.write(start)
    const timer = setInterval(() => socket.write(drop), 20)
    socket.on('close', () => clearInterval(timer))
  }
  expect(await reasonFor(drip('HTTP/1.1 200 OK\r\n\r\n', ' '), briefly)).toBe('timeout')
  expect(await reasonFor(drip('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n', ' '), briefly)).toBe('timeout')
  expect(await reasonFor(drip('HTTP/1.1 200 OK\r\n', 'x-more: 1\r\n'), briefly)).toBe('timeout')
  expect(await reasonFor(drip('H', ''), briefly)).toBe('timeout')
  expect(await reasonFor(drip('', 'HTTP/1.1 103 Soon\r\n\r\n'), briefly)).toBe('timeout')
  expect(await reasonFor(drip('HTTP/1.1 404 Gone\r\n\r\n', ' '), briefly)).toBe('timeout')
})

test('what is not HTTP, or stops before its end, is a broken answer', async () => {
  const answers: (string | ((socket: Socket) => void))[] = [
    '',
    'SSH-2.0-OpenSSH_9.6\r\n',
    '220 mail ESMTP\r\n',
    '<html></html>',
    '\0\0\0',
    'HTTP/1.1\r\n\r\n',
    'HTTP/2 200\r\n\r\n',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"cut":',
    'HTTP/1.1 20x OK\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n1',
    'HTTP/1.1 200 OK\r\ncontent-length: 1e3\r\n\r\n1',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n12',
    'HTTP/1.1 200 OK\r\nno colon\r\n\r\n1',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n12',
    'HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n1',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n',
    (socket) => socket.resetAndDestroy(),
    (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n1', () => socket.resetAndDestroy()),
  ]
  for (const answer of answers) {
    expect([String(answer), await reasonFor(answer, options)]).toEqual([String(answer), 'broken_answer'])
  }
})

test('a head above its cap is too large', async () => {
  expect(await reasonFor(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, options)).toBe('too_large')
  expect(await reasonFor(`HTTP/1.1 200 OK\r\n${'x: a\r\n'.repeat(10_000)}\r\n`, options)).toBe('too_large')
})

test('HTML with 200 and a cut document are not JSON', async () => {
  const bodies = ['<!doctype html><title>App</title>', '', '{"name":"A', '{"a":1}{', '{"n":1e999}', '['.repeat(50_000)]
  for (const body of bodies) {
    expect([body, await reasonFor(ok(body, 'content-type: application/json'), options)]).toEqual([body, 'not_json'])
  }
})
