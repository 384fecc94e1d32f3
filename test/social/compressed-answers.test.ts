import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { createChainClient } from '../../social/chain-client.ts'

test('a node that closes the connection before its compressed answer is unpacked ends no process', {
  timeout: 60_000,
}, async () => {
  const padding = randomBytes(400_000).toString('hex')
  const body = gzipSync(JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x2105', padding }))
  const head =
    'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Type: application/json\r\n\r\n'
  const node = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from(head), body])))
  })
  await once(node.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void node.close())
  const chain = createChainClient('base', `http://127.0.0.1:${(node.address() as AddressInfo).port}`)
  for (let asked = 0; asked < 20; asked++) expect(await chain.client().getChainId()).toBe(8453)
})
