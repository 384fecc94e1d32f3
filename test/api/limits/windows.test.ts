import { expect, test } from 'vitest'
import { createMemoryCounter } from '../../../api/claim/attempts.ts'
import { MemoryStore } from '../../../api/limits/memory-store.ts'
import { Windows } from '../../../api/limits/windows.ts'

test('attempts that were counted stay counted, however many addresses come', async () => {
  const clock = { now: 0 }
  const counter = createMemoryCounter(() => clock.now)
  for (let n = 1; n <= 10; n++) expect((await counter.count('ip:192.0.2.1')).attempts).toBe(n)
  for (let n = 0; n < 250_000; n++) await counter.count(`ip:2001:db8:0:${n.toString(16)}::`)
  expect((await counter.count('ip:192.0.2.1')).attempts).toBe(11)
  clock.now += 3_600_000
  expect((await counter.count('ip:192.0.2.1')).attempts).toBe(1)
})

test('requests of the day that were counted stay counted, however many addresses come', () => {
  const limits = { perMinute: 100, perDay: 100 }
  const store = new MemoryStore(limits, () => Date.parse('2026-11-20T12:00:00Z'))
  for (let n = 0; n < 99; n++) store.increment('192.0.2.1')
  for (let n = 0; n < 600_000; n++) store.increment(`2001:db8:0:${n.toString(16)}::`)
  expect(store.increment('192.0.2.1')).toMatchObject({ totalHits: 100, resetTime: { dayHits: 100 } })
})

test('a minute that begins before midnight ends behind it, and the day begins again', () => {
  const clock = { now: Date.parse('2026-11-20T23:59:40Z') }
  const store = new MemoryStore({ perMinute: 60, perDay: 100 }, () => clock.now)
  for (let n = 0; n < 60; n++) store.increment('192.0.2.1')
  clock.now += 21_000
  const { totalHits, resetTime } = store.increment('192.0.2.1')
  expect([totalHits, resetTime?.toISOString()]).toEqual([61, '2026-11-21T00:00:40.000Z'])
  clock.now += 39_000
  expect(store.increment('192.0.2.1')).toMatchObject({ totalHits: 1, resetTime: { dayHits: 1 } })
})

test('a window that has ended makes room first, then the one with the fewest hits, hit longest ago', () => {
  const windows = new Windows<{ hits: number; endsAt: number }>(3)
  windows.keep('ended', { hits: 900, endsAt: 10 }, 0)
  windows.keep('once', { hits: 1, endsAt: 100 }, 0)
  windows.keep('often', { hits: 9, endsAt: 100 }, 0)
  const left = (now: number) => ['ended', 'once', 'often', 'new', 'newer'].filter((key) => windows.find(key, now))
  expect(left(9)).toEqual(['ended', 'once', 'often'])
  windows.keep('new', { hits: 1, endsAt: 100 }, 10)
  expect(left(10)).toEqual(['once', 'often', 'new'])
  windows.keep('newer', { hits: 1, endsAt: 100 }, 10)
  expect(left(10)).toEqual(['often', 'new', 'newer'])
  windows.drop('often')
  expect(left(10)).toEqual(['new', 'newer'])
})
