import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { DoorError } from '../../net/errors.ts'
import { createTurns, type EndTurn } from '../../net/politeness.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const politeness = { intervalMs: 1_000, maxWaiting: 3, maxWaitMs: 10_000 }
const unaborted = new AbortController().signal

/** Waits for a turn and keeps it until `end()`; `state`: `waiting`, `inside`, or the reason of its refusal. */
function visitor(turn: Promise<EndTurn>) {
  const visit = { state: 'waiting', end: () => {} }
  turn.then(
    (end) => {
      visit.state = 'inside'
      visit.end = end
    },
    (error: DoorError) => {
      visit.state = error.reason
    },
  )
  return visit
}
const states = (visits: { state: string }[]) => visits.map(({ state }) => state)

test('one request a second enters, in the order of arrival', async () => {
  const takeTurn = createTurns(politeness)
  const visits = Array.from({ length: 4 }, () => visitor(takeTurn('a', unaborted)))
  await vi.advanceTimersByTimeAsync(0)
  expect(states(visits)).toEqual(['inside', 'waiting', 'waiting', 'waiting'])
  visits[0]!.end()
  await vi.advanceTimersByTimeAsync(999)
  expect(states(visits)).toEqual(['inside', 'waiting', 'waiting', 'waiting'])
  await vi.advanceTimersByTimeAsync(1)
  expect(states(visits)).toEqual(['inside', 'inside', 'waiting', 'waiting'])
})

test('with two in flight a host, a slow answer holds one place only, and the others come in order', async () => {
  const takeTurn = createTurns({ ...politeness, intervalMs: 0, atOnce: 2 })
  const visits = Array.from({ length: 5 }, () => visitor(takeTurn('a', unaborted)))
  await vi.advanceTimersByTimeAsync(0)
  expect(states(visits)).toEqual(['inside', 'inside', 'waiting', 'waiting', 'waiting'])
  for (const [ended, inside] of [
    [1, 3],
    [2, 4],
    [3, 5],
  ] as const) {
    visits[ended]!.end()
    await vi.advanceTimersByTimeAsync(0)
    expect(states(visits).filter((state) => state === 'inside')).toHaveLength(inside)
  }
  for (const { end } of [visits[0]!, visits[4]!]) end()
  await vi.advanceTimersByTimeAsync(0)
  const again = Array.from({ length: 3 }, () => visitor(takeTurn('a', unaborted)))
  await vi.advanceTimersByTimeAsync(0)
  expect(states(again)).toEqual(['inside', 'inside', 'waiting'])
})

test('a slow answer holds the next request back for as long as it takes', async () => {
  const takeTurn = createTurns(politeness)
  const visits = [visitor(takeTurn('a', unaborted)), visitor(takeTurn('a', unaborted))]
  await vi.advanceTimersByTimeAsync(5_000)
  expect(states(visits)).toEqual(['inside', 'waiting'])
  visits[0]!.end()
  await vi.advanceTimersByTimeAsync(0)
  expect(states(visits)).toEqual(['inside', 'inside'])
})

test('hosts do not wait for each other', async () => {
  const takeTurn = createTurns(politeness)
  const visits = ['a', 'b', 'c'].map((host) => visitor(takeTurn(host, unaborted)))
  await vi.advanceTimersByTimeAsync(0)
  expect(states(visits)).toEqual(['inside', 'inside', 'inside'])
})

test('a request that finds the line full, or waits too long, is refused', async () => {
  const takeTurn = createTurns(politeness)
  const visits = Array.from({ length: 5 }, () => visitor(takeTurn('a', unaborted)))
  await vi.advanceTimersByTimeAsync(9_999)
  expect(states(visits)).toEqual(['inside', 'waiting', 'waiting', 'waiting', 'busy'])
  await vi.advanceTimersByTimeAsync(1)
  expect(states(visits)).toEqual(['inside', 'busy', 'busy', 'busy', 'busy'])
  visits[0]!.end()
  const later = visitor(takeTurn('a', unaborted))
  await vi.advanceTimersByTimeAsync(0)
  expect(later.state).toBe('inside')
})

test('a request that gives up leaves its place to the next', async () => {
  const takeTurn = createTurns(politeness)
  const givingUp = new AbortController()
  const visits = [unaborted, givingUp.signal, unaborted].map((signal) => visitor(takeTurn('a', signal)))
  givingUp.abort({ reason: 'gave up' })
  visits.push(visitor(takeTurn('a', givingUp.signal)))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(states(visits)).toEqual(['inside', 'gave up', 'waiting', 'gave up'])
  visits[0]!.end()
  await vi.advanceTimersByTimeAsync(0)
  expect(states(visits)).toEqual(['inside', 'gave up', 'inside', 'gave up'])
})

test('a host nobody asks any more is forgotten', async () => {
  const takeTurn = createTurns(politeness)
  for (let host = 0; host < 10_000; host++) (await takeTurn(`host ${host}`, unaborted))()
  await expect(takeTurn('one more', unaborted)).rejects.toMatchObject({ reason: 'busy' })
  await vi.advanceTimersByTimeAsync(1_000)
  const visit = visitor(takeTurn('one more', unaborted))
  await vi.advanceTimersByTimeAsync(0)
  expect(visit.state).toBe('inside')
})
