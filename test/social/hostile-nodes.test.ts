import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { createChainClient } from '../../social/chain-client.ts'

const head = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n'
const answerOf = (padding: string) => Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x2105', padding }))

/** Asks a node that answers each request with `answer` for its chain's id. */
async function ask(answer: (socket: Socket) => void): Promise<number> {
  const node = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  await once(node.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void node.close())
  return createChainClient('base', `http://127.0.0.1:${(node.address() as AddressInfo).port}`)
    .client()
    .getChainId()
}

test('a node may close the connection behind its answer', async () => {
  const body = answerOf(randomBytes(400_000).toString('hex'))
  expect(await ask((socket) => socket.end(Buffer.concat([Buffer.from(`${head}\r\n`), body])))).toBe(8453)
})

// To unpack it, as Node's fetch does, can end the process: nodejs/undici#5360.
test('a compressed answer, which nobody asked for, is a failed call and is not unpacked', async () => {
  const packed = gzipSync(answerOf(randomBytes(400_000).toString('hex')))
  const compressed = Buffer.concat([Buffer.from(`${head}Content-Encoding: gzip\r\n\r\n`), packed])
  await expect(ask((socket) => socket.end(compressed))).rejects.toThrow()
})

test('a node that falls silent within its answer, or never ends it, is a failed call', async () => {
  await expect(ask((socket) => socket.write(`${head}\r\n{`))).rejects.toThrow(/took too long/)
  const endless = (socket: Socket) => {
    const more = () => socket.writable && socket.write(Buffer.alloc(65_536, ' '), () => more())
    socket.write(`${head}\r\n`, more)
  }
  await expect(ask(endless)).rejects.toThrow(/more than \d+ bytes|took too long/)
})
