import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Response } from 'express'
import { expect, test } from 'vitest'
import { Follower, type Log } from '../../../api/stream/follower.ts'
import { Reader } from '../../../api/stream/reader.ts'
import { until } from '../../support/until.ts'

const line = (seq: number, bytes: number) => ({ seq, kind: 'upsert', fid: seq, text: 'x'.repeat(bytes) })

/** A log of `asked.size` lines, and a record of the calls; its head fails while `asked.fails` is set. */
function toyLog(size: number, bytes: number) {
  const asked = { size, head: 0, after: [] as number[], fails: false, epoch: 'ffffffff-0000' }
  const log: Log = {
    async head() {
      asked.head++
      if (asked.fails) throw new Error('no database')
      return { epoch: asked.epoch, head: asked.size }
    },
    async after(seq) {
      asked.after.push(seq)
      return { lines: [line(seq + 1, bytes)], reached: seq + 1 }
    },
  }
  return { log, asked }
}

/**
 * Starts a server that streams the log to every client from its beginning. `course`: whether the time of the streams
 * is over, and whether the server is stopping.
 */
async function serve(
  log: Log,
  limits: { unsentBytes: number; drainSeconds: number },
  course = { isOver: false, isStopping: false },
) {
  const failures: unknown[] = []
  const errors: unknown[] = []
  const endsAt = Date.now() + 24 * 60 * 60 * 1_000
  const follower = new Follower({
    log,
    now: () => (course.isOver ? endsAt : Date.now()),
    isStopping: () => course.isStopping,
    onFailure: (cause) => failures.push(cause),
  })
  const open = new Set<ServerResponse>()
  const server = createServer((_req, res) => {
    open.add(res)
    res.once('close', () => open.delete(res)).on('error', (error) => errors.push(error))
    res.writeHead(200).flushHeaders()
    const reader = new Reader(res as unknown as Response, endsAt, limits)
    follower.add({ reader, wants: () => true, epoch: 'ffffffff-0000', seq: 0, heardAt: Date.now(), busy: false })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}`, port, open, failures, errors, stop }
}

/** Asks for a stream and reads nothing of it. */
function askOnly(port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  return socket.pause()
}

test('a client that does not read is cut off, and was never sent much more than it may leave', async () => {
  const mebibyte = 1024 * 1024
  const { log, asked } = toyLog(200, mebibyte)
  const { port, open, stop } = await serve(log, { unsentBytes: 64 * 1024, drainSeconds: 0.3 })
  const socket = askOnly(port)
  await until('the stream is open', () => open.size === 1 && asked.after.length > 0)
  const [res] = open
  let most = 0
  await until('it is cut off', () => {
    most = Math.max(most, res?.writableLength ?? 0)
    return open.size === 0
  })
  expect(most).toBeLessThan(3 * mebibyte)
  expect(asked.after.length).toBeLessThan(200)
  socket.destroy()
  await stop()
})

const endings: Record<string, (course: { isOver: boolean; isStopping: boolean }, asked: { epoch: string }) => void> = {
  'its time is over': (course) => {
    course.isOver = true
  },
  'the process stops': (course) => {
    course.isStopping = true
  },
  'another log answers': (_course, asked) => {
    asked.epoch = 'eeeeeeee-0000'
  },
}
test.for(Object.entries(endings))('a client that does not read is let go when %s', async ([, begin]) => {
  const mebibyte = 1024 * 1024
  const lines = 48 // more than the buffers of a connection hold
  const { log, asked } = toyLog(lines, mebibyte)
  const course = { isOver: false, isStopping: false }
  const limits = { unsentBytes: 2 * lines * mebibyte, drainSeconds: 1.5 } // longer than from one look to the next
  const { port, open, errors, stop } = await serve(log, limits, course)
  const socket = askOnly(port)
  await until('all lines are written', () => asked.after.length === lines)
  const [res] = open
  asked.size += lines
  begin(course, asked)
  await until('the stream has ended', () => res?.writableEnded === true)
  const looks = asked.head
  const read = asked.after.length
  await until('it is closed', () => open.size === 0 || errors.length > 0)
  expect(errors).toEqual([])
  expect(asked.head).toBeGreaterThan(looks)
  expect(asked.after.length).toBe(read)
  socket.destroy()
  await stop()
})

test('a client that reads slowly gets everything, in order', async () => {
  const { log, asked } = toyLog(40, 200_000)
  const { url, stop } = await serve(log, { unsentBytes: 64 * 1024, drainSeconds: 60 })
  const body = (await fetch(url)).body as ReadableStream<Uint8Array>
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    await new Promise((resolve) => setImmediate(resolve))
    if (text.includes('id: ffffffff-40\n') && text.endsWith('\n\n')) break
  }
  expect([...text.matchAll(/^id: ffffffff-(\d+)$/gm)].map(([, seq]) => Number(seq))).toEqual(
    Array.from({ length: 40 }, (_, n) => n + 1),
  )
  expect(asked.after).toEqual(Array.from({ length: 40 }, (_, n) => n))
  await stop()
})

test('a failing log is asked again, its failure told once, and nothing is asked when nobody listens', async () => {
  const { log, asked } = toyLog(1, 10)
  asked.fails = true
  const { url, failures, open, stop } = await serve(log, { unsentBytes: 64 * 1024, drainSeconds: 60 })
  const answer = await fetch(url)
  await until('it was asked again', () => asked.head >= 2)
  expect(failures.length).toBe(1)
  asked.fails = false
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('id: ffffffff-1\nevent: upsert\n')
  await reader.cancel()
  await until('the client is gone', () => open.size === 0)
  const before = asked.head
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect(asked.head).toBeLessThanOrEqual(before + 1) // a query may have been in flight
  await stop()
})

test('a stream ends with a reset when another log answers: after a failover numbers are given out again', async () => {
  const { log, asked } = toyLog(2, 10)
  const { url, stop } = await serve(log, { unsentBytes: 64 * 1024, drainSeconds: 60 })
  const read = (await fetch(url)).text()
  await until('it has both lines', () => asked.after.length === 2)
  asked.epoch = 'eeeeeeee-0000'
  expect((await read).split('\n\n').at(-2)).toBe(
    'id: eeeeeeee-2\nevent: reset\ndata: {"epoch":"eeeeeeee-0000","head":2}',
  )
  await stop()
})
