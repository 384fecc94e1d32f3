import { expect, test } from 'vitest'
import { checkWindow, parseTimestamp } from '../../api/claim/timestamp.ts'

const now = Date.parse('2026-11-20T04:00:00.000Z')

const isAccepted = (timestamp: string) => {
  try {
    checkWindow(timestamp, { windowSeconds: 900, now: () => now })
    return true
  } catch {
    return false
  }
}

test.for([
  [0, true],
  [899_000, true],
  [900_000, true],
  [900_001, false],
  [901_000, false],
] as const)('%i ms before and after the server’s time: %j', ([apart, accepted]) => {
  const signed = [now - apart, now + apart].map((time) => new Date(time).toISOString())
  expect(signed.map(isAccepted)).toEqual([accepted, accepted])
})

test.for([
  ['2026-11-20T04:00:00Z', 0],
  ['2026-11-20T04:00:00.123456789Z', 123],
  ['2026-11-20T05:30:00+01:30', 0],
  ['2026-11-19T20:00:00.5-08:00', 500],
  ['2024-02-29T00:00:00Z', Date.parse('2024-02-29T00:00:00Z') - now],
] as const)('%s is a time', ([text, later]) => {
  expect(parseTimestamp(text)).toBe(now + later)
})

test.for([
  '1763611200000',
  '1763611200',
  '2026-11-20T04:00:00',
  '2026-11-20',
  '2026-11-20 04:00:00Z',
  '2026-11-20t04:00:00z',
  '2026-02-29T04:00:00Z',
  '2026-02-30T04:00:00Z',
  '2026-13-01T04:00:00Z',
  '2026-00-01T04:00:00Z',
  '2026-11-20T24:00:00Z',
  '2026-11-20T04:60:00Z',
  '2026-11-20T04:00:60Z',
  '2026-11-20T04:00:00+25:00',
  '+012026-11-20T04:00:00Z',
  '12026-11-20T04:00:00Z',
  '-002026-11-20T04:00:00Z',
  '2026-W47-5T04:00:00Z',
  'Fri, 20 Nov 2026 04:00:00 GMT',
  ' 2026-11-20T04:00:00Z',
  '2026-11-20T04:00:00Z\n',
  '٢٠٢٦-11-20T04:00:00Z',
  '',
])('%j is no time', (text) => {
  expect(parseTimestamp(text)).toBeUndefined()
})

test.for(['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])('%s is too far away', (text) => {
  expect([parseTimestamp(text), isAccepted(text)]).toEqual([expect.any(Number), false])
})
