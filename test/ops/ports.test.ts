import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { describeMove, freePort } from '../../ops/ports.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
})

test('a free port is one to listen on, below those the kernel hands out', async () => {
  const port = await freePort()
  expect(port).toBeGreaterThanOrEqual(20_000)
  expect(port).toBeLessThan(32_768)
  await listen(port)
})

test('the preferred port is taken when it is free, and another when it is not', async () => {
  const preferred = await freePort()
  expect(await freePort('127.0.0.1', preferred)).toBe(preferred)
  await listen(preferred)
  expect(await freePort('127.0.0.1', preferred)).not.toBe(preferred)
})

test('a person is told of a port that was not the usual one, and of no other', () => {
  expect(describeMove('the API', 3000, 3000)).toEqual([])
  expect(describeMove('the API', 3000, 23_456)).toEqual(['3000, so the API is on 23456'])
})

async function listen(port: number) {
  const server = createServer().listen(port, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
}
