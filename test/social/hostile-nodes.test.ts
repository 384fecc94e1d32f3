import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { callAt, createChainClient } from '../../social/chain-client.ts'

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

/** Calls a contract at a node that answers with this error. */
async function callFailing(error: { readonly code: number; readonly message: string }) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error })
  const node = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(`${head}\r\n${body}`))
  })
  await once(node.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void node.close())
  const client = createChainClient('base', `http://127.0.0.1:${(node.address() as AddressInfo).port}`)
  return callAt(client, 'latest', { to: '0x0000000000000000000000000000000000000abc', data: '0x' })
}

// Texts of go-ethereum, core/vm/errors.go, and Nethermind's code for what a contract does wrong.
test.each([
  [3, 'execution reverted'],
  [-32000, 'out of gas'],
  [-32000, 'gas uint64 overflow'],
  [-32000, 'return data out of bounds'],
  [-32000, 'stack limit reached 1024 (1023)'],
  [-32000, 'stack underflow (0 <=> 1)'],
  [-32000, 'invalid jump destination'],
  [-32000, 'invalid opcode: INVALID'],
  [-32000, 'write protection'],
  [-32000, 'max call depth exceeded'],
  [-32000, 'max code size exceeded'],
  [-32000, 'max initcode size exceeded: code size 65536, limit 49152'],
  [-32000, 'invalid code: must not begin with 0xef'],
  [-32000, 'invalid input length'],
  [-32015, 'VM execution error.'],
])('error %i "%s" is an answer of the contract', async (code, message) => {
  expect(await callFailing({ code, message })).toBeUndefined()
})

test.each([
  [-32000, 'header not found'],
  [-32000, 'missing trie node 1a2b (path ) state 0x1a2b is not available'],
  [-32000, 'execution aborted (timeout = 5s)'],
  [-32005, 'limit exceeded'],
  [-32603, 'internal error'],
  [-32000, 'something nobody has heard of'],
])('error %i "%s" is a failure of the node', async (code, message) => {
  await expect(callFailing({ code, message })).rejects.toThrow(message)
})
