import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { type Health, portOf, serveHealth } from '../../ops/health.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
})

test('a process that can work is alive, ready and tells its metrics', async () => {
  const at = await serve({ notReady: () => undefined, metrics: () => 'blocks_total 7\n' })
  expect(await get(`${at}/healthz`)).toEqual({ status: 200, type: 'text/plain; charset=utf-8', body: 'ok\n' })
  expect(await get(`${at}/readyz`)).toMatchObject({ status: 200, body: 'ready\n' })
  expect(await get(`${at}/metrics`)).toEqual({
    status: 200,
    type: 'text/plain; version=0.0.4',
    body: 'blocks_total 7\n',
  })
})

test('a process that lacks something is alive, and not ready with the reason', async () => {
  const at = await serve({ notReady: async () => 'the database does not answer', metrics: () => '' })
  expect(await get(`${at}/healthz`)).toMatchObject({ status: 200 })
  expect(await get(`${at}/readyz`)).toMatchObject({ status: 503, body: 'the database does not answer\n' })
})

test('a check that breaks is an answer, and the process lives on', async () => {
  const at = await serve({ notReady: () => Promise.reject(new Error('broken')), metrics: () => '' })
  expect(await get(`${at}/readyz`)).toMatchObject({ status: 500, body: 'broken\n' })
  expect(await get(`${at}/healthz`)).toMatchObject({ status: 200 })
})

test('queries and HEAD are answered, other paths say what is there', async () => {
  const at = await serve({ notReady: () => undefined, metrics: () => '' })
  expect(await get(`${at}/healthz?probe=1`)).toMatchObject({ status: 200 })
  expect(await get(`${at}/healthz`, 'HEAD')).toMatchObject({ status: 200, body: '' })
  expect(await get(`${at}/`)).toMatchObject({ status: 404, body: 'here are /healthz, /readyz and /metrics\n' })
})

test('a port that is taken is an error, not a silence', async () => {
  const at = await serve({ notReady: () => undefined, metrics: () => '' })
  const port = Number(new URL(at).port)
  await expect(serveHealth('127.0.0.1', port, { notReady: () => undefined, metrics: () => '' })).rejects.toThrow(
    /EADDRINUSE/,
  )
})

test('what is no HTTP is cut off and harms nobody', async () => {
  const at = await serve({ notReady: () => undefined, metrics: () => '' })
  const socket = connect(Number(new URL(at).port), '127.0.0.1')
  socket.end('nonsense\r\n\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /)
  if (!socket.closed) await once(socket, 'close')
  expect(await get(`${at}/healthz`)).toMatchObject({ status: 200 })
})

async function serve(health: Health): Promise<string> {
  const server = await serveHealth('127.0.0.1', 0, health)
  servers.push(server)
  return `http://127.0.0.1:${portOf(server)}`
}

async function get(url: string, method = 'GET') {
  const response = await fetch(url, { method, headers: { connection: 'close' } })
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() }
}
