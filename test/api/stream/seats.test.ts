import { expect, test } from 'vitest'
import { Seats } from '../../../api/stream/seats.ts'

test('all clients together have so many at once, and who is refused for it is told so', () => {
  const seats = new Seats({ ofClient: 2, ofProcess: 3, retrySeconds: 60, windowSeconds: 1_800, what: 'streams' })
  const leave = seats.take('198.51.100.1')
  for (const client of ['198.51.100.1', '198.51.100.2']) seats.take(client)
  const refusal = {
    code: 'ERR_RATE_LIMITED',
    detail: 'all together may have 3 streams at once',
    fields: { limits: { attempts: 3, windowSeconds: 1_800 }, retryAfterSeconds: 60 },
  }
  expect(() => seats.take('198.51.100.3')).toThrow(expect.objectContaining(refusal))
  leave()
  seats.take('198.51.100.3')
  expect(() => seats.take('198.51.100.2')).toThrow(expect.objectContaining(refusal))
})
