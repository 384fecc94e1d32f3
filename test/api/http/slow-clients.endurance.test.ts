import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorBody } from '../../../api/schemas/error.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { seedAgent } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  await seedAgent(database.pool, { fid: 1 })
  api = await startApi(database)
})
afterAll(() => api.stop())

/** Opens a connection, sends the beginning of a request, and resolves with all that came back once it was closed. */
function begin(text: string): { socket: Socket; closed: Promise<string> } {
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname, () => socket.write(text))
  const closed = new Promise<string>((resolve) => {
    let answer = ''
    socket.setEncoding('latin1').on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })
  return { socket, closed }
}

test('clients that never finish their headers are cut with the error body, while others are served', async () => {
  const slow = Array.from({ length: 300 }, () => begin('GET /api/agent/1 HTTP/1.1\r\nHost: a\r\nX-Slow: '))
  const drip = setInterval(() => {
    for (const { socket } of slow) if (socket.writable) socket.write('x')
  }, 500)
  for (let n = 0; n < 20; n++) expect((await api.get('/api/agent/1')).status).toBe(200)
  const answers = await Promise.all(slow.map(({ closed }) => closed))
  clearInterval(drip)
  for (const answer of answers) {
    const [headers, body] = answer.split('\r\n\r\n')
    expect(headers).toMatch(/^HTTP\/1\.1 400 /)
    expect(errorBody.parse(JSON.parse(body ?? ''))).toMatchObject({ error: 'ERR_PAYLOAD_INVALID' })
  }
})

test('a connection over which nothing was asked is closed without an answer', async () => {
  // Browsers open some in advance, and would take an answer for that to their next request.
  expect(await begin('').closed).toBe('')
})

test('a client that never finishes its body is cut', async () => {
  const { closed } = begin('POST /api/agent/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nonly this')
  const answer = await closed
  expect(answer).toMatch(/^HTTP\/1\.1 404 /)
  expect((await api.get('/api/agent/1')).status).toBe(200)
})
